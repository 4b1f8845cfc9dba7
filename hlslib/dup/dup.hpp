// The fork of a stream. Every iteration reads a word and writes it to all outputs.
//
// C has the member in_width, the width of the input and of every output.
#ifndef HLSGEN_DUP_HPP
#define HLSGEN_DUP_HPP

#include <ap_int.h>
#include <hls_stream.h>

namespace hlsgen {

// duplicate_word writes a word to every stream of its arguments.
template <int N> void duplicate_word(const ap_uint<N>& word, hls::stream<ap_uint<N> >& out) {
#pragma HLS INLINE
    out.write(word);
}

template <int N, class... REST>
void duplicate_word(const ap_uint<N>& word, hls::stream<ap_uint<N> >& out, REST&... rest) {
#pragma HLS INLINE
    out.write(word);
    duplicate_word(word, rest...);
}

// duplicate runs one iteration of the layer.
template <class C, class... OUT> void duplicate(hls::stream<ap_uint<C::in_width> >& in, OUT&... out) {
#pragma HLS INLINE
    if (in.empty()) return;
    const ap_uint<C::in_width> word = in.read();
    duplicate_word(word, out...);
}

} // namespace hlsgen

#endif
