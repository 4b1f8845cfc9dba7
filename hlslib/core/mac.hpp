// Products and sums of layers with weights.
//     sum over k of W[c][k]*x[k]
// of which one clock takes simd products of a channel. Where weights and inputs are both bipolar, a product is 1 if
// they agree, else 0, and a sum of p in K stands for 2p - K. A product may go through a requantiser before it is
// summed.
//
// A layer's config C has for this
//     simd         products of a channel in one clock
//     dot_t        their sum
//     use_dsp      multiply in DSP slices
//     weights_t    the table's element, weights_per_limb of them in a limb
// and where products are requantised before they are summed
//     product      the requantiser of core/requant.hpp
//     product_t    what it gives
#ifndef HLSGEN_CORE_MAC_HPP
#define HLSGEN_CORE_MAC_HPP

#include "requant.hpp"
#include "word.hpp"

namespace hlsgen {

// mac_product is one weight times one input: a multiplier, a choice of sign where one of them is bipolar, and where
// both are, 1 if they agree and 0 if not.
template <class W, class X, bool DSP> struct mac_product {
    static auto of(const W& w, const X& x) {
#pragma HLS INLINE
        const auto product = w * x;
#pragma HLS BIND_OP variable=product op=mul impl=fabric
        return product;
    }
};

template <class W, class X> struct mac_product<W, X, true> {
    static auto of(const W& w, const X& x) {
#pragma HLS INLINE
        const auto product = w * x;
#pragma HLS BIND_OP variable=product op=mul impl=dsp
        return product;
    }
};

// mac_signed is value, or -value where sign is -1.
template <class T> ap_int<element_type<T>::width + 1> mac_signed(const bipolar& sign, const T& value) {
#pragma HLS INLINE
    const ap_int<element_type<T>::width + 1> plus = value, minus = -value;
    return sign.bit == 1 ? plus : minus;
}

template <class X> struct mac_product<bipolar, X, false> {
    static auto of(const bipolar& w, const X& x) {
#pragma HLS INLINE
        return mac_signed(w, x);
    }
};

template <class W> struct mac_product<W, bipolar, false> {
    static auto of(const W& w, const bipolar& x) {
#pragma HLS INLINE
        return mac_signed(x, w);
    }
};

template <> struct mac_product<bipolar, bipolar, false> {
    static auto of(const bipolar& w, const bipolar& x) {
#pragma HLS INLINE
        return ap_uint<1>(w.bit == x.bit);
    }
};

// mac_summand is a product as it is summed: requantised where C has a requantiser for it.
template <class...> struct mac_present { typedef void type; };

template <class C, class = void> struct mac_summand {
    template <class P> static P of(const P& product) {
#pragma HLS INLINE
        return product;
    }
};

template <class C> struct mac_summand<C, typename mac_present<typename C::product>::type> {
    template <class P> static typename C::product_t of(const P& product) {
#pragma HLS INLINE
        return requantiser<typename C::product, C::use_dsp>::template of<typename C::product_t>(product, 0);
    }
};

// mac_dot is what one clock adds to the accumulator of PE pe: its weights in the row times the elements of x from first
// on, each stride elements apart.
template <class C, class ROW>
typename C::dot_t mac_dot(const ap_uint<C::in_width>& x, int first, int stride, const ROW& weights, int pe) {
#pragma HLS INLINE
    typedef typename C::weights_t weight_t;
    typedef typename C::in_t in_t;
    typename C::dot_t sum = 0;
    for (int i = 0; i < C::simd; i++) {
#pragma HLS UNROLL
        const weight_t w = element<weight_t, C::weights_per_limb>(weights, pe * C::simd + i);
        sum += mac_summand<C>::of(mac_product<weight_t, in_t, C::use_dsp>::of(w, get<in_t>(x, first + i * stride)));
    }
    return sum;
}

} // namespace hlsgen

#endif
