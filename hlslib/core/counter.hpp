// A cyclic counter. Kernels use it for their position in a frame: a call of a kernel is one iteration.
#ifndef HLSGEN_CORE_COUNTER_HPP
#define HLSGEN_CORE_COUNTER_HPP

#include "compare.hpp"

namespace hlsgen {

// counter counts 0 .. N-1 and then begins anew.
template <int N> struct counter {
    ap_uint<count_width(N)> at;

    constexpr counter() : at(0) {}

    // next increments the counter. It reports whether the counter begins anew.
    bool next() {
#pragma HLS INLINE
        if (at != N - 1) {
            at += 1;
            return false;
        }
        at = 0;
        return true;
    }
};

} // namespace hlsgen

#endif
