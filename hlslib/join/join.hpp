// The layer joins words. Every iteration reads a word of each input and writes all of them as one word, with the
// elements of input 0 first. Elements are converted to the output's type, which holds the values of all inputs.
//
// C has the members out_t, out_width of the output, and
//     block      elements of an input word
//     in_types   by input: element type, types<...>
#ifndef HLSGEN_JOIN_HPP
#define HLSGEN_JOIN_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/word.hpp"

namespace hlsgen {

// join_word reads a word of every input, stores the words in y from element AT on, and writes y to the last stream.
template <class C, int AT> void join_word(ap_uint<C::out_width>& y, const types<>&, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    out.write(y);
}

template <class C, int AT, class T, class... TYPES, class IN, class... REST>
void join_word(ap_uint<C::out_width>& y, const types<T, TYPES...>&, IN& in, REST&... rest) {
#pragma HLS INLINE
    const int width = element_type<typename C::out_t>::width;
    y.range((AT + C::block) * width - 1, AT * width) = recode<typename C::out_t, T>(in.read());
    join_word<C, AT + C::block>(y, types<TYPES...>(), rest...);
}

// join_missing reports whether an input has no word.
template <class OUT> bool join_missing(const types<>&, OUT&) {
#pragma HLS INLINE
    return false;
}

template <class T, class... TYPES, class IN, class... REST>
bool join_missing(const types<T, TYPES...>&, IN& in, REST&... rest) {
#pragma HLS INLINE
    return in.empty() || join_missing(types<TYPES...>(), rest...);
}

// join runs one iteration of the layer. The streams are the inputs, and then the output.
template <class C, class... STREAMS> void join(STREAMS&... streams) {
#pragma HLS INLINE
    if (join_missing(typename C::in_types(), streams...)) return;
    ap_uint<C::out_width> y = 0;
    join_word<C, 0>(y, typename C::in_types(), streams...);
}

} // namespace hlsgen

#endif
