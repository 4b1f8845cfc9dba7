// The parts of a test bench: recordings of the words of a stream, and a bench that compares them with the words that
// the processes write. This file is never part of a synthesised design.
//
// A network has streams of many widths, and every template is compiled for each of them. To keep compile times short,
// the templates only convert words to limbs of 64 bits and back.
#ifndef HLSGEN_CORE_TESTBENCH_HPP
#define HLSGEN_CORE_TESTBENCH_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "memory.hpp"

namespace hlsgen {

typedef unsigned long long test_limb;

// test_word returns a word from n limbs, the lowest limb first. Missing limbs are zero.
template <int N> ap_uint<N> test_word(const test_limb* limbs, int n) {
    ap_uint<N> word = 0;
    for (int i = 0; i < n && 64 * i < N; i++) word.range(64 * i + 63 < N ? 64 * i + 63 : N - 1, 64 * i) = ap_uint<64>(limbs[i]);
    return word;
}

// test_limbs stores the limbs of a word, the lowest first.
template <int N> void test_limbs(const ap_uint<N>& word, test_limb* limbs) {
    for (int i = 0; 64 * i < N; i++) {
        const ap_uint<64> limb = word.range(64 * i + 63 < N ? 64 * i + 63 : N - 1, 64 * i);
        limbs[i] = limb.to_uint64();
    }
}

// test_hex returns a word of `width` bits in hexadecimal, with leading zeros.
inline std::string test_hex(const test_limb* limbs, int width) {
    std::string text;
    for (int digit = (width + 3) / 4 - 1; digit >= 0; digit--) text += "0123456789abcdef"[limbs[digit / 16] >> (digit % 16 * 4) & 15];
    return text;
}

// recording has the words that pass over one stream. A word has `width` bits. Frame f has the words from first[f] up
// to, but without, first[f + 1]. The file of a recording has one word per line, in hexadecimal.
struct recording {
    std::string stream;
    int width;
    std::vector<int> first;
    std::vector<test_limb> limbs;

    int per_word() const { return (width + 63) / 64; }
    int size(int frame) const { return first[frame + 1] - first[frame]; }
    const test_limb* word(int frame, int i) const { return &limbs[size_t(first[frame] + i) * per_word()]; }
};

// test_text reads a file, line by line.
class test_text {
public:
    explicit test_text(const std::string& path) : at(0), file(std::fopen(path.c_str(), "rb")) {
        if (file == nullptr) return;
        char block[4096];
        for (size_t n; (n = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, n);
        std::fclose(file);
    }
    bool there() const { return file != nullptr; }

    // next reads the next line without its line end. It reports whether there is a line.
    bool next(std::string& line) {
        if (at >= text.size()) return false;
        size_t end = text.find('\n', at);
        if (end == std::string::npos) end = text.size();
        line.assign(text, at, end - at);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        at = end + 1;
        return true;
    }

private:
    std::string text;
    size_t at;
    std::FILE* file;
};

// test_numbers reads decimal numbers from a text, up to the first word that is not a number.
inline std::vector<long> test_numbers(const char* text) {
    std::vector<long> numbers;
    for (char* end;; text = end) {
        const long n = std::strtol(text, &end, 10);
        if (end == text) return numbers;
        numbers.push_back(n);
    }
}

// test_bench runs checks, all with the same frames, and counts the checks that fail.
//     csim [DATA [OUTPUT]]    DATA is the folder of the recordings; the network's output words are written to OUTPUT
class test_bench {
public:
    test_bench(int argc, char** argv) {
        // Vitis copies the folder "data" into the folder of the simulation.
        if (argc > 1) folder = argv[1];
        else if (test_text("data/frames.txt").there()) folder = "data";
        if (argc > 2) {
            output = std::fopen(argv[2], "w");
            if (output == nullptr) stop(std::string("cannot write ") + argv[2]);
        }
        std::string line, numbers;
        for (test_text file(folder + "/frames.txt"); file.next(line);) numbers += line + ' ';
        lengths = test_numbers(numbers.c_str());
        if (lengths.empty() || lengths[0] < 0) stop("cannot read " + folder + "/frames.txt");
        count = int(lengths[0]);
        lengths.erase(lengths.begin());
        for (test_text file(folder + "/calls.txt"); file.next(line);) {
            const size_t space = line.find(' ');
            calls.push_back(row{line.substr(0, space), test_numbers(space == std::string::npos ? "" : line.c_str() + space)});
            if (int(calls.back().frames.size()) != count) stop("calls.txt: " + calls.back().name + " has not one number for every frame");
        }
        if (calls.empty()) stop("cannot read " + folder + "/calls.txt");
    }

    // load reads a recording and checks that it has every frame; load_steps does so if frames are sequences. The
    // recording exists until the check ends.
    const recording& load(const char* stream, int width, int per_frame) {
        recording& r = begun(stream, width);
        for (int frame = 0; frame < count; frame++) r.first.push_back(r.first.back() + per_frame);
        return read(r);
    }

    const recording& load_steps(const char* stream, int width, int per_step) {
        recording& r = begun(stream, width);
        if (int(lengths.size()) != count) stop("lengths of " + std::to_string(lengths.size()) + " frames of " + std::to_string(count));
        for (long n : lengths) r.first.push_back(r.first.back() + int(n) * per_step);
        return read(r);
    }

    // begin starts the check of one layer, or of the whole network. The number of calls for each frame comes from
    // calls.txt.
    void begin(const char* who) {
        checked = who;
        difference.clear();
        at = -1;
        calls_of_frame = nullptr;
        for (const row& r : calls)
            if (r.name == checked) calls_of_frame = &r.frames;
        if (calls_of_frame == nullptr) stop("calls.txt has no line for " + checked);
        std::printf("run  %s\n", who);
        std::fflush(stdout);
    }

    // next_frame advances to the next frame, and reports whether there is one. After the last frame, the first frame
    // is run once more, after a restart of all layers.
    bool next_frame() {
        if (count == 0 || at == count) return false;
        at++;
        made = 0;
        given.clear();
        taken.clear();
#ifndef __SYNTHESIS__
        if (at == 0 || at == count) restarts()++;
#endif
        return true;
    }

    // frame returns the number of the current frame.
    int frame() const { return at % count; }

    // next_call reports whether a layer is to be called again for the frame. There are as many calls as iterations.
    // When the first frame is repeated, there are twice as many, because every other call comes before its words.
    bool next_call() { return made++ < (*calls_of_frame)[frame()] * (at == count ? 2 : 1); }

    // next_call_until_done does so for the network. Calls continue until every word of the frame was sent and taken;
    // calls.txt has a number of calls that always suffices. When the first frame is repeated, all these calls are
    // made.
    bool next_call_until_done() {
        const bool done = made > 0 && !missing && at != count;
        missing = false;
        return !done && next_call();
    }

    // send writes words of the frame to a stream, zero-extended to its width. Before the first call, it writes all of
    // them. When the first frame is repeated, it writes a word before every other call, if the stream is empty.
    template <int N> void send(const recording& from, hls::stream<ap_uint<N> >& to) {
        int& i = words_of(given, from.stream);
        for (; due(i, from.size(frame()), to.empty()); i++) to.write(test_word<N>(from.word(frame(), i), from.per_word()));
    }

    // send_packet does the same, with TLAST on the last word.
    template <int N> void send_packet(const recording& from, hls::stream<ap_axiu<N, 0, 0, 0> >& to) {
        int& i = words_of(given, from.stream);
        for (; due(i, from.size(frame()), to.empty()); i++) {
            ap_axiu<N, 0, 0, 0> word;
            word.data = test_word<N>(from.word(frame(), i), from.per_word());
            word.keep = -1;
            word.strb = -1;
            word.last = i + 1 == from.size(frame()) ? 1 : 0;
            to.write(word);
        }
    }

    // send_ends writes for every step of the frame whether it is the last.
    void send_ends(hls::stream<ap_uint<1> >& to) {
        const int steps = int(lengths[frame()]);
        int& i = words_of(given, "ends");
        for (; due(i, steps, to.empty()); i++) to.write(i + 1 == steps ? 1 : 0);
    }

    // sent checks whether words of the frame are still to be read.
    template <class WORD> void sent(hls::stream<WORD>& in) {
        if (!in.empty()) missing = true;
    }

    // take compares the words of the frame that the network has written. TLAST must be set on the last word only.
    template <int TDATA> void take(const char* port, const recording& want, hls::stream<ap_axiu<TDATA, 0, 0, 0> >& out) {
        test_limb got[(TDATA + 63) / 64];
        while (!out.empty()) {
            const ap_axiu<TDATA, 0, 0, 0> word = out.read();
            test_limbs(word.data, got);
            came(port, want, got, TDATA, word.last == 1, word.keep == ap_uint<TDATA / 8>(-1));
        }
        if (words_of(taken, port) < want.size(frame())) missing = true;
    }

    // expect_all checks that every word of the frame was taken.
    void expect_all(const char* port, const recording& want) { complete(want, words_of(taken, port)); }

    // expect compares the frame that a layer has written.
    template <int N> void expect(const recording& want, hls::stream<ap_uint<N> >& out) {
        test_limb got[(N + 63) / 64];
        int i = 0;
        for (; !out.empty(); i++) {
            test_limbs(out.read(), got);
            compare(want, i, got, N);
        }
        complete(want, i);
    }

    // expect_read checks that the layer has read the whole frame.
    template <class WORD> void expect_read(const recording& from, hls::stream<WORD>& in) {
        int left = 0;
        for (; !in.empty(); left++) in.read();
        if (left > 0) differ(from, from.size(frame()) - left, "words left unread");
    }

    // end prints the verdict of a check.
    void end() {
        checks++;
        recordings.clear();
        if (difference.empty()) {
            std::printf("ok   %s\n", checked.c_str());
        } else {
            failed++;
            std::printf("FAIL %s: %s\n", checked.c_str(), difference.c_str());
        }
        std::fflush(stdout);
    }

    // finish prints the verdict of the whole run and returns the exit code.
    int finish() {
        if (output != nullptr) {
            const bool written = std::ferror(output) == 0;
            if (std::fclose(output) != 0 || !written) stop("cannot write the output");
        }
        if (failed == 0) std::printf("PASS %d checks on %d frames\n", checks, count);
        else std::printf("FAIL %d of %d checks on %d frames\n", failed, checks, count);
        return failed == 0 ? 0 : 1;
    }

private:
    // row is a line of calls.txt. progress counts the words that have passed through a stream or port.
    struct row {
        std::string name;
        std::vector<long> frames;
    };
    struct progress {
        std::string where;
        int words;
    };

    std::string folder = "tb/data", checked, difference;
    std::FILE* output = nullptr;
    int count = 0, checks = 0, failed = 0;
    std::vector<long> lengths;       // steps of every frame, if frames are sequences
    std::vector<row> calls;          // calls of every check
    std::list<recording> recordings; // recordings of the current check

    int at = -1;                                       // the current frame; count is the first frame repeated
    long made = 0;                                     // calls for the frame
    bool missing = false;                              // words of the frame are not yet read or written
    const std::vector<long>* calls_of_frame = nullptr; // calls of the current check
    std::list<progress> given;                         // words sent of the frame, by stream
    std::list<progress> taken;                         // words taken of the frame, by port

    // words_of returns the counter of the words that have passed through a stream or port.
    static int& words_of(std::list<progress>& list, const std::string& where) {
        for (progress& p : list)
            if (p.where == where) return p.words;
        list.push_back(progress{where, 0});
        return list.back().words;
    }

    recording& begun(const char* stream, int width) {
        recordings.push_back(recording{stream, width, {0}, {}});
        return recordings.back();
    }

    // read reads the file of a recording, and checks that it has all words of the frames, and no more.
    const recording& read(recording& r) {
        const std::string path = folder + "/" + r.stream + ".dat";
        std::string line;
        int words = 0;
        for (test_text file(path); file.next(line); words++) {
            if (int(line.size()) != (r.width + 3) / 4 || line.find_first_not_of("0123456789abcdef") != std::string::npos)
                stop(path + ": line " + std::to_string(words + 1) + " is not a word of " + std::to_string(r.width) + " bits");
            r.limbs.resize(r.limbs.size() + r.per_word());
            test_limb* const word = &r.limbs[r.limbs.size() - r.per_word()];
            for (int digit = 0; digit < int(line.size()); digit++) {
                const char c = line[line.size() - 1 - digit];
                word[digit / 16] |= test_limb(c <= '9' ? c - '0' : c - 'a' + 10) << (digit % 16 * 4);
            }
        }
        if (words != r.first.back())
            stop(path + ": " + std::to_string(words) + " words for " + std::to_string(count) + " frames of " +
                 std::to_string(r.first.back()) + " together");
        return r;
    }

    // due reports whether word i of the `words` words of a frame is to be sent before this call.
    bool due(int i, int words, bool empty) const { return i < words && (at != count || (made % 2 == 0 && empty)); }

    // came compares a word that the network has written.
    void came(const char* port, const recording& want, const test_limb* got, int width, bool last, bool whole) {
        int& i = words_of(taken, port);
        compare(want, i, got, width);
        if (i < want.size(frame())) {
            if (output != nullptr && at != count) std::fprintf(output, "%s %s\n", port, test_hex(got, width).c_str());
            if (last != (i == want.size(frame()) - 1)) differ(want, i, last ? "TLAST set" : "TLAST not set");
            if (!whole) differ(want, i, "TKEEP leaves bytes out");
        }
        i++;
    }

    // compare compares word i of the frame with a word of `width` bits.
    void compare(const recording& want, int i, const test_limb* got, int width) {
        if (i >= want.size(frame())) return differ(want, i, "a word too many");
        const test_limb* const word = want.word(frame(), i);
        for (int k = 0; 64 * k < width; k++)
            if (got[k] != (k < want.per_word() ? word[k] : 0))
                return differ(want, i, "got 0x" + test_hex(got, width) + ", want 0x" + test_hex(word, want.width));
    }

    // complete checks that all words of the frame came.
    void complete(const recording& want, int words) {
        if (words < want.size(frame())) differ(want, words, "no word");
    }

    // differ records a difference. Only the first of a check is kept.
    void differ(const recording& r, int i, const std::string& what) {
        if (difference.empty())
            difference = "stream " + r.stream + ", frame " + std::to_string(frame()) + (at == count ? " once more" : "") + ", word " +
                         std::to_string(i) + ": " + what;
    }

    [[noreturn]] static void stop(const std::string& why) {
        std::printf("FAIL %s\n", why.c_str());
        std::fflush(stdout);
        std::exit(1);
    }
};

} // namespace hlsgen

#endif
