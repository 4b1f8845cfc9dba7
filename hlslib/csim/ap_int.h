// ap_int<W> and ap_uint<W> for C simulation without vendor tools: the part of AMD's ap_int.h that hlsgen's kernels use,
// with the same widths of results, so that a project compiles unchanged against either.
//
// A value of at most 64 bits lies in one machine word, sign- or zero-extended; a wider one in an array of such words,
// the highest one extended. Results grow as AMD's do: a sum by one bit, a product to both widths together; shifts keep
// the type of their left operand. A variable that is not initialised holds anything, as with AMD's headers.
//
// Stricter than AMD's where those surprise: comparing a signed with an unsigned value does not compile (theirs compares
// bit patterns from 32 bits on), and a bit range outside the word aborts.
#ifndef HLSGEN_CSIM_AP_INT_H
#define HLSGEN_CSIM_AP_INT_H

#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <type_traits>

#ifndef AP_INT_MAX_W
#define AP_INT_MAX_W 1024
#endif

typedef long long ap_slong;
typedef unsigned long long ap_ulong;

template <int W, bool S> struct ap_int_base;
template <int W, bool S> struct ap_range_ref;
template <int W, bool S> struct ap_bit_ref;

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

// storage of W bits, 0 where nothing was assigned: compilers may drop what is put beside bits that have no value at all.
// limb(i) is the i-th 64 bits of the value extended without end.
template <int W, bool S, bool SMALL = (W <= 64)> struct storage {
    typedef typename std::conditional<S, ap_slong, ap_ulong>::type word;
    word V;

    constexpr storage() : V(0) {}
    constexpr explicit storage(ap_ulong v) : V(static_cast<word>(canon(v, W, S))) {}

    ap_ulong limb(int i) const { return i == 0 ? static_cast<ap_ulong>(V) : extension(); }
    ap_ulong extension() const { return S && static_cast<ap_slong>(V) < 0 ? ~0ULL : 0; }
    void set_limb(int, ap_ulong v) { V = static_cast<word>(v); }
    void normalise() { V = static_cast<word>(canon(static_cast<ap_ulong>(V), W, S)); }
};

template <int W, bool S> struct storage<W, S, false> {
    static const int L = limbs(W);
    ap_ulong V[L];

    constexpr storage() : V{} {}

    ap_ulong limb(int i) const { return i < L ? V[i] : extension(); }
    ap_ulong extension() const { return S && static_cast<ap_slong>(V[L - 1]) < 0 ? ~0ULL : 0; }
    void set_limb(int i, ap_ulong v) { V[i] = v; }
    void normalise() { V[L - 1] = canon(V[L - 1], W - 64 * (L - 1), S); }
};

// native is the C type that a value converts to.
template <int W, bool S> struct native {
    typedef typename std::conditional<
        (W <= 8), signed char,
        typename std::conditional<(W <= 16), short,
                                  typename std::conditional<(W <= 32), int, ap_slong>::type>::type>::type s;
    typedef typename std::conditional<S, s, typename std::make_unsigned<s>::type>::type type;
};
template <> struct native<1, false> { typedef bool type; };

// c_int says how many bits a C integer stands for.
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

// ap_bit_ref is one bit of a word, to be read or assigned.
template <int W, bool S> struct ap_bit_ref {
    ap_int_base<W, S>& base;
    int index;

    ap_bit_ref(ap_int_base<W, S>& b, int i) : base(b), index(i) {}
    ap_bit_ref(const ap_bit_ref&) = default;
    operator bool() const { return (base.limb(index / 64) >> (index % 64)) & 1; }
    bool to_bool() const { return *this; }
    ap_bit_ref& operator=(bool v) {
        const ap_ulong bit = 1ULL << (index % 64), old = base.limb(index / 64);
        base.set_limb(index / 64, v ? old | bit : old & ~bit);
        base.normalise();
        return *this;
    }
    ap_bit_ref& operator=(const ap_bit_ref& o) { return *this = static_cast<bool>(o); }
    template <int W2, bool S2> ap_bit_ref& operator=(const ap_int_base<W2, S2>& o) { return *this = o.to_bool(); }
};

// ap_range_ref is the bits h..l of a word, to be read (as an unsigned value) or assigned. Turn it into a typed value
// before computing with it.
template <int W, bool S> struct ap_range_ref {
    ap_int_base<W, S>& base;
    int h, l;

    ap_range_ref(ap_int_base<W, S>& b, int high, int low) : base(b), h(high), l(low) {
        if (low < 0 || high < low || high >= W) ap_detail::fail("range", high, low, W);
    }
    ap_range_ref(const ap_range_ref&) = default;
    int length() const { return h - l + 1; }

    // limb is the i-th 64 bits of the range.
    ap_ulong limb(int i) const {
        const int n = length() - 64 * i;
        if (n <= 0) return 0;
        const int at = l + 64 * i, k = at / 64, shift = at % 64;
        ap_ulong v = base.limb(k) >> shift;
        if (shift != 0 && n > 64 - shift) v |= base.limb(k + 1) << (64 - shift);
        return n >= 64 ? v : ap_detail::low(v, n);
    }
    template <class T> void assign(const T& o) {
        for (int i = 0; 64 * i < length(); i++) {
            const int n = ap_detail::min(64, length() - 64 * i), at = l + 64 * i, k = at / 64, shift = at % 64;
            const ap_ulong v = ap_detail::low(o.limb(i), n), mask = ap_detail::low(~0ULL, n);
            base.set_limb(k, (base.limb(k) & ~(mask << shift)) | (v << shift));
            if (shift + n > 64)
                base.set_limb(k + 1, (base.limb(k + 1) & ~(mask >> (64 - shift))) | (v >> (64 - shift)));
        }
        base.normalise();
    }
    template <int W2, bool S2> ap_range_ref& operator=(const ap_int_base<W2, S2>& o) { assign(o); return *this; }
    template <int W2, bool S2> ap_range_ref& operator=(const ap_range_ref<W2, S2>& o) { return *this = ap_int_base<W2, false>(o); }
    ap_range_ref& operator=(const ap_range_ref& o) { return *this = ap_int_base<W, false>(o); }
    template <class T, ap_detail::if_c_int<T> = 0> ap_range_ref& operator=(T v) {
        assign(typename ap_detail::c_int<T>::type(v));
        return *this;
    }
    operator ap_ulong() const { return limb(0); }
    ap_ulong to_uint64() const { return limb(0); }
    ap_slong to_int64() const { return static_cast<ap_slong>(limb(0)); }
    unsigned to_uint() const { return static_cast<unsigned>(limb(0)); }
    int to_int() const { return static_cast<int>(limb(0)); }
};

// ap_int_base is an integer of W bits, two's complement where S.
template <int W, bool S> struct ap_int_base : ap_detail::storage<W, S> {
    typedef ap_detail::storage<W, S> store;
    typedef typename ap_detail::native<W, S>::type RetType;
    static const int width = W;
    static const bool small = W <= 64;

    ap_int_base() = default;
    template <class T, ap_detail::if_c_int<T> = 0>
    constexpr ap_int_base(T v) : store(start(static_cast<ap_ulong>(v), v < T(0), std::integral_constant<bool, small>())) {}
    template <int W2, bool S2> ap_int_base(const ap_int_base<W2, S2>& o) { take(o); }
    template <int W2, bool S2> ap_int_base(const ap_range_ref<W2, S2>& o) { take(o); }
    template <int W2, bool S2> ap_int_base(const ap_bit_ref<W2, S2>& o) : ap_int_base(static_cast<bool>(o)) {}

    // take assigns the low W bits of anything with limbs.
    template <class T> void take(const T& o) {
        for (int i = 0; i < ap_detail::limbs(W); i++) this->set_limb(i, o.limb(i));
        this->normalise();
    }

    operator RetType() const { return static_cast<RetType>(this->limb(0)); }
    bool to_bool() const { return *this != ap_int_base(0); }
    int to_int() const { return static_cast<int>(this->limb(0)); }
    unsigned to_uint() const { return static_cast<unsigned>(this->limb(0)); }
    ap_slong to_int64() const { return static_cast<ap_slong>(this->limb(0)); }
    ap_ulong to_uint64() const { return this->limb(0); }
    int length() const { return W; }
    bool sign() const { return this->extension() != 0; }

    ap_range_ref<W, S> range(int hi, int lo) { return ap_range_ref<W, S>(*this, hi, lo); }
    ap_range_ref<W, S> range(int hi, int lo) const { return ap_range_ref<W, S>(const_cast<ap_int_base&>(*this), hi, lo); }
    ap_range_ref<W, S> range() { return range(W - 1, 0); }
    ap_range_ref<W, S> operator()(int hi, int lo) { return range(hi, lo); }
    ap_range_ref<W, S> operator()(int hi, int lo) const { return range(hi, lo); }
    ap_bit_ref<W, S> operator[](int i) {
        if (i < 0 || i >= W) ap_detail::fail("bit", i, i, W);
        return ap_bit_ref<W, S>(*this, i);
    }
    bool operator[](int i) const { return const_cast<ap_int_base&>(*this)[i]; }

    ap_int_base<W + 1, true> operator-() const { return ap_int_base<1, false>(0) - *this; }
    ap_int_base operator+() const { return *this; }
    ap_int_base operator~() const {
        ap_int_base r;
        for (int i = 0; i < ap_detail::limbs(W); i++) r.set_limb(i, ~this->limb(i));
        r.normalise();
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

#define HLSGEN_ASSIGN_OP(op)                                                                                           \
    template <class T, ap_detail::if_c_int<T> = 0> ap_int_base& operator op##=(T o) {                                  \
        return *this op##= typename ap_detail::c_int<T>::type(o);                                                      \
    }                                                                                                                  \
    template <int W2, bool S2> ap_int_base& operator op##=(const ap_int_base<W2, S2>& o) {                             \
        const auto r = *this op o;                                                                                     \
        take(r);                                                                                                       \
        return *this;                                                                                                  \
    }
    HLSGEN_ASSIGN_OP(+)
    HLSGEN_ASSIGN_OP(-)
    HLSGEN_ASSIGN_OP(*)
    HLSGEN_ASSIGN_OP(/)
    HLSGEN_ASSIGN_OP(%)
    HLSGEN_ASSIGN_OP(&)
    HLSGEN_ASSIGN_OP(|)
    HLSGEN_ASSIGN_OP(^)
#undef HLSGEN_ASSIGN_OP

    // to_string writes the value in radix 2, 10 or 16 with the prefixes 0b and 0x.
    std::string to_string(int radix = 2) const {
        std::string digits;
        ap_int_base v = *this;
        const bool minus = S && radix == 10 && sign();
        if (minus) v.take(-*this);
        ap_detail::storage<W, false> u;
        for (int i = 0; i < ap_detail::limbs(W); i++) u.set_limb(i, v.limb(i));
        u.normalise();
        bool rest = true;
        while (rest) {
            ap_ulong carry = 0;
            rest = false;
            for (int i = 2 * ap_detail::limbs(W) - 1; i >= 0; i--) {
                const int shift = 32 * (i % 2);
                const ap_ulong limb = u.limb(i / 2), part = carry << 32 | ap_detail::low(limb >> shift, 32);
                const ap_ulong q = part / static_cast<ap_ulong>(radix);
                carry = part % static_cast<ap_ulong>(radix);
                rest = rest || q != 0;
                u.set_limb(i / 2, (limb & ~(0xffffffffULL << shift)) | q << shift);
            }
            digits.insert(digits.begin(), "0123456789abcdef"[carry]);
        }
        return (minus ? "-" : radix == 16 ? "0x" : radix == 2 ? "0b" : "") + digits;
    }

private:
    static constexpr store start(ap_ulong v, bool, std::true_type) { return store(v); }
    static store start(ap_ulong v, bool negative, std::false_type) {
        store s;
        s.set_limb(0, v);
        for (int i = 1; i < ap_detail::limbs(W); i++) s.set_limb(i, negative ? ~0ULL : 0);
        s.normalise();
        return s;
    }
    ap_int_base left(int n) const {
        if (n >= W) return ap_int_base(0);
        ap_int_base r;
        const int k = n / 64, shift = n % 64;
        for (int i = ap_detail::limbs(W) - 1; i >= 0; i--) {
            ap_ulong v = i >= k ? this->limb(i - k) << shift : 0;
            if (shift != 0 && i > k) v |= this->limb(i - k - 1) >> (64 - shift);
            r.set_limb(i, v);
        }
        r.normalise();
        return r;
    }
    ap_int_base right(int n) const {
        n = ap_detail::min(n, W);
        ap_int_base r;
        const int k = n / 64, shift = n % 64;
        for (int i = 0; i < ap_detail::limbs(W); i++) {
            ap_ulong v = this->limb(i + k) >> shift;
            if (shift != 0) v |= this->limb(i + k + 1) << (64 - shift);
            r.set_limb(i, v);
        }
        r.normalise();
        return r;
    }
};

namespace ap_detail {

// exact is a result of at most 64 bits whose value fits its type.
template <class R> R exact(ap_ulong v) {
    R r;
    r.set_limb(0, v);
    return r;
}

template <class R, class A, class B> R add(const A& a, const B& b, std::true_type) { return exact<R>(a.limb(0) + b.limb(0)); }
template <class R, class A, class B> R sub(const A& a, const B& b, std::true_type) { return exact<R>(a.limb(0) - b.limb(0)); }
template <class R, class A, class B> R mul(const A& a, const B& b, std::true_type) { return exact<R>(a.limb(0) * b.limb(0)); }

template <class R, class A, class B> R add(const A& a, const B& b, std::false_type) {
    R r;
    ap_ulong carry = 0;
    for (int i = 0; i < limbs(R::width); i++) {
        const ap_ulong x = a.limb(i), y = b.limb(i), s = x + y, t = s + carry;
        carry = (s < x) | (t < s);
        r.set_limb(i, t);
    }
    r.normalise();
    return r;
}
template <class R, class A, class B> R sub(const A& a, const B& b, std::false_type) {
    R r;
    ap_ulong borrow = 0;
    for (int i = 0; i < limbs(R::width); i++) {
        const ap_ulong x = a.limb(i), y = b.limb(i), d = x - y, t = d - borrow;
        borrow = (x < y) | (d < borrow);
        r.set_limb(i, t);
    }
    r.normalise();
    return r;
}
// mul goes by 32 bit digits; both operands are extended to the width of the product.
template <class R, class A, class B> R mul(const A& a, const B& b, std::false_type) {
    const int n = 2 * limbs(R::width);
    ap_ulong digit[n] = {};
    for (int i = 0; i < n; i++) {
        const ap_ulong x = low(a.limb(i / 2) >> (32 * (i % 2)), 32);
        ap_ulong carry = 0;
        for (int j = 0; i + j < n; j++) {
            const ap_ulong t = digit[i + j] + x * low(b.limb(j / 2) >> (32 * (j % 2)), 32) + carry;
            digit[i + j] = low(t, 32);
            carry = t >> 32;
        }
    }
    R r;
    for (int i = 0; i < limbs(R::width); i++) r.set_limb(i, digit[2 * i] | digit[2 * i + 1] << 32);
    r.normalise();
    return r;
}

__extension__ typedef __int128 int128;
template <int W, bool S> int128 wide(const ap_int_base<W, S>& a) {
    static_assert(W <= 64, "division is provided up to 64 bits");
    return S ? static_cast<int128>(a.to_int64()) : static_cast<int128>(a.to_uint64());
}
template <class R> R narrow(int128 v) {
    R r;
    r.set_limb(0, static_cast<ap_ulong>(v));
    if (R::width > 64) r.set_limb(limbs(R::width) - 1, static_cast<ap_ulong>(v >> 64));
    r.normalise();
    return r;
}

template <class A, class B> bool equal(const A& a, const B& b) {
    for (int i = max(limbs(A::width), limbs(B::width)) - 1; i >= 0; i--)
        if (a.limb(i) != b.limb(i)) return false;
    return a.extension() == b.extension();
}
template <class A, class B> bool less(const A& a, const B& b) {
    if (a.extension() != b.extension()) return a.extension() != 0;
    for (int i = max(limbs(A::width), limbs(B::width)) - 1; i >= 0; i--)
        if (a.limb(i) != b.limb(i)) return a.limb(i) < b.limb(i);
    return false;
}
template <bool S1, bool S2> void same_sign() {
    static_assert(S1 == S2, "comparing a signed with an unsigned ap_int: bring both to one type first");
}
// c_compare is a C integer as a value of the sign S of the other side.
template <bool S, class T> ap_int_base<(S && !c_int<T>::is_signed) + c_int<T>::width, S> c_compare(T v) {
    if (!S && v < T(0)) fail("comparing an unsigned value with a negative number", static_cast<int>(v), 0, c_int<T>::width);
    return v;
}

} // namespace ap_detail

// HLSGEN_BINARY_OP gives an operator its two forms with a C integer on one side.
#define HLSGEN_BINARY_OP(op, kind)                                                                                     \
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

HLSGEN_BINARY_OP(+, plus) {
    typedef typename ap_detail::result<W1, S1, W2, S2>::plus R;
    return ap_detail::add<R>(a, b, std::integral_constant<bool, R::small>());
}
HLSGEN_BINARY_OP(-, minus) {
    typedef typename ap_detail::result<W1, S1, W2, S2>::minus R;
    return ap_detail::sub<R>(a, b, std::integral_constant<bool, R::small>());
}
HLSGEN_BINARY_OP(*, mult) {
    typedef typename ap_detail::result<W1, S1, W2, S2>::mult R;
    return ap_detail::mul<R>(a, b, std::integral_constant<bool, R::small>());
}
HLSGEN_BINARY_OP(/, div) { return ap_detail::narrow<typename ap_detail::result<W1, S1, W2, S2>::div>(ap_detail::wide(a) / ap_detail::wide(b)); }
HLSGEN_BINARY_OP(%, mod) { return ap_detail::narrow<typename ap_detail::result<W1, S1, W2, S2>::mod>(ap_detail::wide(a) % ap_detail::wide(b)); }

#define HLSGEN_LOGIC_OP(op)                                                                                            \
    HLSGEN_BINARY_OP(op, logic) {                                                                                      \
        typename ap_detail::result<W1, S1, W2, S2>::logic r;                                                           \
        for (int i = 0; i < ap_detail::limbs(r.width); i++) r.set_limb(i, a.limb(i) op b.limb(i));                     \
        r.normalise();                                                                                                 \
        return r;                                                                                                      \
    }
HLSGEN_LOGIC_OP(&)
HLSGEN_LOGIC_OP(|)
HLSGEN_LOGIC_OP(^)
#undef HLSGEN_LOGIC_OP
#undef HLSGEN_BINARY_OP

#define HLSGEN_COMPARE_OP(op, expression)                                                                              \
    template <int W1, bool S1, int W2, bool S2>                                                                        \
    bool operator op(const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b) {                                     \
        ap_detail::same_sign<S1, S2>();                                                                                \
        return expression;                                                                                             \
    }                                                                                                                  \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0> bool operator op(const ap_int_base<W, S>& a, T b) {  \
        return a op ap_detail::c_compare<S>(b);                                                                        \
    }                                                                                                                  \
    template <int W, bool S, class T, ap_detail::if_c_int<T> = 0> bool operator op(T a, const ap_int_base<W, S>& b) {  \
        return ap_detail::c_compare<S>(a) op b;                                                                        \
    }
HLSGEN_COMPARE_OP(==, ap_detail::equal(a, b))
HLSGEN_COMPARE_OP(!=, !ap_detail::equal(a, b))
HLSGEN_COMPARE_OP(<, ap_detail::less(a, b))
HLSGEN_COMPARE_OP(>, ap_detail::less(b, a))
HLSGEN_COMPARE_OP(<=, !ap_detail::less(b, a))
HLSGEN_COMPARE_OP(>=, !ap_detail::less(a, b))
#undef HLSGEN_COMPARE_OP

template <int W, bool S> std::ostream& operator<<(std::ostream& o, const ap_int_base<W, S>& v) { return o << v.to_string(10); }

#define HLSGEN_AP_TYPE(name, is_signed)                                                                                \
    template <int W> struct name : ap_int_base<W, is_signed> {                                                         \
        static_assert(W >= 1 && W <= AP_INT_MAX_W, "an ap_int has 1 to AP_INT_MAX_W bits");                            \
        typedef ap_int_base<W, is_signed> base;                                                                        \
        name() = default;                                                                                              \
        template <class T, ap_detail::if_c_int<T> = 0> constexpr name(T v) : base(v) {}                                \
        template <int W2, bool S2> name(const ap_int_base<W2, S2>& o) : base(o) {}                                     \
        template <int W2, bool S2> name(const ap_range_ref<W2, S2>& o) : base(o) {}                                    \
        template <int W2, bool S2> name(const ap_bit_ref<W2, S2>& o) : base(o) {}                                      \
    };
HLSGEN_AP_TYPE(ap_int, true)
HLSGEN_AP_TYPE(ap_uint, false)
#undef HLSGEN_AP_TYPE

#endif
