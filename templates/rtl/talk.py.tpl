#!/usr/bin/env python3
"""Sends frames to the network on a board and prints its results, a word per line in hexadecimal, with a dot behind the last
word of a frame. Frames come from a file of the same form. It needs pyserial.

    python3 uart/talk.py /dev/ttyUSB1 bench/data/{{ v.Recorded|req }} {{ v.Baud|req }}
"""
import sys

WORDS_IN, BYTES_IN = {{ v.InWords|req }}, {{ v.InBytes|req }}  # words of a frame, bytes of a word
WORDS_OUT, BYTES_OUT, DIGITS_OUT = {{ v.OutWords|req }}, {{ v.OutBytes|req }}, {{ v.Digits|req }}
BEGIN, SECONDS = 0xA5, {{ v.Seconds|req }}  # a message begins with this byte; a result is lost after so many seconds


def check(data, crc=0xFF):
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) & 0xFF ^ (0x07 if crc & 0x80 else 0)
    return crc


def reset(link):
    """A break resets the network; what was still on its way is dropped."""
    link.send_break(0.01)
    while link.read(4096):
        pass


def run(link, frame, tries=5):
    """The words of a frame's result. After a loss the network is reset and gets the frame again."""
    data = b"".join(word.to_bytes(BYTES_IN, "little") for word in frame)
    for _ in range(tries):
        link.write(bytes([BEGIN]) + data + bytes([check(data)]))
        message = link.read(2 + WORDS_OUT * BYTES_OUT)
        words = message[1:-1]
        if len(message) == 2 + WORDS_OUT * BYTES_OUT and message[0] == BEGIN and message[-1] == check(words):
            return [int.from_bytes(words[i:i + BYTES_OUT], "little") for i in range(0, len(words), BYTES_OUT)]
        reset(link)
    raise TimeoutError(f"no result after {tries} tries")


if __name__ == "__main__":
    import serial
    words = [int(line.rstrip(".\n"), 16) for line in open(sys.argv[2])]
    with serial.Serial(sys.argv[1], int(sys.argv[3]), timeout=SECONDS, inter_byte_timeout=None) as board:
        reset(board)
        for at in range(0, len(words), WORDS_IN):
            print("\n".join(f"{word:0{DIGITS_OUT}x}" for word in run(board, words[at:at + WORDS_IN])) + ".")
