// Elements, and the words that carry them. If elements have W bits, element i of a word has its bits [i*W, (i+1)*W).
#ifndef HLSGEN_CORE_WORD_HPP
#define HLSGEN_CORE_WORD_HPP

#include <ap_int.h>

namespace hlsgen {

// bipolar is a number -1 or +1, coded in one bit. The bit is 0 for -1.
struct bipolar {
    ap_uint<1> bit;

    bipolar() {}
    bipolar(int value) : bit(value > 0) {}
    operator int() const { return bit == 1 ? 1 : -1; }
};

// minifloat is a code for a whole number: a significand of few bits times 2^shift. The magnitude of the code has an
// exponent in its high bits and MANTISSA bits below. If the exponent is 0, the significand is these bits, and the
// shift is 0. Else the significand has an additional leading one, and the shift is the exponent minus 1. A negative
// number has the inverted magnitude after a sign bit, so that codes are ordered as their numbers. A minifloat is
// constructed from a code, which is in two's complement if it is signed.
template <int WIDTH, int MANTISSA, bool SIGNED> struct minifloat {
    static const int exponent = WIDTH - MANTISSA - (SIGNED ? 1 : 0);
    static const int shifts = (1 << exponent) - 2; // the largest shift
    ap_uint<WIDTH> bits;

    minifloat() {}
    template <int W> minifloat(const ap_uint<W>& code) : bits(code) {}
    template <int W> minifloat(const ap_int<W>& code) : bits(ap_uint<W>(code)) {}

    bool negative() const { return SIGNED && bits[WIDTH - 1] == 1; }
    ap_uint<exponent + MANTISSA> magnitude() const {
        ap_uint<exponent + MANTISSA> m = bits;
        if (negative()) m = ~m;
        return m;
    }
    ap_uint<exponent> power() const { return ap_uint<exponent>(magnitude() >> MANTISSA); }
    ap_uint<MANTISSA + 1> significand() const {
        ap_uint<MANTISSA + 1> s = magnitude();
        s[MANTISSA] = power() != 0;
        return s;
    }
    ap_uint<exponent> shift() const {
        ap_uint<exponent> s = power();
        if (s != 0) s -= 1;
        return s;
    }
};

// element_type describes an element in bits: its width, how it is read and written, and the width of its number in
// arithmetic.
template <class T> struct element_type;

template <int W> struct element_type<ap_uint<W>> {
    static const int width = W;
    static const int signed_width = W + 1; // two's complement bits that hold every value
    static ap_uint<W> decode(const ap_uint<W>& bits) { return bits; }
    static ap_uint<W> encode(const ap_uint<W>& value) { return value; }
};

template <int W> struct element_type<ap_int<W>> {
    static const int width = W;
    static const int signed_width = W;
    static ap_int<W> decode(const ap_uint<W>& bits) { return ap_int<W>(bits); }
    static ap_uint<W> encode(const ap_int<W>& value) { return ap_uint<W>(value); }
};

template <> struct element_type<bipolar> {
    static const int width = 1;
    static const int signed_width = 2;
    static bipolar decode(const ap_uint<1>& bits) {
        bipolar value;
        value.bit = bits;
        return value;
    }
    static ap_uint<1> encode(const bipolar& value) { return value.bit; }
};

template <int W, int M, bool S> struct element_type<minifloat<W, M, S>> {
    static const int width = W;
    static const int signed_width = M + 2 + minifloat<W, M, S>::shifts;
    static minifloat<W, M, S> decode(const ap_uint<W>& bits) { return minifloat<W, M, S>(bits); }
    static ap_uint<W> encode(const minifloat<W, M, S>& value) { return value.bits; }
};

// number returns an element as an operand of arithmetic.
template <int W> ap_uint<W> number(const ap_uint<W>& value) { return value; }
template <int W> ap_int<W> number(const ap_int<W>& value) { return value; }
inline ap_int<2> number(const bipolar& value) { return ap_int<2>(int(value)); }
template <int W, int M, bool S>
ap_int<element_type<minifloat<W, M, S>>::signed_width> number(const minifloat<W, M, S>& value) {
#pragma HLS INLINE
    ap_int<element_type<minifloat<W, M, S>>::signed_width> plus = value.significand();
    plus <<= value.shift().to_int();
    if (value.negative()) plus = -plus;
    return plus;
}

// get reads element i of a word.
template <class T, int N> T get(const ap_uint<N>& word, int i) {
#pragma HLS INLINE
    const int width = element_type<T>::width;
    const ap_uint<width> bits = word.range((i + 1) * width - 1, i * width);
    return element_type<T>::decode(bits);
}

// put writes element i of a word.
template <class T, int N> void put(ap_uint<N>& word, int i, const T& value) {
#pragma HLS INLINE
    const int width = element_type<T>::width;
    const ap_uint<width> bits = element_type<T>::encode(value);
    word.range((i + 1) * width - 1, i * width) = bits;
}

// recoding::of converts an element from type FROM to type TO.
template <class TO, class FROM> struct recoding {
    static TO of(const FROM& value) { return TO(number(value)); }
};

template <class T> struct recoding<T, T> {
    static T of(const T& value) { return value; }
};

// recode converts the elements of a word from type FROM to type TO, which holds all their values.
template <class TO, class FROM, int N>
ap_uint<N / element_type<FROM>::width * element_type<TO>::width> recode(const ap_uint<N>& word) {
#pragma HLS INLINE
    const int count = N / element_type<FROM>::width;
    ap_uint<count * element_type<TO>::width> recoded = 0;
    element_loop: for (int i = 0; i < count; i++) {
#pragma HLS UNROLL
        put(recoded, i, recoding<TO, FROM>::of(get<FROM>(word, i)));
    }
    return recoded;
}

// types, counts and numbers are lists in a config struct: element types by port, numbers by port or phase, and
// constants.
template <class... T> struct types {};
template <int... N> struct counts {};
template <long long... N> struct numbers {};

// limb is a word of a table, with at most 64 bits. In C simulation it is a plain integer, because a table of classes
// takes compilers ten times the time and memory. With the vendor's headers, such a table would not even be constant.
#ifdef __SYNTHESIS__
template <int W> using limb = ap_uint<W>;
#else
template <int W> using limb = unsigned long long;
#endif

// element reads element i of a table's row. A row is an array of limbs, and a limb has PER_LIMB elements.
template <class T, int PER_LIMB, int LIMB, int LIMBS> T element(const ap_uint<LIMB> (&row)[LIMBS], int i) {
#pragma HLS INLINE
    return get<T>(row[i / PER_LIMB], i % PER_LIMB);
}

template <class T, int PER_LIMB, int LIMBS> T element(const unsigned long long (&row)[LIMBS], int i) {
    const int width = element_type<T>::width;
    return element_type<T>::decode(ap_uint<width>(row[i / PER_LIMB] >> (i % PER_LIMB * width)));
}

} // namespace hlsgen

#endif
