// The split of vectors by channels. The first channels of every vector go to output 0, the following channels to
// output 1, and so on. An iteration reads a word and writes it to one output.
//
// C has the member in_width of the input, and
//     words       words of an input vector
//     out_words   by output: words of a vector, counts<...>
#ifndef HLSGEN_SPLIT_HPP
#define HLSGEN_SPLIT_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/counter.hpp"
#include "core/word.hpp"

namespace hlsgen {

// split_write writes a word of the vector, number `word`, to its output. START is the number of words of the earlier
// outputs.
template <int START, int N, int WORDS, class OUT>
void split_write(const ap_uint<N>& y, int, const counts<WORDS>&, OUT& out) {
#pragma HLS INLINE
    out.write(y);
}

template <int START, int N, int WORDS, int WORDS2, int... COUNTS, class OUT, class... REST>
void split_write(const ap_uint<N>& y, int word, const counts<WORDS, WORDS2, COUNTS...>&, OUT& out, REST&... rest) {
#pragma HLS INLINE
    if (word < START + WORDS) out.write(y);
    else split_write<START + WORDS>(y, word, counts<WORDS2, COUNTS...>(), rest...);
}

// split runs one iteration of the layer.
template <class C, class... OUT> void split(hls::stream<ap_uint<C::in_width> >& in, OUT&... out) {
#pragma HLS INLINE
    static counter<C::words> place;
#pragma HLS RESET variable=place
    counter<C::words> word = place;

    if (in.empty()) return;
    split_write<0>(in.read(), word.at, typename C::out_words(), out...);

    word.next();
    place = word;
}

} // namespace hlsgen

#endif
