// The concatenation of channels. Every output vector has the channels of input 0 first, then those of input 1, and so
// on. An iteration reads a word of one input and writes it. Elements are converted to the output's type, which holds
// the values of all inputs.
//
// C has the members out_t, out_width of the output, and
//     words      words of an output vector
//     in_words   by input: words of a vector, counts<...>
//     in_types   by input: element type, types<...>
#ifndef HLSGEN_CONCAT_HPP
#define HLSGEN_CONCAT_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/counter.hpp"
#include "core/word.hpp"

namespace hlsgen {

// concat_read reads a word of the output vector from its input. START is the number of words that the earlier inputs
// have. The last stream is the output.
template <class C, int START, class T, int WORDS, class IN, class OUT>
ap_uint<C::out_width> concat_read(int, const types<T>&, const counts<WORDS>&, IN& in, OUT&) {
#pragma HLS INLINE
    return recode<typename C::out_t, T>(in.read());
}

template <class C, int START, class T, class T2, class... TYPES, int WORDS, int WORDS2, int... COUNTS, class IN, class... REST>
ap_uint<C::out_width> concat_read(int word, const types<T, T2, TYPES...>&, const counts<WORDS, WORDS2, COUNTS...>&, IN& in,
                                  REST&... rest) {
#pragma HLS INLINE
    ap_uint<C::out_width> y;
    if (word < START + WORDS) y = recode<typename C::out_t, T>(in.read());
    else y = concat_read<C, START + WORDS>(word, types<T2, TYPES...>(), counts<WORDS2, COUNTS...>(), rest...);
    return y;
}

// concat_write writes y to the last stream.
template <int N> void concat_write(const ap_uint<N>& y, hls::stream<ap_uint<N> >& out) {
#pragma HLS INLINE
    out.write(y);
}

template <int N, class IN, class NEXT, class... REST>
void concat_write(const ap_uint<N>& y, IN&, NEXT& next, REST&... rest) {
#pragma HLS INLINE
    concat_write(y, next, rest...);
}

// concat_missing reports whether the input that has the word is empty.
template <int START, int WORDS, class IN, class OUT> bool concat_missing(int, const counts<WORDS>&, IN& in, OUT&) {
#pragma HLS INLINE
    return in.empty();
}

template <int START, int WORDS, int WORDS2, int... COUNTS, class IN, class... REST>
bool concat_missing(int word, const counts<WORDS, WORDS2, COUNTS...>&, IN& in, REST&... rest) {
#pragma HLS INLINE
    if (word < START + WORDS) return in.empty();
    return concat_missing<START + WORDS>(word, counts<WORDS2, COUNTS...>(), rest...);
}

// concat runs one iteration of the layer. The streams are the inputs, and then the output.
template <class C, class... STREAMS> void concat(STREAMS&... streams) {
#pragma HLS INLINE
    static counter<C::words> place;
#pragma HLS RESET variable=place
    counter<C::words> word = place;

    if (concat_missing<0>(word.at, typename C::in_words(), streams...)) return;
    const ap_uint<C::out_width> y = concat_read<C, 0>(word.at, typename C::in_types(), typename C::in_words(), streams...);
    concat_write(y, streams...);

    word.next();
    place = word;
}

} // namespace hlsgen

#endif
