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
#ifndef HLSGEN_REQUANT_LONG_HPP
#define HLSGEN_REQUANT_LONG_HPP

#include "requant.hpp"

namespace hlsgen {

// requant_long runs one iteration of the layer.
template <class C, class M, class B, class L, class LM, class LB>
void requant_long(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const M& multipliers,
                  const B& biases, const L& limits, const LM& low_multipliers, const LB& low_biases) {
#pragma HLS INLINE
    typedef typename C::multipliers_t multiplier_t;
    typedef typename C::biases_t bias_t;
    typedef typename C::low_multipliers_t low_multiplier_t;
    typedef typename C::low_biases_t low_bias_t;
    static counter<C::folds> place;
#pragma HLS RESET variable=place
    counter<C::folds> fold = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    ap_uint<C::out_width> y = 0;
    pe_loop: for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
        const auto value = number(get<typename C::in_t>(x, pe));
        typename C::low_sum_t carry = 0;
        digit_loop: for (int d = 0; d < C::low_digits; d++) {
#pragma HLS UNROLL
            const low_multiplier_t m = element<low_multiplier_t, C::low_multipliers_per_limb>(
                low_multipliers[C::low_one_multiplier ? 0 : int(fold.at)], C::low_one_multiplier ? d : d * C::pe + pe);
            const low_bias_t b = element<low_bias_t, C::low_biases_per_limb>(
                low_biases[C::low_one_bias ? 0 : int(fold.at)], C::low_one_bias ? d : d * C::pe + pe);
            typename C::low_sum_t sum = requant_scaled<C>(m, value);
            sum += b; // may wrap around, but the sum with the carry fits its type
            sum += carry;
            carry = sum >> C::low_shift;
        }
        const multiplier_t m = element<multiplier_t, C::multipliers_per_limb>(multipliers[C::one_multiplier ? 0 : int(fold.at)],
                                                                              C::one_multiplier ? 0 : pe);
        const bias_t b = element<bias_t, C::biases_per_limb>(biases[C::one_bias ? 0 : int(fold.at)], C::one_bias ? 0 : pe);
        typename C::sum_t sum = requant_scaled<C>(m, value);
        sum += b;
        sum += carry;
        put(y, pe, requant_code<C>(sum, limits));
    }
    out.write(y);

    fold.next();
    place = fold;
}

} // namespace hlsgen

#endif
