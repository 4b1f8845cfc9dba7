// Comparisons with thresholds, and the step functions that are made of them.
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

// affine is base + unit*n. It wraps around at the output's width, within which it ends.
template <class C, class N, class B> typename C::out_t affine(const N& n, const B& base) {
#pragma HLS INLINE
    const ap_int<element_type<typename C::out_t>::signed_width> sum = n * C::unit + number(base);
    return typename C::out_t(sum);
}

// apply_steps is a channel's step function of value: the i-th of the channels in a row of the tables. There are the
// thresholds alone, or with a base per channel, or with that and what each threshold adds; T_t and T_per_limb of a table
// T are members of C. Without tables it is base + unit*value.
template <class C, class A> typename C::out_t apply_steps(const A& value, int, int) {
#pragma HLS INLINE
    return affine<C>(value, ap_int<32>(C::base));
}

template <class C, class A, class T>
typename C::out_t apply_steps(const A& value, int row, int i, const T& thresholds) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    return affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(value, thresholds[row], i * C::steps),
                     ap_int<32>(C::base));
}

template <class C, class A, class T, class B>
typename C::out_t apply_steps(const A& value, int row, int i, const T& thresholds, const B& base) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    return affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(value, thresholds[row], i * C::steps),
                     element<typename C::base_t, C::base_per_limb>(base[row], i));
}

template <class C, class A, class T, class B, class D>
typename C::out_t apply_steps(const A& value, int row, int i, const T& thresholds, const B& base, const D& deltas) {
#pragma HLS INLINE
    typedef typename C::thresholds_t threshold_t;
    typedef typename C::deltas_t delta_t;
    ap_int<element_type<typename C::out_t>::signed_width> sum = number(element<typename C::base_t, C::base_per_limb>(base[row], i));
    for (int s = 0; s < C::steps; s++) {
#pragma HLS UNROLL
        const int at = i * C::steps + s;
        if (exceeds(value, element<threshold_t, C::thresholds_per_limb>(thresholds[row], at)))
            sum += number(element<delta_t, C::deltas_per_limb>(deltas[row], at));
    }
    return typename C::out_t(sum);
}

} // namespace hlsgen

#endif
