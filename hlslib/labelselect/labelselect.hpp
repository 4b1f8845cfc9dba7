// The selection of labels. The output has the indices of the k labels that come first in the order, among the folds*pe
// labels of a vector. An iteration reads pe labels, sorts them, and merges them with the first k labels so far. The
// last iteration of a vector writes a word, in which the index of the first label has the lowest bits.
//
// C has the members in_t, in_width, out_t, out_width of the streams, and
//     folds, pe             words of a vector, and labels of a word
//     k                     indices of an output word
//     largest, last_first   the largest label comes first; among equal labels the higher index comes first
#ifndef HLSGEN_LABELSELECT_HPP
#define HLSGEN_LABELSELECT_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/word.hpp"

namespace hlsgen {

// labelselect_list is a sorted list of N labels. It has two words: the labels, and their indices in the vector.
template <class C, int N> struct labelselect_list {
    static const int label_width = element_type<typename C::in_t>::width;
    static const int index_width = element_type<typename C::out_t>::width;
    ap_uint<N * label_width> labels;
    ap_uint<N * index_width> indices;

    constexpr labelselect_list() : labels(0), indices(0) {}
};

// labelselect_before reports whether label a comes before label b. The index of a is the lower one.
template <class C> bool labelselect_before(const typename C::in_t& a, const typename C::in_t& b) {
#pragma HLS INLINE
    const bool above = number(a) > number(b), below = number(a) < number(b);
    const bool wins = C::largest ? above : below, loses = C::largest ? below : above;
    return C::last_first ? wins : !loses;
}

// labelselect_join merges two sorted lists and returns the first N labels. All indices in a are lower than those in b.
// Only the first `taken` places of a are in use, and all places of b. All pairs of labels are compared at the same
// time. A label's place in the result is its own place plus the number of labels of the other list that come before
// it.
template <class C, int N, int A, int B>
labelselect_list<C, N> labelselect_join(const labelselect_list<C, A>& a, int taken, const labelselect_list<C, B>& b) {
#pragma HLS INLINE
    typedef typename C::in_t label_t;
    typedef ap_uint<labelselect_list<C, N>::label_width> label_bits;
    typedef ap_uint<labelselect_list<C, N>::index_width> index_bits;
    ap_uint<A * B> ahead = 0; // bit i*B + j: label i of a comes before label j of b
    first_loop: for (int i = 0; i < A; i++) {
#pragma HLS UNROLL
        second_loop: for (int j = 0; j < B; j++) {
#pragma HLS UNROLL
            ahead[i * B + j] = i < taken && labelselect_before<C>(get<label_t>(a.labels, i), get<label_t>(b.labels, j));
        }
    }

    labelselect_list<C, N> y;
    place_loop: for (int p = 0; p < N; p++) {
#pragma HLS UNROLL
        label_bits label = 0;
        index_bits index = 0;
        source_loop: for (int i = 0; i <= p; i++) {
#pragma HLS UNROLL
            const int j = p - i;
            if (i < A && j <= B) { // label i of a, with j labels of b before it
                const bool here = (j == 0 || !ahead[i * B + j - 1]) && (j == B || ahead[i * B + j]);
                label |= here ? get<label_bits>(a.labels, i) : label_bits(0);
                index |= here ? get<index_bits>(a.indices, i) : index_bits(0);
            }
            if (i <= A && j < B) { // label j of b, with i labels of a before it
                const bool here = (i == 0 || ahead[(i - 1) * B + j]) && (i == A || !ahead[i * B + j]);
                label |= here ? get<label_bits>(b.labels, j) : label_bits(0);
                index |= here ? get<index_bits>(b.indices, j) : index_bits(0);
            }
        }
        put(y.labels, p, label);
        put(y.indices, p, index);
    }
    return y;
}

// labelselect_word::order sorts the COUNT labels of a word from label FIRST on, and returns the first k of them.
// Indices count from the word's first label.
template <class C, int FIRST, int COUNT> struct labelselect_word {
    static const int places = COUNT < C::k ? COUNT : C::k;
    static labelselect_list<C, places> order(const ap_uint<C::in_width>& x) {
#pragma HLS INLINE
        typedef labelselect_word<C, FIRST, COUNT / 2> low;
        typedef labelselect_word<C, FIRST + COUNT / 2, COUNT - COUNT / 2> high;
        return labelselect_join<C, places>(low::order(x), low::places, high::order(x));
    }
};

template <class C, int FIRST> struct labelselect_word<C, FIRST, 1> {
    static const int places = 1;
    static labelselect_list<C, 1> order(const ap_uint<C::in_width>& x) {
#pragma HLS INLINE
        labelselect_list<C, 1> y;
        put(y.labels, 0, get<typename C::in_t>(x, FIRST));
        put(y.indices, 0, typename C::out_t(FIRST));
        return y;
    }
};

// labelselect runs one iteration of the layer.
template <class C>
void labelselect(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    typedef labelselect_word<C, 0, C::pe> word;
    typedef typename C::out_t index_t;
    static labelselect_list<C, C::k> kept;
#pragma HLS RESET variable=kept off
    static ap_uint<count_width(C::folds * C::pe)> place = 0;
#pragma HLS RESET variable=place
    const ap_uint<count_width(C::folds * C::pe)> seen = place; // labels read of the vector before this word

    if (in.empty()) return;
    labelselect_list<C, word::places> y = word::order(in.read());
    index_loop: for (int p = 0; p < word::places; p++) {
#pragma HLS UNROLL
        put(y.indices, p, index_t(get<index_t>(y.indices, p) + seen));
    }
    const labelselect_list<C, C::k> first = labelselect_join<C, C::k>(kept, int(seen), y);
    kept = first;
    const bool last = seen == (C::folds - 1) * C::pe;
    if (last) out.write(first.indices);
    place = last ? 0 : int(seen) + C::pe;
}

} // namespace hlsgen

#endif
