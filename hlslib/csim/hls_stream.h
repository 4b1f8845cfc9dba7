// hls::stream for C simulation without vendor tools. A stream holds any number of words, as in AMD's C simulation.
// Reading an empty stream, or leaving words in one, ends the program and names the stream: it never blocks.
#ifndef HLSGEN_CSIM_HLS_STREAM_H
#define HLSGEN_CSIM_HLS_STREAM_H

#include <cstdio>
#include <cstdlib>

namespace hls {

// stream_base is the common base of streams with all types of words: the administration of a ring of places.
class stream_base {
public:
    stream_base(const stream_base&) = delete;
    stream_base& operator=(const stream_base&) = delete;
    bool empty() const { return held == 0; }
    bool full() const { return false; }
    unsigned size() const { return static_cast<unsigned>(held); }

protected:
    const char* const name; // must exist as long as the stream
    unsigned long places = 0, first = 0, held = 0, count = 0; // places is a power of two, or 0

    explicit stream_base(const char* n) : name(n) {}
    [[noreturn]] void fail(const char* what, unsigned long n) const {
        std::fflush(stdout);
        std::fprintf(stderr, "hls::stream %s %s: %lu\n", name, what, n);
        std::abort();
    }
};

template <class T, int DEPTH = 0> class stream : public stream_base {
public:
    stream() : stream_base("(unnamed)") {}
    explicit stream(const char* n) : stream_base(n) {}
    ~stream() {
        if (held > 0) fail("ends with unread words, count", held);
        delete[] words;
    }

    void write(const T& v) {
        if (held == places) grow();
        words[(first + held++) & (places - 1)] = v;
    }
    void operator<<(const T& v) { write(v); }
    T read() {
        if (held == 0) fail("is empty and is read, words so far", count);
        const T v = words[first];
        first = (first + 1) & (places - 1);
        held--;
        count++;
        return v;
    }
    void read(T& v) { v = read(); }
    void operator>>(T& v) { v = read(); }
    bool read_nb(T& v) {
        if (held == 0) return false;
        v = read();
        return true;
    }
    bool write_nb(const T& v) {
        write(v);
        return true;
    }

private:
    T* words = nullptr; // a std::deque of every type of word takes a compiler long

    void grow() {
        const unsigned long more = places > 0 ? 2 * places : 16;
        T* const longer = new T[more];
        for (unsigned long i = 0; i < held; i++) longer[i] = words[(first + i) & (places - 1)];
        delete[] words;
        words = longer;
        places = more;
        first = 0;
    }
};

} // namespace hls

#endif
