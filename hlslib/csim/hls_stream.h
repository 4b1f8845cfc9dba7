// hls::stream for C simulation without vendor tools. A stream holds any number of words, as in AMD's C simulation.
// Reading an empty stream, or leaving words in one, ends the program and names the stream: it never blocks.
#ifndef HLSGEN_CSIM_HLS_STREAM_H
#define HLSGEN_CSIM_HLS_STREAM_H

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

namespace hls {

template <class T, int DEPTH = 0> class stream {
public:
    stream() : name("(unnamed)") {}
    explicit stream(const std::string& n) : name(n) {}
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() {
        if (!words.empty()) fail("ends with unread words, count", words.size());
    }

    void write(const T& v) { words.push_back(v); }
    void operator<<(const T& v) { write(v); }
    T read() {
        if (words.empty()) fail("is empty and is read, words so far", count);
        T v = words.front();
        words.pop_front();
        count++;
        return v;
    }
    void read(T& v) { v = read(); }
    void operator>>(T& v) { v = read(); }
    bool read_nb(T& v) {
        if (words.empty()) return false;
        v = read();
        return true;
    }
    bool write_nb(const T& v) {
        write(v);
        return true;
    }
    bool empty() const { return words.empty(); }
    bool full() const { return false; }
    unsigned size() const { return static_cast<unsigned>(words.size()); }

private:
    std::string name;
    std::deque<T> words;
    unsigned long count = 0;

    [[noreturn]] void fail(const char* what, unsigned long n) const {
        std::fflush(stdout);
        std::fprintf(stderr, "hls::stream %s %s: %lu\n", name.c_str(), what, n);
        std::abort();
    }
};

} // namespace hls

#endif
