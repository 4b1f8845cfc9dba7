// The operation of pooling layers.
#ifndef HLSGEN_CORE_POOLING_HPP
#define HLSGEN_CORE_POOLING_HPP

#include "compare.hpp"
#include "word.hpp"

namespace hlsgen {

// pooled returns the sum of two values if C::sum is set, else the maximum.
template <class C> typename C::out_t pooled(const typename C::out_t& a, const typename C::out_t& b) {
#pragma HLS INLINE
    if (C::sum) return typename C::out_t(a + b);
    return exceeds(a, b) ? a : b;
}

} // namespace hlsgen

#endif
