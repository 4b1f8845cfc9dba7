// The magnitude of every element: a layer for tests of the contract.
#ifndef HLSGEN_ABS_HPP
#define HLSGEN_ABS_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/word.hpp"

namespace hlsgen {

template <class C> void magnitude(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        ap_int<C::value_width> value = number(get<typename C::in_t>(x, pe));
        if (value < 0) value = -value;
        put(y, pe, typename C::out_t(value));
    }
    out.write(y);
}

} // namespace hlsgen

#endif
