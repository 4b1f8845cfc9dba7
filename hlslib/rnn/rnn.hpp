// The recurrent engine.
// A frame is time steps. In each, the turns (sequences, or directions of one) run the phases of a cell, unit by unit:
// first the sums of products
//     sum[dot] = sum over k of W[dot][unit][k]*v[k]
// with the vector v that the phase looks at, a state or what an earlier phase has made; then the cell's program, which
// is C::clock: sums with the input, products, step functions, requantisers. A step ends with new states. An iteration
// takes simd elements of v for the dots of pe units. The last of a word's reads the input in the first phase, and
// writes what goes out of the phase.
//
// C has the members of the streams, tables and memories, and
//     length, turns, cells         time steps of a frame; turns of a step, and how many of them are of one sequence
//     phases                       phases of a step
//     nf, sf, idle                 of each phase: words of a turn, clocks of a word, clocks after the last turn in which nothing
//                                  is done
//     head, rest                   clocks in which states arrive before the first step, and in which nothing is done then
//     pe, simd, dots               what is unrolled: units, elements of a vector, dots of a unit
//     sums                         of each phase: 1 where there are dots
//     parts, fills                 words of SIMD elements, and of PE units, in a word of a vector
//     vector_t, vector_width       an element of what dots multiply, and a word of them
//     sequence                     every step goes out, else the last one
//     steps                        a frame is a sequence of any length, and clock takes a stream of ends in front
//     keeps                        a frame goes on where the one before ended
//     acc_t, dot_t, use_dsp ...    what core/mac.hpp asks for
//     clock                        is one iteration: what is kept, and the program of the cells, which is written for this layer
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

// rnn_most is the greatest of a list.
template <class LIST> struct rnn_most;

template <int N> struct rnn_most<counts<N> > { static const int value = N; };

template <int N, int NEXT, int... REST> struct rnn_most<counts<N, NEXT, REST...> > {
    static const int others = rnn_most<counts<NEXT, REST...> >::value, value = N > others ? N : others;
};

// rnn_first is the first of a list.
template <class LIST> struct rnn_first;

template <int N, int... REST> struct rnn_first<counts<N, REST...> > { static const int value = N; };

// rnn_pick is what a list has of a phase, where its first number is that of phase FIRST.
template <int FIRST, int N, class PHASE> int rnn_pick(const counts<N>&, const PHASE&) {
#pragma HLS INLINE
    return N;
}

template <int FIRST, int N, int NEXT, int... REST, class PHASE> int rnn_pick(const counts<N, NEXT, REST...>&, const PHASE& phase) {
#pragma HLS INLINE
    return phase == FIRST ? N : rnn_pick<FIRST + 1>(counts<NEXT, REST...>(), phase);
}

// rnn_next is what a list has of the phase behind one, which is not the last.
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

// rnn_any tells that a list has something of a phase.
template <int FIRST, int N, class PHASE> bool rnn_any(const counts<N>&, const PHASE& phase) {
#pragma HLS INLINE
    return N > 0 && phase == FIRST;
}

template <int FIRST, int N, int NEXT, int... REST, class PHASE> bool rnn_any(const counts<N, NEXT, REST...>&, const PHASE& phase) {
#pragma HLS INLINE
    return (N > 0 && phase == FIRST) | rnn_any<FIRST + 1>(counts<NEXT, REST...>(), phase);
}

// rnn_place is where a layer stands in its frame.
template <class C> struct rnn_place {
    typedef typename C::nf nf_list;
    typedef typename C::sf sf_list;
    typedef typename C::idle idle_list;
    static const int words = C::turns * rnn_most<nf_list>::value, wait = rnn_most<idle_list>::value;

    ap_uint<1> arrived, waiting; // the states have; nothing is done after the last turn of a phase
    ap_uint<count_width(C::head + C::rest > wait ? C::head + C::rest : wait)> count; // clocks of either
    ap_uint<count_width(C::length)> t;
    ap_uint<count_width(C::phases)> phase;
    ap_uint<count_width(C::turns)> turn;
    ap_uint<count_width(C::cells)> cell;
    bool begun;                                                 // a word has, by more than this clock
    // Clocks of the word behind this one, words of the turn behind this one, and what they are when a word and a turn begin: all
    // less by what the first phase has then.
    ap_int<count_width(rnn_most<sf_list>::value) + 1> left, whole;
    ap_int<count_width(rnn_most<nf_list>::value) + 1> words_left, all_words;
    ap_uint<count_width(words > C::head ? words : C::head)> at; // word of the phase, or of the states that arrive
    ap_uint<count_width(words)> word;                           // word of the cells, in the rows of tables
    ap_uint<count_width(C::weights_rows)> row, base;            // of the weights, and where the phase's begin
    ap_uint<count_width(C::parts)> part;                        // of the word of the vector that is read
    ap_uint<count_width(rnn_most<sf_list>::value)> from;        // that word
    ap_uint<count_width(C::fills)> filled;                      // words of PE units in the word that is gathered
    ap_uint<count_width(words > C::head ? words : C::head)> to; // that word
    ap_uint<1> half;                                            // that is read, where memories have two
    ap_uint<1> closing;                                         // the word is the last one of its step, where ends tell
    ap_uint<1> stepped;                                         // the states are those that a step has made

    static const bool single = C::phases == 1 && words == 1; // every word is the last one of its step
    static const int last_clock = 1 - rnn_first<sf_list>::value, last_word = 1 - rnn_first<nf_list>::value;

    // All bits are zero, as a reset leaves them, whatever a constructor does.
    constexpr rnn_place()
        : arrived(0), waiting(0), count(0), t(0), phase(0), turn(0), cell(0), begun(false), left(0), whole(0), words_left(0), all_words(0), at(0), word(0), row(0), base(0), part(0),
          from(0), filled(0), to(0), half(0), closing(0), stepped(0) {}

    // arriving tells that states arrive, and first that they are those that a frame starts with.
    bool arriving() const {
#pragma HLS INLINE
        return C::head > 0 && arrived == 0;
    }

    bool first() const {
#pragma HLS INLINE
        return stepped == 0;
    }

    // in tells that something is done in phase p.
    bool in(int p) const {
#pragma HLS INLINE
        return !arriving() && waiting == 0 && phase == p;
    }

    // ends tells that a word of phase p is complete, and goes_out that what is made of it leaves.
    bool ends(int p) const {
#pragma HLS INLINE
        return in(p) && left == last_clock;
    }

    bool goes_out() const {
#pragma HLS INLINE
        return C::sequence || t == C::length - 1;
    }

    // arrives tells that one of so many words of a state does.
    bool arrives(int words) const {
#pragma HLS INLINE
        return arriving() && count < words;
    }

    // full tells that the word completes one of a vector.
    bool full() const {
#pragma HLS INLINE
        return filled == C::fills - 1;
    }

    // written is the half that is written.
    ap_uint<1> written() const {
#pragma HLS INLINE
        return arriving() ? half : ap_uint<1>(1 - half);
    }

    // finished tells that nothing is left to do in a step, where ends tell.
    bool finished() const {
#pragma HLS INLINE
        const bool closes = single || closing == 1;
        return closes & completes();
    }

    // completes tells that a word is complete.
    bool completes() const {
#pragma HLS INLINE
        const bool complete = left == last_clock, works = waiting == 0;
        return complete & works & !arriving();
    }

    // next goes on to the next clock: behind the last of a frame, to the first of the next one. All of it compares what was there
    // before.
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

    // follow goes on behind next where the step was finished, of which ends tell whether it was the last. That is known late, and
    // changes few states.
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
    // over tells that the step is the last one, where no ends tell. Where the state is kept, none is.
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

    // leave resets what counts the words of a phase.
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

    // closes tells of the word behind one that is complete that it is the last one of its step.
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

    // next_phase goes on to the next phase, or to the first one of the next step.
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
        if (C::steps && !C::keeps) return; // follow
        half = 1 - half;
        stepped = 1;
    }
};

// rnn_dot is C as core/mac.hpp sees it: the inputs are words of a vector.
template <class C> struct rnn_dot : C {
    typedef typename C::vector_t in_t;
    static const int in_width = C::vector_width;
};

// rnn_sums adds the products of one clock.
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

// rnn_constant is N.
template <long long N> ap_int<requant_bits(requant_magnitude(N)) + 1> rnn_constant() {
#pragma HLS INLINE
    return N;
}

// rnn_product is a times b.
template <bool DSP, class A, class B> auto rnn_product(const A& a, const B& b) {
#pragma HLS INLINE
    return mac_product<A, B, DSP>::of(a, b);
}

// rnn_word is a row of N elements of a table, of type FROM, as a word of elements of type TO.
template <class TO, class FROM, int PER_LIMB, int N, class ROW> ap_uint<N * element_type<TO>::width> rnn_word(const ROW& row) {
#pragma HLS INLINE
    ap_uint<N * element_type<TO>::width> word = 0;
    element_loop: for (int i = 0; i < N; i++) {
#pragma HLS UNROLL
        put(word, i, TO(element<FROM, PER_LIMB>(row, i)));
    }
    return word;
}

// rnn_gather puts the newest units of a vector behind those before, until they are a word.
template <int W, int NEW> void rnn_gather(ap_uint<W>& word, const ap_uint<NEW>& units) {
#pragma HLS INLINE
    word >>= NEW % W;
    word.range(W - 1, W - NEW) = units;
}

// rnn is one iteration.
template <class C, class... ARGS> void rnn(ARGS&... args) {
#pragma HLS INLINE
    C::template clock<C>(args...);
}

} // namespace hlsgen

#endif
