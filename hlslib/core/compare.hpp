// Comparisons with thresholds, and step functions.
#ifndef HLSGEN_CORE_COMPARE_HPP
#define HLSGEN_CORE_COMPARE_HPP

#include "requant.hpp"
#include "word.hpp"

namespace hlsgen {

// count_width returns the number of bits that hold 0..n.
constexpr int count_width(int n) { return n < 2 ? 1 : 1 + count_width(n / 2); }

// exceeds reports whether a > b by value, even if only one of the types is signed. The operator of ap_int would then
// compare bit patterns.
template <class A, class B> bool exceeds(const A& a, const B& b) {
#pragma HLS INLINE
    const int wa = element_type<A>::signed_width, wb = element_type<B>::signed_width;
    typedef ap_int<(wa > wb ? wa : wb)> both;
    return both(number(a)) > both(number(b));
}

// count_exceeded returns the number of thresholds that value exceeds, among the elements first .. first+STEPS-1 of a
// row.
template <int STEPS, class T, int PER_LIMB, class A, class ROW>
ap_uint<count_width(STEPS)> count_exceeded(const A& value, const ROW& row, int first) {
#pragma HLS INLINE
    ap_uint<count_width(STEPS)> count = 0;
    threshold_loop: for (int i = 0; i < STEPS; i++) {
#pragma HLS UNROLL
        if (exceeds(value, element<T, PER_LIMB>(row, first + i))) count += 1;
    }
    return count;
}

// affine returns base + unit*n. Intermediate values may wrap around at the output's width; the result fits.
template <class C, class N, class B> typename C::out_t affine(const N& n, const B& base) {
#pragma HLS INLINE
    const ap_int<element_type<typename C::out_t>::signed_width> sum = n * C::unit + number(base);
    return typename C::out_t(sum);
}

// The forms of step functions are the values of the member form of a config. The specialisations of steps_form below
// describe them.
const int steps_none = 0, steps_comparators = 1, steps_table = 2, steps_segments = 3, steps_search = 4, steps_scaled = 5;

// steps_form::of applies a step function in one of the forms.
template <int FORM> struct steps_form;

// steps_none has no tables: the result is base + unit*value.
template <> struct steps_form<steps_none> {
    template <class C, class A> static typename C::out_t of(const A& value, int, int) {
#pragma HLS INLINE
        return affine<C>(value, ap_int<32>(C::base));
    }
};

// steps_comparators compares a value with all thresholds of channel i in a row of the tables. The tables are the
// thresholds; or the thresholds and a base per channel; or these and the number that each threshold adds.
template <> struct steps_form<steps_comparators> {
    template <class C, class A, class T> static typename C::out_t of(const A& value, int row, int i, const T& thresholds) {
#pragma HLS INLINE
        typedef typename C::thresholds_t threshold_t;
        return affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(value, thresholds[row], i * C::steps),
                         ap_int<32>(C::base));
    }

    template <class C, class A, class T, class B>
    static typename C::out_t of(const A& value, int row, int i, const T& thresholds, const B& base) {
#pragma HLS INLINE
        typedef typename C::thresholds_t threshold_t;
        return affine<C>(count_exceeded<C::steps, threshold_t, C::thresholds_per_limb>(value, thresholds[row], i * C::steps),
                         element<typename C::base_t, C::base_per_limb>(base[row], i));
    }

    template <class C, class A, class T, class B, class D>
    static typename C::out_t of(const A& value, int row, int i, const T& thresholds, const B& base, const D& deltas) {
#pragma HLS INLINE
        typedef typename C::thresholds_t threshold_t;
        typedef typename C::deltas_t delta_t;
        ap_int<element_type<typename C::out_t>::signed_width> sum = number(element<typename C::base_t, C::base_per_limb>(base[row], i));
        delta_loop: for (int s = 0; s < C::steps; s++) {
#pragma HLS UNROLL
            const int at = i * C::steps + s;
            if (exceeds(value, element<threshold_t, C::thresholds_per_limb>(thresholds[row], at)))
                sum += number(element<delta_t, C::deltas_per_limb>(deltas[row], at));
        }
        return typename C::out_t(sum);
    }
};

// steps_address returns the address in a lane's table: the number of the function's row, followed by BITS bits.
template <class C, int BITS> int steps_address(int row, const ap_uint<BITS>& bits) {
#pragma HLS INLINE
    return (C::functions > 1 ? row << BITS : 0) | bits.to_int();
}

// steps_kept returns the bits of a value. If C has a window, it returns the position of the value in the window, and
// the nearer end of the window for values outside of it.
template <class C, class A> ap_uint<C::span> steps_kept(const A& value) {
#pragma HLS INLINE
    const int width = element_type<A>::signed_width + 1;
    if (!C::window) return ap_uint<C::span>(element_type<A>::encode(value));
    const ap_int<width> moved = number(value) - ap_int<32>(C::first);
    ap_uint<C::span> kept = ap_uint<width>(moved).range(C::span - 1, 0);
    if (moved < 0) kept = 0;
    else if ((moved >> C::span) != 0) kept = ~ap_uint<C::span>(0);
    return kept;
}

// steps_upper returns the upper bits of a value, which are an address.
template <class C, class A> ap_uint<C::span - C::low> steps_upper(const A& value) {
#pragma HLS INLINE
    return steps_kept<C>(value).range(C::span - 1, C::low);
}

// steps_table looks the output up by the function's row and the value's upper bits, in the table of a lane.
template <> struct steps_form<steps_table> {
    template <class C, class A, class T> static typename C::out_t of(const A& value, int row, int lane, const T& codes) {
#pragma HLS INLINE
        return element<typename C::codes_t, C::codes_per_limb>(codes[lane][steps_address<C>(row, steps_upper<C>(value))], 0);
    }
};

// steps_segments looks up a code and thresholds by the value's upper bits. Each threshold that the lower bits exceed
// adds to the code.
template <> struct steps_form<steps_segments> {
    template <class C, class A, class B, class T>
    static typename C::out_t of(const A& value, int row, int lane, const B& codes, const T& thresholds) {
#pragma HLS INLINE
        typedef typename C::thresholds_t rest_t;
        const int at = steps_address<C>(row, steps_upper<C>(value));
        return affine<C>(count_exceeded<C::steps, rest_t, C::thresholds_per_limb>(rest<C>(value), thresholds[lane][at], 0),
                         element<typename C::codes_t, C::codes_per_limb>(codes[lane][at], 0));
    }

    template <class C, class A, class B, class T, class D>
    static typename C::out_t of(const A& value, int row, int lane, const B& codes, const T& thresholds, const D& deltas) {
#pragma HLS INLINE
        typedef typename C::thresholds_t rest_t;
        typedef typename C::deltas_t delta_t;
        const int at = steps_address<C>(row, steps_upper<C>(value));
        ap_int<element_type<typename C::out_t>::signed_width> sum =
            number(element<typename C::codes_t, C::codes_per_limb>(codes[lane][at], 0));
        delta_loop: for (int s = 0; s < C::steps; s++) {
#pragma HLS UNROLL
            if (exceeds(rest<C>(value), element<rest_t, C::thresholds_per_limb>(thresholds[lane][at], s)))
                sum += number(element<delta_t, C::deltas_per_limb>(deltas[lane][at], s));
        }
        return typename C::out_t(sum);
    }

private:
    template <class C, class A> static ap_uint<C::low> rest(const A& value) {
#pragma HLS INLINE
        return steps_kept<C>(value).range(C::low - 1, 0);
    }
};

// count_at returns number i of a list.
template <int N, int... REST> constexpr int count_at(const counts<N, REST...>&, int i) {
    const int list[] = {N, REST...};
    return list[i];
}

// steps_stage::of continues the search from stage STAGE on. The earlier stages have found FOUND bits of the count.
template <class C, int STAGE, int FOUND, bool END> struct steps_stage {
    template <class A, class T, class... REST>
    static typename C::out_t of(const A& value, int row, int lane, const ap_uint<FOUND>& found, const T& thresholds,
                                const REST&... rest) {
#pragma HLS INLINE
        typedef typename C::stage_bits bits_list;
        typedef typename C::stage_per_limb per_limb_list;
        const int bits = count_at(bits_list(), STAGE), before = STAGE == 0 ? 0 : FOUND, next = before + bits;
        const int at = STAGE == 0 ? (C::functions > 1 ? row : 0) : steps_address<C>(row, found);
        ap_uint<next> now = found;
        now <<= bits;
        now |= ap_uint<next>(count_exceeded<(1 << bits) - 1, A, count_at(per_limb_list(), STAGE)>(value, thresholds[lane][at], 0));
        return steps_stage<C, STAGE + 1, next, STAGE + 1 == C::stages>::of(value, row, lane, now, rest...);
    }
};

template <class C, int STAGE, int FOUND> struct steps_stage<C, STAGE, FOUND, true> {
    template <class A> static typename C::out_t of(const A&, int, int, const ap_uint<FOUND>& found) {
#pragma HLS INLINE
        return affine<C>(found, ap_int<32>(C::base));
    }

    template <class A, class B>
    static typename C::out_t of(const A&, int row, int lane, const ap_uint<FOUND>& found, const B& codes) {
#pragma HLS INLINE
        const int at = C::coded ? steps_address<C>(row, found) : C::functions > 1 ? row : 0;
        const typename C::codes_t code = element<typename C::codes_t, C::codes_per_limb>(codes[lane][at], 0);
        if (C::coded) return typename C::out_t(number(code));
        return affine<C>(found, code);
    }
};

// steps_search computes the number of thresholds that the value exceeds. Each stage finds some bits of that number.
template <> struct steps_form<steps_search> {
    template <class C, class A, class... STAGES>
    static typename C::out_t of(const A& value, int row, int lane, const STAGES&... stages) {
#pragma HLS INLINE
        return steps_stage<C, 0, 1, false>::of(value, row, lane, ap_uint<1>(0), stages...);
    }
};

// steps_scaled multiplies the value, adds a bias, divides by a power of two, rounds and clips. The multiplier is a sum
// of powers of two. Their exponents are those of C::digits, or those of lane i in a table.
template <> struct steps_form<steps_scaled> {
    template <class C, class A, class B, class... EXPONENTS>
    static typename C::out_t of(const A& value, int row, int i, const B& biases, const EXPONENTS&... exponents) {
#pragma HLS INLINE
        const int width = C::sum_width > C::shift ? C::sum_width : C::shift + 1; // a shift by all bits is not defined
        const ap_int<C::sum_width> x = number(value);
        ap_int<C::sum_width> sum = number(element<typename C::biases_t, C::biases_per_limb>(biases[row], i));
        digit_loop: for (int k = 0; k < C::digit_count; k++) {
#pragma HLS UNROLL
            const int e = exponent<C>(i, k, exponents...);
            if (e >= C::sum_width) continue; // the lane has fewer digits
            if (e >= 0) sum += x << e;
            else sum -= x << (-1 - e);
        }
        const ap_int<width> wide = sum;
        const ap_int<width> code = requant_round<C::shift, C::mode>(wide);
        const ap_int<32> lo = C::lo, hi = C::hi;
        if (C::clip_lo && exceeds(lo, code)) return typename C::out_t(lo);
        if (C::clip_hi && exceeds(code, hi)) return typename C::out_t(hi);
        return typename C::out_t(code);
    }

private:
    template <class C> static constexpr int exponent(int, int k) {
        typedef typename C::digits list;
        return count_at(list(), k);
    }

    template <class C, class E> static int exponent(int i, int k, const E& exponents) {
#pragma HLS INLINE
        return number(element<typename C::exponents_t, C::exponents_per_limb>(exponents[0], i * C::digit_count + k)).to_int();
    }
};

// apply_steps applies a channel's step function to value. The layer chooses the row of the tables, and the channel in
// the row or the lane. C::form is the form of the functions. For each table T, C has T_t and T_per_limb.
template <class C, class A, class... TABLES>
typename C::out_t apply_steps(const A& value, int row, int i, const TABLES&... tables) {
#pragma HLS INLINE
    return steps_form<C::form>::template of<C>(value, row, i, tables...);
}

} // namespace hlsgen

#endif
