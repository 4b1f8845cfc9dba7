#!/usr/bin/env python3
"""Has talk.py talk to the UART top in Verilator: the recorded frames, one after the other, then with bytes lost, changed and
added on the line, and with resets in the middle of messages.

    python3 uart/simulate.py PROGRAM BAUD DIVIDE INPUTS OUTPUTS     from make uart
"""
import subprocess
import sys

import talk


# No operating system is at an end of this line: what is lost is known sooner.
SOON = talk.SECONDS - 0.07


class Simulated:
    """A serial port, as pyserial has it, with a program at its other end. Some bytes get lost on the way, by their numbers."""

    def __init__(self, program, baud, divide):
        self.process = subprocess.Popen([program, divide], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.baud = baud
        self.said, self.heard = 0, 0
        self.lost_said, self.lost_heard, self.changed = set(), set(), set()
        self.breaks = 0

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("FAIL the simulation has ended")
        return bytes.fromhex(answer)

    def write(self, data):
        sent = bytes(b ^ 0x10 if self.said + i in self.changed else b for i, b in enumerate(data)
                     if self.said + i not in self.lost_said)
        self.said += len(data)
        if sent:
            self.ask("w " + sent.hex())

    def read(self, n, seconds=SOON):
        data = self.ask(f"r {n} {int(seconds * self.baud)}")
        kept = bytes(b for i, b in enumerate(data) if self.heard + i not in self.lost_heard)
        self.heard += len(data)
        return kept

    def send_break(self, seconds):
        self.breaks += 1
        self.ask(f"b {max(20, int(seconds * self.baud))}")


def words(path, each):
    """The frames of a recording, with so many words."""
    list = [int(line.rstrip(".\n"), 16) for line in open(path)]
    return [list[i:i + each] for i in range(0, len(list), each)]


def main():
    program, baud, divide, inputs, outputs = sys.argv[1:]
    link = Simulated(program, int(baud), divide)
    cases = list(zip(words(inputs, talk.WORDS_IN), words(outputs, talk.WORDS_OUT)))
    sent, answer = 2 + talk.WORDS_IN * talk.BYTES_IN, 2 + talk.WORDS_OUT * talk.BYTES_OUT
    done = 0

    def holds(what, breaks, tries=5):
        """The next frame's result is the recorded one, with so many resets on the way."""
        nonlocal done
        frame, want = cases[done % len(cases)]
        before = link.breaks
        got = talk.run(link, frame, tries)
        if got != want or link.breaks - before != breaks:
            raise SystemExit(f"FAIL {what}: {got} after {link.breaks - before} resets, want {want} after {breaks}")
        done += 1

    for _ in cases:
        holds("frames one after the other", 0)
    for at in (0, 1, sent // 2, sent - 2, sent - 1):
        link.lost_said = {link.said + at}
        holds(f"byte {at} of a frame is lost", 1)
        link.changed = {link.said + at}
        holds(f"byte {at} of a frame is another one", 1)
    link.lost_said = {link.said + 3, link.said + 5, link.said + sent + 2}
    holds("bytes of two tries are lost", 2)
    for at in (0, 1, answer - 2, answer - 1):
        link.lost_heard = {link.heard + at}
        holds(f"byte {at} of a result is lost", 1)
    message = bytes([talk.BEGIN]) + bytes(sent - 2)
    for n in (1, sent // 2, sent - 1):
        link.write(message[:n])
        talk.reset(link)
        holds(f"a reset after {n} bytes of a frame", 0, tries=1)
        link.write(message[:n])
        link.read(1)
        holds(f"nothing comes after {n} bytes of a frame", 0, tries=1)
        link.write(message[:n])
        link.ask("p")
        holds(f"the button after {n} bytes of a frame", 0, tries=1)
    body = b"".join(word.to_bytes(talk.BYTES_IN, "little") for word in cases[0][0])
    for n in (0, 1, answer // 2):
        link.write(bytes([talk.BEGIN]) + body + bytes([talk.check(body)]))
        link.read(n)
        talk.reset(link)
        holds(f"a reset after {n} bytes of a result", 0, tries=1)
    link.write(b"\x00\xff\x5a")
    holds("bytes that begin no frame", 0, tries=1)
    print(f"PASS {done} frames over the UART, {link.breaks} resets")


if __name__ == "__main__":
    main()
