// A process as a module: in every clock in which nothing waits to be written, the C++ function is called once, on the words that
// are there.
#ifndef RTLTEST_PROCESS_HPP
#define RTLTEST_PROCESS_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>
#include <svdpi.h>

template <int N> ap_uint<N> word_of(const svBitVecVal* bits) {
    ap_uint<N> word = 0;
    for (int lo = 0; lo < N; lo += 32) word.range(lo + 31 < N ? lo + 31 : N - 1, lo) = bits[lo / 32];
    return word;
}

template <int N> void bits_of(const ap_uint<N>& word, svBitVecVal* bits) {
    for (int lo = 0; lo < N; lo += 32)
        bits[lo / 32] = svBitVecVal(ap_uint<32>(word.range(lo + 31 < N ? lo + 31 : N - 1, lo)).to_uint64());
}

// A word that the function may read is in the stream until it does.
template <class T> struct reader {
    hls::stream<T> words;
    bool shown = false;

    void show(const T& word, bool valid) {
        if (!valid || shown) return;
        words.write(word);
        shown = true;
    }
    bool taken() {
        if (!shown || !words.empty()) return false;
        shown = false;
        return true;
    }
};

// A word that the function has written waits until there is room for it.
template <class T> struct writer {
    hls::stream<T> words;
    T word;
    bool waits = false;

    void collect() {
        if (words.empty()) return;
        word = words.read();
        waits = true;
    }
    bool leaves(bool room) {
        const bool now = waits && room;
        if (now) waits = false;
        return now;
    }
};

#endif
