// What a test bench is made of: recorded words of a stream, and a bench that compares them with what comes out.
// Never part of a synthesised design.
#ifndef HLSGEN_CORE_TESTBENCH_HPP
#define HLSGEN_CORE_TESTBENCH_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "memory.hpp"

namespace hlsgen {

// to_hex writes every digit of a word, the highest first.
template <int N> std::string to_hex(const ap_uint<N>& word) {
    std::string text((N + 3) / 4, '0');
    for (int lo = 0; lo < N; lo += 64) {
        const int hi = lo + 63 < N ? lo + 63 : N - 1;
        const ap_uint<64> limb = word.range(hi, lo);
        unsigned long long bits = limb.to_uint64();
        for (int digit = lo / 4; digit <= hi / 4; digit++, bits >>= 4)
            text[text.size() - 1 - digit] = "0123456789abcdef"[bits & 15];
    }
    return text;
}

// from_hex reads what to_hex writes; digits that are not there are zero.
template <int N> ap_uint<N> from_hex(const std::string& text) {
    ap_uint<N> word = 0;
    for (int lo = 0; lo < N; lo += 64) {
        const int hi = lo + 63 < N ? lo + 63 : N - 1, end = int(text.size()) - lo / 4;
        if (end <= 0) break;
        const int begin = end > 16 ? end - 16 : 0;
        const ap_uint<64> limb = std::stoull(text.substr(begin, end - begin), nullptr, 16);
        word.range(hi, lo) = limb;
    }
    return word;
}

// recording is what passes over one stream, frame after frame: one word of `width` bits per line, in hex. Frame f is `words` from
// first[f] up to first[f + 1].
struct recording {
    std::string stream;
    std::vector<int> first;
    std::vector<std::string> words;

    int size(int frame) const { return first[frame + 1] - first[frame]; }
    const std::string& word(int frame, int i) const { return words[first[frame] + i]; }
};

// test_bench runs checks, each on the same frames, and counts those that fail.
//     csim [DATA [OUTPUT]]    DATA is the folder of the recordings; the network's words are written to OUTPUT
class test_bench {
public:
    test_bench(int argc, char** argv) {
        // Vitis copies the folder "data" into the simulation's own folder.
        if (argc > 1) folder = argv[1];
        else if (std::ifstream("data/frames.txt").good()) folder = "data";
        if (argc > 2) output.open(argv[2]);
        std::ifstream file(folder + "/frames.txt");
        if (!(file >> count) || count < 0) stop("cannot read " + folder + "/frames.txt");
        for (int n; file >> n;) lengths.push_back(n);
        std::ifstream table(folder + "/calls.txt");
        for (std::string line; std::getline(table, line);) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            std::vector<long>& row = calls[name];
            for (long n; words >> n;) row.push_back(n);
            if (int(row.size()) != count) stop("calls.txt: " + name + " has not one number for every frame");
        }
        if (calls.empty()) stop("cannot read " + folder + "/calls.txt");
        if (argc > 2 && !output) stop(std::string("cannot write ") + argv[2]);
    }


    // load reads a recording and sees that it holds every frame; load_steps does so where a frame is a sequence.
    recording load(const std::string& stream, int width, int per_frame) {
        recording r{stream, {0}, {}};
        for (int frame = 0; frame < count; frame++) r.first.push_back(r.first.back() + per_frame);
        return read(r, width);
    }

    recording load_steps(const std::string& stream, int width, int per_step) {
        recording r{stream, {0}, {}};
        if (int(lengths.size()) != count) stop("lengths of " + std::to_string(lengths.size()) + " frames of " + std::to_string(count));
        for (int n : lengths) r.first.push_back(r.first.back() + n * per_step);
        return read(r, width);
    }

    // begin starts the check of one layer, or of the whole network. calls.txt has how often it is called for each frame.
    void begin(const std::string& who) {
        checked = who;
        difference.clear();
        at = -1;
        if (calls.count(who) == 0) stop("calls.txt has no line for " + who);
        calls_of_frame = calls[who];
        std::printf("run  %s\n", who.c_str());
        std::fflush(stdout);
    }

    // next_frame goes on to the next frame; behind the last one comes the first, once more, as if everything had begun anew. It
    // reports whether there is one.
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

    // frame is the number of the frame that is sent.
    int frame() const { return at % count; }

    // next_call counts the calls for a frame: as many as there are iterations, and twice that where every other one comes before
    // its words.
    bool next_call() { return made++ < calls_of_frame[frame()] * (at == count ? 2 : 1); }

    // next_call_until_done counts those of the network, of which so many suffice whatever happens in one: until every word of the
    // frame was sent and taken, or, of the last frame, to the end, when nothing is left anywhere.
    bool next_call_until_done() {
        const bool done = made > 0 && !missing && at != count;
        missing = false;
        return !done && next_call();
    }

    // send writes words of the frame, zero-extended to the stream's width: all of them before the first call; of the frame that
    // comes once more, every other time, one where there is none.
    template <int N> void send(const recording& from, hls::stream<ap_uint<N> >& to) {
        for (int& i = given[from.stream]; due(i, from.size(frame()), to.empty()); i++) to.write(from_hex<N>(from.word(frame(), i)));
    }

    // send_packet does so with TLAST on the last word.
    template <int N> void send_packet(const recording& from, hls::stream<ap_axiu<N, 0, 0, 0> >& to) {
        for (int& i = given[from.stream]; due(i, from.size(frame()), to.empty()); i++) {
            ap_axiu<N, 0, 0, 0> word;
            word.data = from_hex<N>(from.word(frame(), i));
            word.keep = -1;
            word.strb = -1;
            word.last = i + 1 == from.size(frame()) ? 1 : 0;
            to.write(word);
        }
    }

    // send_ends tells after every step of the frame whether it is the last one.
    void send_ends(hls::stream<ap_uint<1> >& to) {
        for (int& i = given["ends"]; due(i, lengths[frame()], to.empty()); i++) to.write(i + 1 == lengths[frame()] ? 1 : 0);
    }

    // sent looks whether words of the frame are still to be read.
    template <class WORD> void sent(hls::stream<WORD>& in) {
        if (!in.empty()) missing = true;
    }

    // take compares what the network has written of the frame: TLAST is set on the last word and on no other.
    template <int TDATA> void take(const std::string& port, const recording& want, hls::stream<ap_axiu<TDATA, 0, 0, 0> >& out) {
        int& i = taken[port];
        for (; !out.empty(); i++) {
            const ap_axiu<TDATA, 0, 0, 0> word = out.read();
            if (i >= want.size(frame())) {
                differ(want, i, "a word too many");
                continue;
            }
            const std::string data = to_hex<TDATA>(word.data);
            compare(want, i, data);
            if (output.is_open() && at != count) output << port << ' ' << data << '\n';
            if ((word.last == 1) != (i == want.size(frame()) - 1)) differ(want, i, word.last == 1 ? "TLAST set" : "TLAST not set");
            if (word.keep != ap_uint<TDATA / 8>(-1)) differ(want, i, "TKEEP leaves bytes out");
        }
        if (i < want.size(frame())) missing = true;
    }

    // expect_all sees that every word of the frame was taken.
    void expect_all(const std::string& port, const recording& want) {
        if (taken[port] < want.size(frame())) differ(want, taken[port], "no word");
    }

    // expect compares the frame that a layer wrote.
    template <int N> void expect(const recording& want, hls::stream<ap_uint<N> >& out) {
        for (int i = 0; i < want.size(frame()); i++) {
            if (out.empty()) return differ(want, i, "no word");
            compare(want, i, to_hex<N>(out.read()));
        }
        for (int i = want.size(frame()); !out.empty(); i++) {
            out.read();
            differ(want, i, "a word too many");
        }
    }

    // expect_read sees that the frame was read to its end.
    template <class WORD> void expect_read(const recording& from, hls::stream<WORD>& in) {
        int left = 0;
        for (; !in.empty(); left++) in.read();
        if (left > 0) differ(from, from.size(frame()) - left, "words left unread");
    }

    // end prints the verdict of a check.
    void end() {
        checks++;
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
        if (output.is_open()) {
            output.close();
            if (!output) stop("cannot write the output");
        }
        if (failed == 0) std::printf("PASS %d checks on %d frames\n", checks, count);
        else std::printf("FAIL %d of %d checks on %d frames\n", failed, checks, count);
        return failed == 0 ? 0 : 1;
    }

private:
    std::string folder = "tb/data", checked, difference;
    std::ofstream output;
    int count = 0, checks = 0, failed = 0;
    std::vector<int> lengths; // steps of every frame, where frames are sequences
    std::map<std::string, std::vector<long> > calls; // of every check, by frame

    int at = -1;                      // the frame, of which count is the first once more
    long made = 0;                    // calls for it
    bool missing = false;             // words of it
    std::vector<long> calls_of_frame; // of the check
    std::map<std::string, int> given; // words of it, by stream
    std::map<std::string, int> taken; // the same, by port

    // read fills a recording, and sees that the file holds as many words as its frames have.
    recording read(recording r, int width) {
        const std::string path = folder + "/" + r.stream + ".dat";
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            if (int(line.size()) != (width + 3) / 4 || line.find_first_not_of("0123456789abcdef") != std::string::npos)
                stop(path + ": line " + std::to_string(r.words.size() + 1) + " is not a word of " + std::to_string(width) + " bits");
            r.words.push_back(line);
        }
        if (r.words.size() != size_t(r.first.back()))
            stop(path + ": " + std::to_string(r.words.size()) + " words for " + std::to_string(count) + " frames of " +
                 std::to_string(r.first.back()) + " together");
        return r;
    }

    // due reports whether word i of so many is to be sent before this call.
    bool due(int i, int words, bool empty) const { return i < words && (at != count || (made % 2 == 0 && empty)); }

    void compare(const recording& want, int i, const std::string& got) {
        const std::string& word = want.word(frame(), i);
        if (got != std::string(got.size() - word.size(), '0') + word) differ(want, i, "got 0x" + got + ", want 0x" + word);
    }

    // differ keeps the first difference of a check.
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
