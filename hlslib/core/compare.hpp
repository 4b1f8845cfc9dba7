// Comparisons with thresholds.
#ifndef HLSGEN_CORE_COMPARE_HPP
#define HLSGEN_CORE_COMPARE_HPP

#include "word.hpp"

namespace hlsgen {

// count_width is the number of bits that hold 0..n.
constexpr int count_width(int n) { return n < 2 ? 1 : 1 + count_width(n / 2); }

// exceeds is a > b by value, whatever the signs of the two types: ap_int compares bit patterns where they differ.
template <class A, class B> bool exceeds(const A& a, const B& b) {
#pragma HLS INLINE
    const int wa = element_type<A>::signed_width, wb = element_type<B>::signed_width;
    typedef ap_int<(wa > wb ? wa : wb)> both;
    return both(number(a)) > both(number(b));
}

// count_exceeded is the number of thresholds among elements first .. first+STEPS-1 of a row that value exceeds.
template <int STEPS, class T, int PER_LIMB, class A, class ROW>
ap_uint<count_width(STEPS)> count_exceeded(const A& value, const ROW& row, int first) {
#pragma HLS INLINE
    ap_uint<count_width(STEPS)> count = 0;
    for (int i = 0; i < STEPS; i++) {
#pragma HLS UNROLL
        if (exceeds(value, element<T, PER_LIMB>(row, first + i))) count += 1;
    }
    return count;
}

} // namespace hlsgen

#endif
