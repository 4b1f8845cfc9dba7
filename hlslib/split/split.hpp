// The parting of channels.
// Of every vector, the first channels go to output 0, those that follow to output 1, and so on: an iteration reads a
// word and writes it to one output.
//
// C has the member in_width of the input, and
//     vectors     vectors in a frame
//     words       words of an input vector
//     out_words   words of a vector, by output: counts<...>
#ifndef HLSGEN_SPLIT_HPP
#define HLSGEN_SPLIT_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/word.hpp"

namespace hlsgen {

// split_write writes word number word of a vector, whose first words are START that earlier outputs took.
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

// split processes one frame.
template <class C, class... OUT> void split(hls::stream<ap_uint<C::in_width> >& in, OUT&... out) {
#pragma HLS INLINE
    ap_uint<count_width(C::words)> word = 0;

    for (int i = 0; i < C::vectors * C::words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        split_write<0>(in.read(), word, typename C::out_words(), out...);
        word += 1;
        if (word == C::words) word = 0;
    }
}

} // namespace hlsgen

#endif
