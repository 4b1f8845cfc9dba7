// The recurrent engine. A frame is a sequence of time steps. A step runs the phases of the cell for each turn. Turns
// are interleaved sequences, or the directions of one sequence. A phase computes its units one after the other: first
// the dot products
//     sum[dot] = sum over k of W[dot][unit][k]*v[k]
// with one vector v, which is a state or the result of an earlier phase; then the cell's program, which C::clock
// contains: sums with the input, products, step functions, requantisers. A step ends with new states. An iteration
// multiplies simd elements of v for the dots of pe units, which are a word. In the first phase, the last iteration of
// a word also reads the input. The last iteration of a word writes the outputs of the phase.
//
// C has the members of the streams, tables and memories, and
//     length, turns, cells         time steps of a frame; turns of a step; cells, which are the turns of a sequence
//     phases                       phases of a step
//     nf, sf, idle                 by phase: words of a turn, clocks of a word, and idle clocks after the last turn
//     head, rest                   clocks in which initial states arrive, and idle clocks after them
//     pe, simd, dots               units, elements of a vector, and dots of a unit per iteration
//     sums                         by phase: 1 if it has dots
//     parts, fills                 words of SIMD elements, and words of PE units, in a word of a vector
//     vector_t, vector_width       type of the vectors' elements, and bits of a vector's word
//     sequence                     every step is written, else only the last step
//     steps                        a frame is a sequence of any length; clock has a stream of ends as first argument
//     keeps                        a frame starts with the states at the end of the frame before
//     acc_t, dot_t, use_dsp ...    members that core/mac.hpp describes
//     clock                        one iteration with the states and the cells' program, generated for this layer
#ifndef HLSGEN_RNN_HPP
#define HLSGEN_RNN_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/memory.hpp"
#include "core/requant.hpp"
#include "core/word.hpp"

namespace hlsgen {

// rnn_most is the greatest number of a list.
template <class LIST> struct rnn_most;

template <int N> struct rnn_most<counts<N> > { static const int value = N; };

template <int N, int NEXT, int... REST> struct rnn_most<counts<N, NEXT, REST...> > {
    static const int others = rnn_most<counts<NEXT, REST...> >::value, value = N > others ? N : others;
};

// rnn_first is the first number of a list.
template <class LIST> struct rnn_first;

template <int N, int... REST> struct rnn_first<counts<N, REST...> > { static const int value = N; };

// rnn_pick returns the number for a phase from a list that begins with the number for phase FIRST.
template <int FIRST, int N, class PHASE> int rnn_pick(const counts<N>&, const PHASE&) {
#pragma HLS INLINE
    return N;
}

template <int FIRST, int N, int NEXT, int... REST, class PHASE> int rnn_pick(const counts<N, NEXT, REST...>&, const PHASE& phase) {
#pragma HLS INLINE
    return phase == FIRST ? N : rnn_pick<FIRST + 1>(counts<NEXT, REST...>(), phase);
}

// rnn_next returns the number for the phase after the given phase, which is not the last.
template <int FIRST, int N, int NEXT, class PHASE> int rnn_next(const counts<N, NEXT>&, const PHASE&) {
#pragma HLS INLINE
    return NEXT;
}

template <int FIRST, int N, class PHASE> int rnn_next(const counts<N>&, const PHASE&) {
#pragma HLS INLINE
    return N;
}

template <int FIRST, int N, int NEXT, int THIRD, int... REST, class PHASE>
int rnn_next(const counts<N, NEXT, THIRD, REST...>&, const PHASE& phase) {
#pragma HLS INLINE
    return phase == FIRST ? NEXT : rnn_next<FIRST + 1>(counts<NEXT, THIRD, REST...>(), phase);
}

// rnn_any reports whether the number for a phase is not zero.
template <int FIRST, int N, class PHASE> bool rnn_any(const counts<N>&, const PHASE& phase) {
#pragma HLS INLINE
    return N > 0 && phase == FIRST;
}

template <int FIRST, int N, int NEXT, int... REST, class PHASE> bool rnn_any(const counts<N, NEXT, REST...>&, const PHASE& phase) {
#pragma HLS INLINE
    return (N > 0 && phase == FIRST) | rnn_any<FIRST + 1>(counts<NEXT, REST...>(), phase);
}

// rnn_place is the layer's position in a frame.
template <class C> struct rnn_place {
    typedef typename C::nf nf_list;
    typedef typename C::sf sf_list;
    typedef typename C::idle idle_list;
    static const int words = C::turns * rnn_most<nf_list>::value, wait = rnn_most<idle_list>::value;

    ap_uint<1> arrived, waiting; // the initial states have arrived; the layer idles after the last turn of a phase
    ap_uint<count_width(C::head + C::rest > wait ? C::head + C::rest : wait)> count; // clocks of arrival, or of idling
    ap_uint<count_width(C::length)> t;
    ap_uint<count_width(C::phases)> phase;
    ap_uint<count_width(C::turns)> turn;
    ap_uint<count_width(C::cells)> cell;
    bool begun;                                                 // the clock is not the first of its word
    // Remaining clocks of the word after this one, remaining words of the turn after this one, and the values of both
    // at the beginning of a word and of a turn. All four are reduced by the first phase's initial value, so they start
    // at 0.
    ap_int<count_width(rnn_most<sf_list>::value) + 1> left, whole;
    ap_int<count_width(rnn_most<nf_list>::value) + 1> words_left, all_words;
    ap_uint<count_width(words > C::head ? words : C::head)> at; // word of the phase, or of the arriving states
    ap_uint<count_width(words)> word;                           // word of the cells: the row of their tables
    ap_uint<count_width(C::weights_rows)> row, base;            // row of the weights, and first row of the phase
    ap_uint<count_width(C::parts)> part;                        // which simd elements of the vector's word are read
    ap_uint<count_width(rnn_most<sf_list>::value)> from;        // number of the vector's word that is read
    ap_uint<count_width(C::fills)> filled;                      // words of PE units in the vector's collected word
    ap_uint<count_width(words > C::head ? words : C::head)> to; // number of the vector's collected word
    ap_uint<1> half;                                            // the half that is read, of memories with two halves
    ap_uint<1> closing;                                         // with ends: the word is the last of its step
    ap_uint<1> stepped;                                         // a step has computed the states; they are not initial

    static const bool single = C::phases == 1 && words == 1; // every word is the last of its step
    static const int last_clock = 1 - rnn_first<sf_list>::value, last_word = 1 - rnn_first<nf_list>::value;

    // A reset sets all bits to zero, so the constructor must do the same.
    constexpr rnn_place()
        : arrived(0), waiting(0), count(0), t(0), phase(0), turn(0), cell(0), begun(false), left(0), whole(0), words_left(0), all_words(0), at(0), word(0), row(0), base(0), part(0),
          from(0), filled(0), to(0), half(0), closing(0), stepped(0) {}

    // arriving reports whether initial states arrive, and first whether the states are still the initial ones.
    bool arriving() const {
#pragma HLS INLINE
        return C::head > 0 && arrived == 0;
    }

    bool first() const {
#pragma HLS INLINE
        return stepped == 0;
    }

    // in reports whether the iteration works in phase p.
    bool in(int p) const {
#pragma HLS INLINE
        return !arriving() && waiting == 0 && phase == p;
    }

    // ends reports whether the iteration completes a word of phase p, and goes_out whether the step's results are
    // written.
    bool ends(int p) const {
#pragma HLS INLINE
        return in(p) && left == last_clock;
    }

    bool goes_out() const {
#pragma HLS INLINE
        return C::sequence || t == C::length - 1;
    }

    // arrives reports whether a word of a state with this number of words arrives.
    bool arrives(int words) const {
#pragma HLS INLINE
        return arriving() && count < words;
    }

    // full reports whether the word of PE units completes a word of a vector.
    bool full() const {
#pragma HLS INLINE
        return filled == C::fills - 1;
    }

    // written returns the half that is written.
    ap_uint<1> written() const {
#pragma HLS INLINE
        return arriving() ? half : ap_uint<1>(1 - half);
    }

    // finished reports whether the iteration completes a step. It is used with a stream of ends.
    bool finished() const {
#pragma HLS INLINE
        const bool closes = single || closing == 1;
        return closes & completes();
    }

    // completes reports whether the iteration completes a word.
    bool completes() const {
#pragma HLS INLINE
        const bool complete = left == last_clock, works = waiting == 0;
        return complete & works & !arriving();
    }

    // next advances to the next clock. The first clock of the next frame follows the last clock of a frame. All
    // decisions compare values from before the call.
    void next() {
#pragma HLS INLINE
        if (C::steps && !single) {
            const bool ends = completes(), close = closes(), stays = closing == 1;
            closing = (ends & close) | (!ends & stays);
        }
        if (arriving()) {
            gathered();
            at += 1;
            if (count != C::head + C::rest - 1) {
                count += 1;
                return;
            }
            arrived = 1;
            leave();
        } else if (waiting == 0) {
            next_clock();
        } else if (count == 0) {
            waiting = 0;
        } else {
            count -= 1;
        }
    }

    // follow completes next after a finished step: the stream of ends has told whether the step was the last of the
    // sequence. This information comes late, so follow changes only a few registers.
    void follow(bool last) {
#pragma HLS INLINE
        if (C::keeps) return;
        if (!last) {
            half = 1 - half;
            stepped = 1;
            return;
        }
        arrived = 0;
        waiting = 0;
        count = 0;
        half = 0;
        stepped = 0;
    }

private:
    // over reports whether the step is the last of its frame, without a stream of ends. If states are kept, no step
    // is.
    bool over() const {
#pragma HLS INLINE
        return !C::steps && !C::keeps && t == C::length - 1;
    }

    // gathered counts a word of PE units.
    void gathered() {
#pragma HLS INLINE
        if (filled != C::fills - 1) {
            filled += 1;
            return;
        }
        filled = 0;
        to += 1;
    }

    // leave resets the counters of a phase.
    void leave() {
#pragma HLS INLINE
        count = 0;
        turn = 0;
        cell = 0;
        at = 0;
        word = 0;
        filled = 0;
        to = 0;
    }

    void next_clock() {
#pragma HLS INLINE
        if (rnn_any<0>(typename C::sums(), phase)) row += 1;
        if (left == last_clock) {
            begun = false;
            left = whole;
            part = 0;
            from = 0;
            next_word();
            return;
        }
        begun = true;
        left -= 1;
        if (part != C::parts - 1) {
            part += 1;
            return;
        }
        part = 0;
        from += 1;
    }

    // closes reports whether the word after the one just completed is the last of its step.
    bool closes() const {
#pragma HLS INLINE
        const int most = rnn_pick<0>(nf_list(), C::phases - 1);
        const bool last = phase == C::phases - 1, before = C::phases > 1 && phase == C::phases - 2, last_turn = turn == C::turns - 1,
                   turn_before = C::turns > 1 && turn == C::turns - 2, word_before = words_left == last_word + 1, turned = words_left == last_word;
        return most > 1 ? last & last_turn & word_before : C::turns > 1 ? last & turn_before : before & last_turn & turned;
    }

    void next_word() {
#pragma HLS INLINE
        gathered();
        at += 1;
        word += 1;
        if (words_left != last_word) {
            words_left -= 1;
            return;
        }
        words_left = all_words;
        if (turn == C::turns - 1) {
            leave();
            if (phase == C::phases - 1 && over()) {
                *this = rnn_place();
                return;
            }
            if (rnn_any<0>(idle_list(), phase)) {
                waiting = 1;
                count = rnn_pick<0>(idle_list(), phase) - 1;
            }
            next_phase();
            return;
        }
        turn += 1;
        if (cell != C::cells - 1) {
            cell += 1;
            return;
        }
        cell = 0;
        word = 0;
        row = base;
    }

    // next_phase advances to the next phase, or to the first phase of the next step.
    void next_phase() {
#pragma HLS INLINE
        if (phase != C::phases - 1) {
            whole = rnn_next<0>(sf_list(), phase) - rnn_first<sf_list>::value;
            all_words = rnn_next<0>(nf_list(), phase) - rnn_first<nf_list>::value;
            left = whole;
            words_left = all_words;
            base = row;
            phase += 1;
            return;
        }
        left = 0;
        whole = 0;
        words_left = 0;
        all_words = 0;
        phase = 0;
        row = 0;
        base = 0;
        t = C::keeps && t == C::length - 1 ? ap_uint<count_width(C::length)>(0) : ap_uint<count_width(C::length)>(t + 1);
        if (C::steps && !C::keeps) return; // follow does the rest
        half = 1 - half;
        stepped = 1;
    }
};

// rnn_dot is the config for core/mac.hpp: its inputs are words of a vector.
template <class C> struct rnn_dot : C {
    typedef typename C::vector_t in_t;
    static const int in_width = C::vector_width;
};

// rnn_sums adds the products of one clock to the accumulators.
template <class C, class ACC, class W> void rnn_sums(const rnn_place<C>& at, ACC& acc, const ap_uint<C::vector_width>& vector, const W& weights) {
#pragma HLS INLINE
    typename C::dot_t sums[C::pe * C::dots];
#pragma HLS ARRAY_PARTITION variable=sums complete dim=1
    mac_dots<rnn_dot<C> >(sums, vector, int(at.part) * C::simd, weights[at.row]);
    lane_loop: for (int lane = 0; lane < C::pe * C::dots; lane++) {
#pragma HLS UNROLL
        typename C::acc_t sum = 0;
        if (at.begun) sum = acc[lane];
        sum += sums[lane];
        acc[lane] = sum;
    }
}

// rnn_constant returns N in the narrowest type.
template <long long N> ap_int<requant_bits(requant_magnitude(N)) + 1> rnn_constant() {
#pragma HLS INLINE
    return N;
}

// rnn_product returns a times b, computed in a DSP slice or in LUTs.
template <bool DSP, class A, class B> auto rnn_product(const A& a, const B& b) {
#pragma HLS INLINE
    return mac_product<A, B, DSP>::of(a, b);
}

// rnn_word converts the N elements of a table's row from type FROM to type TO and returns them as a word.
template <class TO, class FROM, int PER_LIMB, int N, class ROW> ap_uint<N * element_type<TO>::width> rnn_word(const ROW& row) {
#pragma HLS INLINE
    ap_uint<N * element_type<TO>::width> word = 0;
    element_loop: for (int i = 0; i < N; i++) {
#pragma HLS UNROLL
        put(word, i, TO(element<FROM, PER_LIMB>(row, i)));
    }
    return word;
}

// rnn_gather shifts the newest units of a vector into the high end of a word.
template <int W, int NEW> void rnn_gather(ap_uint<W>& word, const ap_uint<NEW>& units) {
#pragma HLS INLINE
    word >>= NEW % W;
    word.range(W - 1, W - NEW) = units;
}

// rnn runs one iteration of the layer.
template <class C, class... ARGS> void rnn(ARGS&... args) {
#pragma HLS INLINE
    C::template clock<C>(args...);
}

} // namespace hlsgen

#endif
