// The requantising layer with long multipliers.
// It does what requant.hpp describes, with multipliers and biases that have low_digits digits of low_shift bits below
// those of the tables of multipliers and biases. From the lowest digit on, for every channel c,
//     carry = floor((m[d][c]*x[c] + b[d][c] + carry) / 2^low_shift)
// and the last carry is added to the sum that requant.hpp shifts by shift bits. This is what one long multiplication
// gives, while no product is longer than 64 bits.
// The tables low_multipliers and low_biases have a row for each word, or one row for all channels. A row has the lowest
// digits of the pe channels, then the next digits, and so on.
//
// C has the members of requant.hpp and
//     low_sum_t             type of a low digit times input plus bias plus carry, signed
//     low_digits            number of low digits
//     low_shift             bits of a low digit
//     low_one_multiplier    all channels have the same low digits of the multiplier; low_one_bias likewise
// In requant_bent, inputs below a bend of their channel have other multipliers and biases. In each row these follow those
// for inputs above. C then has
//     one_bend              all channels have the same bend
#ifndef HLSGEN_REQUANT_LONG_HPP
#define HLSGEN_REQUANT_LONG_HPP

#include "requant.hpp"

namespace hlsgen {

// requant_number returns the number of a list for channel pe: of the given list or, for an input below the bend, of that
// as many lists later as lists says.
template <class T, int LIMB, bool ONE, class C, class TABLE>
T requant_number(const TABLE& table, int fold, int pe, int list, int lists, bool below) {
#pragma HLS INLINE
    const T above = element<T, LIMB>(table[ONE ? 0 : fold], ONE ? list : list * C::pe + pe);
    if (!below) return above;
    return element<T, LIMB>(table[ONE ? 0 : fold], ONE ? list + lists : (list + lists) * C::pe + pe);
}

// requant_long_code returns the code of a value.
template <class C, class X, class M, class B, class L, class LM, class LB>
typename C::out_t requant_long_code(const X& value, int fold, int pe, bool below, const M& multipliers, const B& biases,
                                    const L& limits, const LM& low_multipliers, const LB& low_biases) {
#pragma HLS INLINE
    typedef typename C::multipliers_t multiplier_t;
    typedef typename C::biases_t bias_t;
    typedef typename C::low_multipliers_t low_multiplier_t;
    typedef typename C::low_biases_t low_bias_t;
    typename C::low_sum_t carry = 0;
    digit_loop: for (int d = 0; d < C::low_digits; d++) {
#pragma HLS UNROLL
        const low_multiplier_t m = requant_number<low_multiplier_t, C::low_multipliers_per_limb, C::low_one_multiplier, C>(
            low_multipliers, fold, pe, d, C::low_digits, below);
        const low_bias_t b = requant_number<low_bias_t, C::low_biases_per_limb, C::low_one_bias, C>(low_biases, fold, pe, d,
                                                                                                 C::low_digits, below);
        typename C::low_sum_t sum = requant_scaled<C>(m, value);
        sum += b; // may wrap around, but the sum with the carry fits its type
        sum += carry;
        carry = sum >> C::low_shift;
    }
    const multiplier_t m = requant_number<multiplier_t, C::multipliers_per_limb, C::one_multiplier, C>(multipliers, fold, pe, 0, 1,
                                                                                                    below);
    const bias_t b = requant_number<bias_t, C::biases_per_limb, C::one_bias, C>(biases, fold, pe, 0, 1, below);
    typename C::sum_t sum = requant_scaled<C>(m, value);
    sum += b;
    sum += carry;
    return requant_code<C>(sum, limits);
}

// requant_long runs one iteration of the layer.
template <class C, class M, class B, class L, class LM, class LB>
void requant_long(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const M& multipliers,
                  const B& biases, const L& limits, const LM& low_multipliers, const LB& low_biases) {
#pragma HLS INLINE
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        put(y, pe, requant_long_code<C>(number(get<typename C::in_t>(x, pe)), int(fold.at), pe, false, multipliers, biases, limits,
                                        low_multipliers, low_biases));
    }
    out.write(y);

    fold.next();
    place = fold;
}

// requant_bent runs one iteration of a layer with bends.
template <class C, class M, class B, class L, class LM, class LB, class A>
void requant_bent(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const M& multipliers,
                  const B& biases, const L& limits, const LM& low_multipliers, const LB& low_biases, const A& bends) {
#pragma HLS INLINE
    typedef typename C::bends_t bend_t;
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const auto value = number(get<typename C::in_t>(x, pe));
        const bend_t at = element<bend_t, C::bends_per_limb>(bends[C::one_bend ? 0 : int(fold.at)], C::one_bend ? 0 : pe);
        put(y, pe, requant_long_code<C>(value, int(fold.at), pe, exceeds(at, value), multipliers, biases, limits, low_multipliers,
                                        low_biases));
    }
    out.write(y);

    fold.next();
    place = fold;
}

} // namespace hlsgen

#endif
