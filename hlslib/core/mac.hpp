// Products and sums of layers with weights. A clock adds simd products of each channel c to
//     sum over k of W[c][k]*x[k]
// If weights and inputs are both bipolar, a product is 1 if they agree, else 0; a sum p of K products then stands for
// the number 2p - K. A requantiser may be applied to every product before it is added.
//
// A layer's config C has the following members for this file:
//     simd         products of a channel in one clock
//     dot_t        type of their sum
//     use_dsp      whether DSP slices multiply
//     weights_t    element type of the table; a limb has weights_per_limb elements
// if the table has codes of weights,
//     weight_values    the weight of each code
//     weight_t         the type of the weights
// if products are requantised before they are added,
//     product      the requantiser, as core/requant.hpp describes
//     product_t    the type of its results
// if the accumulators of the PEs have different widths,
//     acc_t, acc_bits    the widest type, and the bits of each
// if channels with the same inputs share DSP slices,
//     lanes, overlaps, terms, packed_t, packed_sum_t    as mac_packed describes
#ifndef HLSGEN_CORE_MAC_HPP
#define HLSGEN_CORE_MAC_HPP

#include "compare.hpp"
#include "requant.hpp"
#include "word.hpp"

namespace hlsgen {

// mac_product::of returns the product of a weight and an input. It is a multiplier; a choice of sign if one factor is
// bipolar; or, if both are, 1 if they agree and 0 if not. Minifloats are decoded.
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

// mac_signed returns value if sign is +1, and -value if sign is -1.
template <class T> ap_int<element_type<T>::signed_width + 1> mac_signed(const bipolar& sign, const T& value) {
#pragma HLS INLINE
    const ap_int<element_type<T>::signed_width + 1> plus = number(value), minus = -plus;
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

// mac_factor splits a factor into a significand, a shift and a sign. The magnitude is significand * 2^shift; an
// integer has shift 0.
template <class T> struct mac_factor {
    static auto significand(const T& value) { return number(value); }
    static int shift(const T&) { return 0; }
    static bool negative(const T&) { return false; }
};

template <int W, int M, bool S> struct mac_factor<minifloat<W, M, S>> {
    static auto significand(const minifloat<W, M, S>& value) { return value.significand(); }
    static int shift(const minifloat<W, M, S>& value) { return value.shift().to_int(); }
    static bool negative(const minifloat<W, M, S>& value) { return value.negative(); }
};

// mac_float returns the product of two factors: the product of the significands, shifted by the sum of the exponents.
template <class W, class X>
ap_int<element_type<W>::signed_width + element_type<X>::signed_width> mac_float(const W& w, const X& x) {
#pragma HLS INLINE
    const auto product = mac_factor<W>::significand(w) * mac_factor<X>::significand(x);
#pragma HLS BIND_OP variable=product op=mul impl=fabric
    ap_int<element_type<W>::signed_width + element_type<X>::signed_width> shifted = product;
    shifted <<= mac_factor<W>::shift(w) + mac_factor<X>::shift(x);
    if (mac_factor<W>::negative(w) != mac_factor<X>::negative(x)) shifted = -shifted;
    return shifted;
}

template <int W, int M, bool S, class X, bool DSP> struct mac_product<minifloat<W, M, S>, X, DSP> {
    static auto of(const minifloat<W, M, S>& w, const X& x) {
#pragma HLS INLINE
        return mac_float(w, x);
    }
};

template <class T, int W, int M, bool S, bool DSP> struct mac_product<T, minifloat<W, M, S>, DSP> {
    static auto of(const T& w, const minifloat<W, M, S>& x) {
#pragma HLS INLINE
        return mac_float(w, x);
    }
};

template <int W, int M, bool S, int V, int N, bool R, bool DSP>
struct mac_product<minifloat<W, M, S>, minifloat<V, N, R>, DSP> {
    static auto of(const minifloat<W, M, S>& w, const minifloat<V, N, R>& x) {
#pragma HLS INLINE
        return mac_float(w, x);
    }
};

template <int W, int M, bool S> struct mac_product<minifloat<W, M, S>, bipolar, false> {
    static auto of(const minifloat<W, M, S>& w, const bipolar& x) {
#pragma HLS INLINE
        return mac_signed(x, w);
    }
};

template <int W, int M, bool S> struct mac_product<bipolar, minifloat<W, M, S>, false> {
    static auto of(const bipolar& w, const minifloat<W, M, S>& x) {
#pragma HLS INLINE
        return mac_signed(w, x);
    }
};

template <class...> struct mac_present { typedef void type; };

// mac_alike is C::alike, the first layer's config that equals C, or C itself if there is no such member. Functions
// with this config are compiled once for all equal layers. Static variables use C, so that every layer has its own.
template <class C, class = void> struct mac_alike { typedef C type; };

template <class C> struct mac_alike<C, typename mac_present<typename C::alike>::type> { typedef typename C::alike type; };

// mac_function is the truth table that gives bit BIT of a value from the value's index in the list: bit n of the table
// is bit BIT of value n.
template <class LIST, int BIT> struct mac_function;

template <int BIT> struct mac_function<numbers<>, BIT> { static const unsigned long long table = 0; };

template <int BIT, long long V, long long... REST> struct mac_function<numbers<V, REST...>, BIT> {
    static const unsigned long long table =
        ((unsigned long long)(V) >> BIT & 1) | mac_function<numbers<REST...>, BIT>::table << 1;
};

// mac_always returns the truth table that is always 1, for codes with this number of bits. mac_wire returns the table
// that equals bit i of the code.
constexpr unsigned long long mac_always(int bits) { return ~0ULL >> (64 - (1 << bits)); }
constexpr unsigned long long mac_wire(int bits, int i) { return mac_always(bits) / ((1ULL << (1 << i)) + 1) << (1 << i); }

// mac_bit returns the number of the code's bit that a truth table equals, or bits if it equals none.
constexpr int mac_bit(int bits, unsigned long long table, int i = 0) {
    return i == bits || mac_wire(bits, i) == table ? i : mac_bit(bits, table, i + 1);
}

// mac_look::of looks a code up in a truth table. A constant table, or a table that equals a bit of the code or its
// complement, needs no lookup.
template <int BITS, unsigned long long TABLE> struct mac_look {
    static const unsigned long long turned = mac_always(BITS) ^ TABLE;
    static const int bit = mac_bit(BITS, TABLE), other = mac_bit(BITS, turned);

    static ap_uint<1> of(const ap_uint<BITS>& code) {
#pragma HLS INLINE
        if (TABLE == 0 || turned == 0) return ap_uint<1>(turned == 0);
        if (bit < BITS) return ap_uint<1>(code[bit % BITS]);
        if (other < BITS) return ap_uint<1>(~ap_uint<1>(code[other % BITS]));
        return ap_uint<1>(ap_uint<1 << BITS>(TABLE) >> code);
    }
};

// mac_decode::of writes bit BIT and all lower bits of a code's value.
template <class LIST, int BITS, int BIT> struct mac_decode {
    template <class V> static void of(V& value, const ap_uint<BITS>& code) {
#pragma HLS INLINE
        value[BIT] = mac_look<BITS, mac_function<LIST, BIT>::table>::of(code);
        mac_decode<LIST, BITS, BIT - 1>::of(value, code);
    }
};

template <class LIST, int BITS> struct mac_decode<LIST, BITS, -1> {
    template <class V> static void of(V&, const ap_uint<BITS>&) {
#pragma HLS INLINE
    }
};

// mac_weight::of returns the weight for an element of the table: the element itself, or the value of the code.
template <class C, class = void> struct mac_weight {
    typedef typename C::weights_t type;
    static type of(const type& stored) {
#pragma HLS INLINE
        return stored;
    }
};

template <class C> struct mac_weight<C, typename mac_present<typename C::weight_values>::type> {
    typedef typename C::weight_t type;
    static type of(const typename C::weights_t& code) {
#pragma HLS INLINE
        type value = 0;
        mac_decode<typename C::weight_values, element_type<typename C::weights_t>::width,
                   element_type<type>::width - 1>::of(value, code);
        return value;
    }
};

// mac_read returns weight i of a row of the table.
template <class C, class ROW> typename mac_weight<C>::type mac_read(const ROW& weights, int i) {
#pragma HLS INLINE
    return mac_weight<C>::of(element<typename C::weights_t, C::weights_per_limb>(weights, i));
}

// mac_summand::of returns the number that is added for a product: the requantised product if C has a requantiser, else
// the product itself.
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

// mac_dot returns the number that a clock adds to the accumulator of PE pe. It multiplies the PE's weights in the row
// by simd elements of x, which begin at `first` and are `stride` elements apart.
template <class C, class ROW>
typename C::dot_t mac_dot(const ap_uint<C::in_width>& x, int first, int stride, const ROW& weights, int pe) {
#pragma HLS INLINE
    typedef typename mac_weight<C>::type weight_t;
    typedef typename C::in_t in_t;
    typename C::dot_t sum = 0;
    simd_loop: for (int i = 0; i < C::simd; i++) {
#pragma HLS UNROLL
        const weight_t w = mac_read<C>(weights, pe * C::simd + i);
        sum += mac_summand<C>::of(mac_product<weight_t, in_t, C::use_dsp>::of(w, get<in_t>(x, first + i * stride)));
    }
    return sum;
}

// mac_at is number I of a list, and mac_count the length of a list.
template <class LIST, int I> struct mac_at;

template <int N, int... REST> struct mac_at<counts<N, REST...>, 0> { static const int value = N; };

template <int N, int... REST, int I> struct mac_at<counts<N, REST...>, I> {
    static const int value = mac_at<counts<REST...>, I - 1>::value;
};

template <class LIST> struct mac_count;

template <int... N> struct mac_count<counts<N...>> { static const int value = sizeof...(N); };

// mac_held::of returns a sum as the accumulator of PE pe stores it. If C gives each PE a width of its own, that is the
// value of the lowest bits.
template <class C, class = void> struct mac_held {
    template <class T> static T of(const T& sum, int) {
#pragma HLS INLINE
        return sum;
    }
};

template <class C> struct mac_held<C, typename mac_present<typename C::acc_bits>::type> {
    typedef typename C::acc_t acc_t;

    static acc_t of(const acc_t& sum, int pe) {
#pragma HLS INLINE
        const int above = element_type<acc_t>::width - count_at(typename C::acc_bits(), pe);
        const acc_t high = sum << above;
        return acc_t(high >> above);
    }
};

// mac_odd returns the lowest bit of a product.
template <class W, class X> ap_uint<1> mac_odd(const W& w, const X& x) {
#pragma HLS INLINE
    return ap_uint<1>(element_type<W>::encode(w)[0] & element_type<X>::encode(x)[0]);
}

// mac_lane handles lane I of C::lanes and all higher lanes. In a factor and in a sum, the bits below a lane are a
// signed number. If that number is negative, it has borrowed 1 from the lane.
template <class C, int I, bool TOP = (I == mac_count<typename C::lanes>::value - 1)> struct mac_lane {
    typedef typename mac_weight<C>::type weight_t;
    typedef typename C::lanes lanes;
    static const int at = mac_at<lanes, I>::value, next = mac_at<lanes, I + 1>::value;
    static const bool shares = mac_at<typename C::overlaps, I + 1>::value == 1; // with the next lane: its highest bit

    // pack writes weight i of channels pe, pe+1, ... into the lanes of a factor. Channels from N on do not exist.
    template <int N, int BITS, class ROW>
    static void pack(ap_uint<BITS>& factor, const ap_uint<1>& borrow, const ROW& weights, int pe, int i) {
#pragma HLS INLINE
        ap_int<element_type<weight_t>::signed_width + 1> own = -ap_int<2>(borrow);
        if (pe + I < N) own += number(mac_read<C>(weights, (pe + I) * C::simd + i));
        factor.range(next - 1, at) = ap_uint<next - at>(own);
        mac_lane<C, I + 1>::template pack<N>(factor, ap_uint<1>(own < 0), weights, pe, i);
    }

    // unpack adds the lanes of a sum to dots, and the borrowed ones to borrows. A bit of odd tells whether the sum of
    // a lane is odd.
    template <int N, class SUM, int LANES, class BORROW>
    static void unpack(typename C::dot_t (&dots)[N], BORROW (&borrows)[N], const SUM& sum, const ap_uint<LANES>& odd,
                       const ap_uint<1>& borrow, int pe) {
#pragma HLS INLINE
        ap_uint<1> negative = sum[next - 1];
        if (shares) negative = ap_uint<1>(sum[next] ^ odd[I + 1]);
        ap_int<next - at + 1> own = ap_int<next - at + 1>(ap_uint<next - at>(sum >> at));
        own[next - at] = negative;
        if (pe + I < N) {
            dots[pe + I] += own;
            borrows[pe + I] += borrow;
        }
        mac_lane<C, I + 1>::template unpack<N>(dots, borrows, sum, odd, negative, pe);
    }
};

template <class C, int I> struct mac_lane<C, I, true> {
    typedef typename mac_weight<C>::type weight_t;
    typedef typename C::lanes lanes;
    static const int at = mac_at<lanes, I>::value;

    template <int N, int BITS, class ROW>
    static void pack(ap_uint<BITS>& factor, const ap_uint<1>& borrow, const ROW& weights, int pe, int i) {
#pragma HLS INLINE
        ap_int<element_type<weight_t>::signed_width + 1> own = -ap_int<2>(borrow);
        if (pe + I < N) own += number(mac_read<C>(weights, (pe + I) * C::simd + i));
        factor.range(BITS - 1, at) = ap_uint<BITS - at>(own);
    }

    template <int N, class SUM, int LANES, class BORROW>
    static void unpack(typename C::dot_t (&dots)[N], BORROW (&borrows)[N], const SUM& sum, const ap_uint<LANES>&,
                       const ap_uint<1>& borrow, int pe) {
#pragma HLS INLINE
        if (pe + I < N) {
            dots[pe + I] += ap_int<element_type<SUM>::width - at>(sum >> at);
            borrows[pe + I] += borrow;
        }
    }
};

// mac_packed computes the dot products of N channels with shared DSP slices. Each channel's weight lies in its own
// lane of one factor. C::lanes lists the bits at which lanes begin; C::overlaps has a 1 for each lane that begins at
// the highest bit of the lane below. C::terms products of a slice are added before the lanes are separated. The packed
// weights have type packed_t, and the sum of their products with the inputs has type packed_sum_t.
template <class C, int N, class ROW>
void mac_packed(typename C::dot_t (&dots)[N], const ap_uint<C::in_width>& x, int first, const ROW& weights) {
#pragma HLS INLINE
    typedef typename mac_weight<C>::type weight_t;
    typedef typename C::in_t in_t;
    const int lanes = mac_count<typename C::lanes>::value;
    const int bits = element_type<typename C::packed_t>::width;
    ap_uint<count_width((C::simd + C::terms - 1) / C::terms + 1)> borrows[N];
#pragma HLS ARRAY_PARTITION variable=borrows complete dim=1
    clear_loop: for (int pe = 0; pe < N; pe++) {
#pragma HLS UNROLL
        dots[pe] = 0;
        borrows[pe] = 0;
    }
    slice_loop: for (int pe = 0; pe < N; pe += lanes) {
#pragma HLS UNROLL
        sum_loop: for (int from = 0; from < C::simd; from += C::terms) {
#pragma HLS UNROLL
            typename C::packed_sum_t sum = 0;
            ap_uint<lanes> odd = 0;
            term_loop: for (int k = 0; k < C::terms; k++) {
#pragma HLS UNROLL
                if (from + k < C::simd) {
                    const in_t input = get<in_t>(x, first + from + k);
                    ap_uint<bits> factor = 0;
                    mac_lane<C, 0>::template pack<N>(factor, ap_uint<1>(0), weights, pe, from + k);
                    sum += mac_product<typename C::packed_t, in_t, true>::of(typename C::packed_t(factor), input);
                    lane_loop: for (int i = 1; i < lanes && pe + i < N; i++) {
#pragma HLS UNROLL
                        const weight_t w = mac_read<C>(weights, (pe + i) * C::simd + from + k);
                        odd[i] = ap_uint<1>(odd[i]) ^ mac_odd(w, input);
                    }
                }
            }
            mac_lane<C, 0>::template unpack<N>(dots, borrows, sum, odd, ap_uint<1>(0), pe);
        }
    }
    borrow_loop: for (int pe = 0; pe < N; pe++) {
#pragma HLS UNROLL
        dots[pe] += borrows[pe];
    }
}

template <class C, class = void> struct mac_all {
    template <int N, class ROW>
    static void of(typename C::dot_t (&dots)[N], const ap_uint<C::in_width>& x, int first, const ROW& weights) {
#pragma HLS INLINE
        pe_loop: for (int pe = 0; pe < N; pe++) {
#pragma HLS UNROLL
            dots[pe] = mac_dot<C>(x, first, 1, weights, pe);
        }
    }
};

template <class C> struct mac_all<C, typename mac_present<typename C::lanes>::type> {
    template <int N, class ROW>
    static void of(typename C::dot_t (&dots)[N], const ap_uint<C::in_width>& x, int first, const ROW& weights) {
#pragma HLS INLINE
        mac_packed<C>(dots, x, first, weights);
    }
};

// mac_dots computes mac_dot for N channels that multiply the same elements of x, which begin at `first`.
template <class C, int N, class ROW>
void mac_dots(typename C::dot_t (&dots)[N], const ap_uint<C::in_width>& x, int first, const ROW& weights) {
#pragma HLS INLINE
    mac_all<C>::of(dots, x, first, weights);
}

} // namespace hlsgen

#endif
