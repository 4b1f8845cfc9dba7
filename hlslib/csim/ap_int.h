// ap_int<W> and ap_uint<W> for C simulation without vendor tools: the part of AMD's ap_int.h that hlsgen's kernels
// use, with the same widths of results, so that a project compiles unchanged against either.
//
// A value of at most 64 bits is stored in one machine word, sign- or zero-extended. A wider value is stored in an
// array of machine words, of which the highest is extended. Results have the widths of AMD's headers: a sum is one bit
// wider, and a product as wide as both factors together; a shift keeps the type of its left operand. A variable that
// is not initialised has any value, as with AMD's headers.
//
// This file is stricter than AMD's where AMD's surprises. A comparison of a signed with an unsigned value does not
// compile; AMD's compares bit patterns from 32 bits on. The operators &=, |= and ^= with another width do not compile;
// AMD's prints a warning in every call. A bit range outside of the word aborts the program.
//
// A network has hundreds of widths, and every template of a width is compiled for each. To keep compile times short,
// only types and operators are templates. Functions with a variable number of machine words do the work for wide
// values, and only code that prints includes <string>.
#ifndef HLSGEN_CSIM_AP_INT_H
#define HLSGEN_CSIM_AP_INT_H

#include <cstdio>
#include <cstdlib>
#include <iosfwd>
#include <type_traits>

#ifndef AP_INT_MAX_W
#define AP_INT_MAX_W 1024
#endif

typedef long long ap_slong;
typedef unsigned long long ap_ulong;

template <int W, bool S> struct ap_int_base;
struct ap_range_ref;
struct ap_bit_ref;

namespace ap_detail {

constexpr int max(int a, int b) { return a > b ? a : b; }
constexpr int min(int a, int b) { return a < b ? a : b; }
constexpr int limbs(int w) { return (w + 63) / 64; }

// low keeps the lowest n bits, 1 <= n <= 64.
constexpr ap_ulong low(ap_ulong v, int n) { return v & (~0ULL >> (64 - n)); }

// canon extends the lowest n bits to 64.
constexpr ap_ulong canon(ap_ulong v, int n, bool is_signed) {
    return is_signed ? static_cast<ap_ulong>(static_cast<ap_slong>(v << (64 - n)) >> (64 - n)) : low(v, n);
}

[[noreturn]] inline void fail(const char* what, int a, int b, int width) {
    std::fflush(stdout);
    std::fprintf(stderr, "ap_int: %s (%d, %d) in a word of %d bits\n", what, a, b, width);
    std::abort();
}

// limbs_of gives read access to a value of any width: limb(i) returns bits 64*i to 64*i+63 of the extended value, for
// any i.
struct limbs_of {
    const ap_ulong* V;
    int n;
    ap_ulong extension;

    ap_ulong limb(int i) const { return i < n ? V[i] : extension; }
};

// store holds the limbs of a value. They are 0 before the first assignment: compilers may drop an assignment to some
// bits if the other bits have no value. Code that changes limbs of a value of `width` bits must normalise it
// afterwards.
template <int L, bool S> struct store {
    ap_ulong V[L];

    constexpr store() : V{} {}
    constexpr store(ap_ulong v, ap_ulong extension, int width) : V{} {
        V[0] = v;
        for (int i = 1; i < L; i++) V[i] = extension;
        V[L - 1] = canon(V[L - 1], width - 64 * (L - 1), S);
    }

    ap_ulong extension() const { return S && static_cast<ap_slong>(V[L - 1]) < 0 ? ~0ULL : 0; }
    ap_ulong limb(int i) const { return i < L ? V[i] : extension(); }
    limbs_of all() const { return limbs_of{V, L, extension()}; }
    void normalise(int width) { V[L - 1] = canon(V[L - 1], width - 64 * (L - 1), S); }
    void take(const limbs_of& o, int width) {
        for (int i = 0; i < L; i++) V[i] = o.limb(i);
        normalise(width);
    }
};

// The following functions compute the n limbs of a result. The result may be stored in an operand, except for a
// product.
inline void add(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    ap_ulong carry = 0;
    for (int i = 0; i < n; i++) {
        const ap_ulong x = a.limb(i), y = b.limb(i), s = x + y, t = s + carry;
        carry = (s < x) | (t < s);
        r[i] = t;
    }
}
inline void subtract(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    ap_ulong borrow = 0;
    for (int i = 0; i < n; i++) {
        const ap_ulong x = a.limb(i), y = b.limb(i), d = x - y, t = d - borrow;
        borrow = (x < y) | (d < borrow);
        r[i] = t;
    }
}
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
inline void multiply(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    for (int i = 0; i < n; i++) r[i] = 0;
    for (int i = 0; i < n; i++) {
        ap_ulong carry = 0;
        for (int j = 0; i + j < n; j++) {
            const uint128 t = static_cast<uint128>(a.limb(i)) * b.limb(j) + r[i + j] + carry;
            r[i + j] = static_cast<ap_ulong>(t);
            carry = static_cast<ap_ulong>(t >> 64);
        }
    }
}
inline void conjunction(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    for (int i = 0; i < n; i++) r[i] = a.limb(i) & b.limb(i);
}
inline void disjunction(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    for (int i = 0; i < n; i++) r[i] = a.limb(i) | b.limb(i);
}
inline void difference(ap_ulong* r, int n, const limbs_of& a, const limbs_of& b) {
    for (int i = 0; i < n; i++) r[i] = a.limb(i) ^ b.limb(i);
}
inline void left(ap_ulong* r, int n, const limbs_of& a, int by) {
    const int k = by / 64, shift = by % 64;
    for (int i = n - 1; i >= 0; i--) {
        ap_ulong v = i >= k ? a.limb(i - k) << shift : 0;
        if (shift != 0 && i > k) v |= a.limb(i - k - 1) >> (64 - shift);
        r[i] = v;
    }
}
inline void right(ap_ulong* r, int n, const limbs_of& a, int by) {
    const int k = by / 64, shift = by % 64;
    for (int i = 0; i < n; i++) {
        ap_ulong v = a.limb(i + k) >> shift;
        if (shift != 0) v |= a.limb(i + k + 1) << (64 - shift);
        r[i] = v;
    }
}
inline bool equal(const limbs_of& a, const limbs_of& b) {
    for (int i = max(a.n, b.n); i >= 0; i--)
        if (a.limb(i) != b.limb(i)) return false;
    return true;
}
inline bool less(const limbs_of& a, const limbs_of& b) {
    if (a.extension != b.extension) return a.extension != 0;
    for (int i = max(a.n, b.n) - 1; i >= 0; i--)
        if (a.limb(i) != b.limb(i)) return a.limb(i) < b.limb(i);
    return false;
}

// native is the C type that a value converts to.
template <int W, bool S> struct native {
    typedef typename std::conditional<
        (W <= 8), signed char,
        typename std::conditional<(W <= 16), short,
                                  typename std::conditional<(W <= 32), int, ap_slong>::type>::type>::type s;
    typedef typename std::conditional<S, s, typename std::make_unsigned<s>::type>::type type;
};
template <> struct native<1, false> { typedef bool type; };

// c_int gives the number of bits of a C integer.
template <class T> struct c_int {
    static const bool value = std::is_integral<T>::value || std::is_enum<T>::value;
    static const int width = std::is_same<T, bool>::value ? 1 : 8 * static_cast<int>(sizeof(T));
    static const bool is_signed = std::is_enum<T>::value || std::is_signed<T>::value;
    typedef ap_int_base<width, is_signed> type;
};
template <class T> using if_c_int = typename std::enable_if<c_int<T>::value, int>::type;

// The types of results.
template <int W1, bool S1, int W2, bool S2> struct result {
    static const int common = max(W1 + (S2 && !S1), W2 + (S1 && !S2));
    typedef ap_int_base<common + 1, (S1 || S2)> plus;
    typedef ap_int_base<common + 1, true> minus;
    typedef ap_int_base<W1 + W2, (S1 || S2)> mult;
    typedef ap_int_base<W1 + S2, (S1 || S2)> div;
    typedef ap_int_base<min(W1, W2 + (!S2 && S1)), S1> mod;
    typedef ap_int_base<common, (S1 || S2)> logic;
};

} // namespace ap_detail

// ap_bit_ref refers to one bit of a word, which can be read or assigned.
struct ap_bit_ref {
    ap_ulong* const V;
    const int width, index;
    const bool is_signed;

    __attribute__((always_inline)) ap_bit_ref(ap_ulong* v, int w, bool s, int i) : V(v), width(w), index(i), is_signed(s) {
        if (i < 0 || i >= w) ap_detail::fail("bit", i, i, w);
    }
    ap_bit_ref(const ap_bit_ref&) = default;
    operator bool() const { return (V[index / 64] >> (index % 64)) & 1; }
    bool to_bool() const { return *this; }
    __attribute__((always_inline)) ap_bit_ref& operator=(bool v) {
        const ap_ulong bit = 1ULL << (index % 64), old = V[index / 64];
        V[index / 64] = v ? old | bit : old & ~bit;
        const int top = (width - 1) / 64;
        V[top] = ap_detail::canon(V[top], width - 64 * top, is_signed);
        return *this;
    }
    ap_bit_ref& operator=(const ap_bit_ref& o) { return *this = static_cast<bool>(o); }
    template <int W2, bool S2> ap_bit_ref& operator=(const ap_int_base<W2, S2>& o) { return *this = o.to_bool(); }
};

// ap_range_ref refers to the bits h..l of a word, which can be read as an unsigned value, or assigned. Convert it to a
// typed value before computing with it.
struct ap_range_ref {
    ap_ulong* const V;
    const int width, h, l;
    const bool is_signed;

    __attribute__((always_inline)) ap_range_ref(ap_ulong* v, int w, bool s, int high, int low) : V(v), width(w), h(high), l(low), is_signed(s) {
        if (low < 0 || high < low || high >= w) ap_detail::fail("range", high, low, w);
    }
    ap_range_ref(const ap_range_ref&) = default;
    int length() const { return h - l + 1; }

    // limb returns bits 64*i to 64*i+63 of the range.
    __attribute__((always_inline)) ap_ulong limb(int i) const { return length() > 64 * i ? get(l + 64 * i, ap_detail::min(64, length() - 64 * i)) : 0; }

    template <int W2, bool S2> __attribute__((always_inline)) ap_range_ref& operator=(const ap_int_base<W2, S2>& o) {
        if (length() > 64) assign(o.all());
        else set(l, length(), o.V[0]);
        return normalise();
    }
    inline ap_range_ref& operator=(const ap_range_ref& o);
    template <class T, ap_detail::if_c_int<T> = 0> ap_range_ref& operator=(T v) {
        return *this = typename ap_detail::c_int<T>::type(v);
    }
    operator ap_ulong() const { return limb(0); }
    ap_ulong to_uint64() const { return limb(0); }
    ap_slong to_int64() const { return static_cast<ap_slong>(limb(0)); }
    unsigned to_uint() const { return static_cast<unsigned>(limb(0)); }
    int to_int() const { return static_cast<int>(limb(0)); }

private:
    // get and set read and write n bits that begin at bit `from`, 1 <= n <= 64.
    __attribute__((always_inline)) ap_ulong get(int from, int n) const {
        if (width <= 64) return ap_detail::low(V[0] >> from, n);
        const int k = from / 64, shift = from % 64;
        ap_ulong v = V[k] >> shift;
        if (shift + n > 64) v |= V[k + 1] << (64 - shift);
        return ap_detail::low(v, n);
    }
    __attribute__((always_inline)) void set(int from, int n, ap_ulong v) {
        const int k = width <= 64 ? 0 : from / 64, shift = width <= 64 ? from : from % 64;
        const ap_ulong mask = ap_detail::low(~0ULL, n), bits = v & mask;
        V[k] = (V[k] & ~(mask << shift)) | (bits << shift);
        if (width > 64 && shift + n > 64) V[k + 1] = (V[k + 1] & ~(mask >> (64 - shift))) | (bits >> (64 - shift));
    }
    __attribute__((noinline)) void assign(const ap_detail::limbs_of& o) {
        for (int i = 0; 64 * i < length(); i++) set(l + 64 * i, ap_detail::min(64, length() - 64 * i), o.limb(i));
    }
    __attribute__((always_inline)) ap_range_ref& normalise() {
        const int top = (width - 1) / 64;
        V[top] = ap_detail::canon(V[top], width - 64 * top, is_signed);
        return *this;
    }
};

// ap_int_base is an integer of W bits, in two's complement if S is set.
template <int W, bool S> struct ap_int_base : ap_detail::store<ap_detail::limbs(W), S> {
    typedef ap_detail::store<ap_detail::limbs(W), S> store;
    typedef typename ap_detail::native<W, S>::type RetType;
    static const int width = W;
    static const bool small = W <= 64;
    using store::V;

    ap_int_base() = default;
    template <class T, ap_detail::if_c_int<T> = 0>
    constexpr ap_int_base(T v) : store(static_cast<ap_ulong>(v), v < T(0) ? ~0ULL : 0, W) {}
    template <int W2, bool S2> ap_int_base(const ap_int_base<W2, S2>& o) {
        if (small) V[0] = ap_detail::canon(o.V[0], ap_detail::min(W, 64), S);
        else this->take(o.all(), W);
    }
    ap_int_base(const ap_range_ref& o) {
        for (int i = 0; i < ap_detail::limbs(W); i++) V[i] = o.limb(i);
        this->normalise(W);
    }
    ap_int_base(const ap_bit_ref& o) : store(o.to_bool(), 0, W) {}

    operator RetType() const { return static_cast<RetType>(V[0]); }
    bool to_bool() const { return small ? V[0] != 0 : !ap_detail::equal(this->all(), ap_detail::limbs_of{V, 0, 0}); }
    int to_int() const { return static_cast<int>(V[0]); }
    unsigned to_uint() const { return static_cast<unsigned>(V[0]); }
    ap_slong to_int64() const { return static_cast<ap_slong>(V[0]); }
    ap_ulong to_uint64() const { return V[0]; }
    int length() const { return W; }
    bool sign() const { return this->extension() != 0; }

    ap_range_ref range(int hi, int lo) { return ap_range_ref(V, W, S, hi, lo); }
    ap_range_ref range(int hi, int lo) const { return ap_range_ref(const_cast<ap_ulong*>(V), W, S, hi, lo); }
    ap_range_ref range() { return range(W - 1, 0); }
    ap_range_ref operator()(int hi, int lo) { return range(hi, lo); }
    ap_range_ref operator()(int hi, int lo) const { return range(hi, lo); }
    ap_bit_ref operator[](int i) { return ap_bit_ref(V, W, S, i); }
    bool operator[](int i) const { return ap_bit_ref(const_cast<ap_ulong*>(V), W, S, i); }

    ap_int_base<W + 1, true> operator-() const { return ap_int_base<1, false>(0) - *this; }
    ap_int_base operator+() const { return *this; }
    ap_int_base operator~() const {
        ap_int_base r;
        for (int i = 0; i < ap_detail::limbs(W); i++) r.V[i] = ~V[i];
        r.normalise(W);
        return r;
    }
    bool operator!() const { return !to_bool(); }
    ap_int_base& operator++() { return *this += 1; }
    ap_int_base& operator--() { return *this -= 1; }
    ap_int_base operator++(int) { ap_int_base old = *this; *this += 1; return old; }
    ap_int_base operator--(int) { ap_int_base old = *this; *this -= 1; return old; }

    ap_int_base operator<<(int n) const { return n < 0 ? right(-n) : left(n); }
    ap_int_base operator>>(int n) const { return n < 0 ? left(-n) : right(n); }
    template <int W2, bool S2> ap_int_base operator<<(const ap_int_base<W2, S2>& n) const { return *this << n.to_int(); }
    template <int W2, bool S2> ap_int_base operator>>(const ap_int_base<W2, S2>& n) const { return *this >> n.to_int(); }
    ap_int_base& operator<<=(int n) { return *this = *this << n; }
    ap_int_base& operator>>=(int n) { return *this = *this >> n; }

// The following operators keep only the low W bits of their results, which depend only on low bits of the operands.
#define HLSGEN_ANY_WIDTH(width)
#define HLSGEN_SAME_WIDTH(width) static_assert(W == width, "assigning bits of another width: bring both to one first");
#define HLSGEN_ASSIGN_OP(op, of_limbs, WIDTHS)                                                                                 \
    template <class T, ap_detail::if_c_int<T> = 0> ap_int_base& operator op##=(T o) {                                  \
        WIDTHS(ap_detail::c_int<T>::width)                                                                             \
        if (!small) return *this op##= typename ap_detail::c_int<T>::type(o);                                          \
        V[0] = ap_detail::canon(V[0] op static_cast<ap_ulong>(o), ap_detail::min(W, 64), S);                           \
        return *this;                                                                                                  \
    }                                                                                                                  \
    template <int W2, bool S2> ap_int_base& operator op##=(const ap_int_base<W2, S2>& o) {                             \
        WIDTHS(W2)                                                                                                     \
        if (small) {                                                                                                   \
            V[0] = ap_detail::canon(V[0] op o.V[0], ap_detail::min(W, 64), S);                                         \
        } else {                                                                                                       \
            ap_int_base r; /* o may be this */                                                                         \
            ap_detail::of_limbs(r.V, ap_detail::limbs(W), this->all(), o.all());                                       \
            r.normalise(W);                                                                                            \
            *this = r;                                                                                                 \
        }                                                                                                              \
        return *this;                                                                                                  \
    }
    HLSGEN_ASSIGN_OP(+, add, HLSGEN_ANY_WIDTH)
    HLSGEN_ASSIGN_OP(-, subtract, HLSGEN_ANY_WIDTH)
    HLSGEN_ASSIGN_OP(*, multiply, HLSGEN_ANY_WIDTH)
    HLSGEN_ASSIGN_OP(&, conjunction, HLSGEN_SAME_WIDTH)
    HLSGEN_ASSIGN_OP(|, disjunction, HLSGEN_SAME_WIDTH)
    HLSGEN_ASSIGN_OP(^, difference, HLSGEN_SAME_WIDTH)
#undef HLSGEN_ASSIGN_OP
#undef HLSGEN_SAME_WIDTH
#undef HLSGEN_ANY_WIDTH
    template <class T> ap_int_base& operator/=(const T& o) { return *this = *this / o; }
    template <class T> ap_int_base& operator%=(const T& o) { return *this = *this % o; }

    // to_string writes the value in radix 2, 10 or 16 with the prefixes 0b and 0x.
    template <class STRING = std::string> STRING to_string(int radix = 2) const {
        STRING digits;
        ap_int_base u = *this;
        const bool minus = S && radix == 10 && sign();
        if (minus) u = -*this;
        u.V[ap_detail::limbs(W) - 1] = ap_detail::canon(u.limb(ap_detail::limbs(W) - 1), W - 64 * (ap_detail::limbs(W) - 1), false);
        bool rest = true;
        while (rest) {
            ap_ulong carry = 0;
            rest = false;
            for (int i = 2 * ap_detail::limbs(W) - 1; i >= 0; i--) {
                const int shift = 32 * (i % 2);
                ap_ulong& limb = u.V[i / 2];
                const ap_ulong part = carry << 32 | ap_detail::low(limb >> shift, 32);
                const ap_ulong q = part / static_cast<ap_ulong>(radix);
                carry = part % static_cast<ap_ulong>(radix);
                rest = rest || q != 0;
                limb = (limb & ~(0xffffffffULL << shift)) | q << shift;
            }
            digits.insert(digits.begin(), "0123456789abcdef"[carry]);
        }
        return (minus ? "-" : radix == 16 ? "0x" : radix == 2 ? "0b" : "") + digits;
    }

private:
    ap_int_base left(int n) const {
        ap_int_base r;
        if (n >= W) return r = 0;
        if (small) r.V[0] = V[0] << n;
        else ap_detail::left(r.V, ap_detail::limbs(W), this->all(), n);
        r.normalise(W);
        return r;
    }
    ap_int_base right(int n) const {
        ap_int_base r;
        if (small) r.V[0] = S ? static_cast<ap_ulong>(to_int64() >> ap_detail::min(n, 63)) : n < 64 ? V[0] >> n : 0;
        else ap_detail::right(r.V, ap_detail::limbs(W), this->all(), ap_detail::min(n, W));
        r.normalise(W);
        return r;
    }
};

// Source and destination may overlap, so the value is copied first.
ap_range_ref& ap_range_ref::operator=(const ap_range_ref& o) { return *this = ap_int_base<AP_INT_MAX_W, false>(o); }

namespace ap_detail {

template <int W, bool S> int128 wide(const ap_int_base<W, S>& a) {
    static_assert(W <= 64, "division is provided up to 64 bits");
    return S ? static_cast<int128>(a.to_int64()) : static_cast<int128>(a.to_uint64());
}
template <class R> R narrow(int128 v) {
    R r;
    const ap_ulong both[2] = {static_cast<ap_ulong>(v), static_cast<ap_ulong>(v >> 64)};
    r.take(limbs_of{both, 2, 0}, R::width);
    return r;
}

template <bool S1, bool S2> void same_sign() {
    static_assert(S1 == S2, "comparing a signed with an unsigned ap_int: bring both to one type first");
}
// c_compare converts a C integer to a value with signedness S, that of the other operand.
template <bool S, class T> ap_int_base<(S && !c_int<T>::is_signed) + c_int<T>::width, S> c_compare(T v) {
    if (!S && v < T(0)) fail("comparing an unsigned value with a negative number", static_cast<int>(v), 0, c_int<T>::width);
    return v;
}

} // namespace ap_detail

// AP_BINARY_OP defines the two forms of an operator with a C integer as one operand.
#define AP_BINARY_OP(op, kind)                                                                                         \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0>                                                      \
    typename ap_detail::result<W, S, ap_detail::c_int<T>::width, ap_detail::c_int<T>::is_signed>::kind operator op(    \
        const ap_int_base<W, S>& a, T b) {                                                                             \
        return a op typename ap_detail::c_int<T>::type(b);                                                             \
    }                                                                                                                  \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0>                                                      \
    typename ap_detail::result<ap_detail::c_int<T>::width, ap_detail::c_int<T>::is_signed, W, S>::kind operator op(    \
        T a, const ap_int_base<W, S>& b) {                                                                             \
        return typename ap_detail::c_int<T>::type(a) op b;                                                             \
    }                                                                                                                  \
    template <int W1, bool S1, int W2, bool S2>                                                                        \
    typename ap_detail::result<W1, S1, W2, S2>::kind operator op(const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b)

// HLSGEN_EXACT_OP defines an operator whose result always fits its type.
#define HLSGEN_EXACT_OP(op, kind, of_limbs)                                                                            \
    AP_BINARY_OP(op, kind) {                                                                                           \
        typename ap_detail::result<W1, S1, W2, S2>::kind r;                                                            \
        if (r.small) {                                                                                                 \
            r.V[0] = a.V[0] op b.V[0];                                                                                 \
        } else {                                                                                                       \
            ap_detail::of_limbs(r.V, ap_detail::limbs(r.width), a.all(), b.all());                                     \
            r.normalise(r.width);                                                                                      \
        }                                                                                                              \
        return r;                                                                                                      \
    }
HLSGEN_EXACT_OP(+, plus, add)
HLSGEN_EXACT_OP(-, minus, subtract)
HLSGEN_EXACT_OP(*, mult, multiply)
HLSGEN_EXACT_OP(&, logic, conjunction)
HLSGEN_EXACT_OP(|, logic, disjunction)
HLSGEN_EXACT_OP(^, logic, difference)
AP_BINARY_OP(/, div) { return ap_detail::narrow<typename ap_detail::result<W1, S1, W2, S2>::div>(ap_detail::wide(a) / ap_detail::wide(b)); }
AP_BINARY_OP(%, mod) { return ap_detail::narrow<typename ap_detail::result<W1, S1, W2, S2>::mod>(ap_detail::wide(a) % ap_detail::wide(b)); }
#undef HLSGEN_EXACT_OP
#undef AP_BINARY_OP

// HLSGEN_COMPARE_OP defines a comparison by the functions equal or less, perhaps with swapped operands.
#define HLSGEN_COMPARE_OP(op, of_limbs)                                                                                \
    template <int W1, bool S1, int W2, bool S2>                                                                        \
    bool operator op(const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b) {                                     \
        ap_detail::same_sign<S1, S2>();                                                                                \
        if (W1 > 64 || W2 > 64) return of_limbs;                                                                       \
        return S1 ? a.to_int64() op b.to_int64() : a.V[0] op b.V[0];                                                   \
    }                                                                                                                  \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0> bool operator op(const ap_int_base<W, S>& a, T b) {  \
        return a op ap_detail::c_compare<S>(b);                                                                        \
    }                                                                                                                  \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0> bool operator op(T a, const ap_int_base<W, S>& b) {  \
        return ap_detail::c_compare<S>(a) op b;                                                                        \
    }
HLSGEN_COMPARE_OP(==, ap_detail::equal(a.all(), b.all()))
HLSGEN_COMPARE_OP(!=, !ap_detail::equal(a.all(), b.all()))
HLSGEN_COMPARE_OP(<, ap_detail::less(a.all(), b.all()))
HLSGEN_COMPARE_OP(>, ap_detail::less(b.all(), a.all()))
HLSGEN_COMPARE_OP(<=, !ap_detail::less(b.all(), a.all()))
HLSGEN_COMPARE_OP(>=, !ap_detail::less(a.all(), b.all()))
#undef HLSGEN_COMPARE_OP

template <class C, class TRAITS, int W, bool S>
std::basic_ostream<C, TRAITS>& operator<<(std::basic_ostream<C, TRAITS>& o, const ap_int_base<W, S>& v) {
    return o << v.to_string(10);
}

#define HLSGEN_AP_TYPE(name, is_signed)                                                                                \
    template <int W> struct name : ap_int_base<W, is_signed> {                                                         \
        static_assert(W >= 1 && W <= AP_INT_MAX_W, "an ap_int has 1 to AP_INT_MAX_W bits");                            \
        typedef ap_int_base<W, is_signed> base;                                                                        \
        name() = default;                                                                                              \
        template <class T, ap_detail::if_c_int<T> = 0> constexpr name(T v) : base(v) {}                                \
        template <int W2, bool S2> name(const ap_int_base<W2, S2>& o) : base(o) {}                                     \
        name(const ap_range_ref& o) : base(o) {}                                                                       \
        name(const ap_bit_ref& o) : base(o) {}                                                                         \
    };
HLSGEN_AP_TYPE(ap_int, true)
HLSGEN_AP_TYPE(ap_uint, false)
#undef HLSGEN_AP_TYPE

#endif
