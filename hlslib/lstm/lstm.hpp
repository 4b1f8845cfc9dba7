// The recurrent engine of an LSTM. lstm.go beside this file says what it computes, and in which order of words.
//
// C has the members in_t, in_width, out_t, out_width of the streams (out0_t, out1_t ... where there are two), T_t, T_per_limb
// and T_rows of each table T but the weights, of which there is a row a clock; and
//     length, cells, nf, sf        the loop nest
//     pe, simd, lanes              what is unrolled in it: units, elements of h, gates of a unit
//     step, idle                   clocks of a time step, and how many of them nothing is done in
//     sequence                     every step goes out, else the last one
//     h_t, c_t                     the state
//     words                        words of a cell's h in memory
//     h_rows ..., c_rows ...       the memories of the state, as core/memory.hpp has them
//     h_distance                   iterations from a write of h to the first read of it
//     pre_t                        a gate before its steps
//     i_t, f_t, g_t, o_t, tanh_t   the codes of the gates and of tanh
//     kept_t, taken_t              f times c and i times g, requantised
//     forget, input, cell, hidden  requantisers of core/requant.hpp, whose turns are the cells'
//     X_steps, X_unit, X_shared    of the gates and of tanh: thresholds, what each adds, the same for all units of a cell
//     acc_t, dot_t, use_dsp ...    what core/mac.hpp asks for
#ifndef HLSGEN_LSTM_HPP
#define HLSGEN_LSTM_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/mac.hpp"
#include "core/memory.hpp"
#include "core/requant.hpp"
#include "core/word.hpp"

namespace hlsgen {

// lstm_dot is C as core/mac.hpp sees it: the inputs are words of h.
template <class C> struct lstm_dot : C {
    typedef typename C::h_t in_t;
    static const int in_width = C::h_width;
};

// lstm_steps is a step function as core/compare.hpp sees it.
template <class CODE, class T, int T_PER_LIMB, int ROWS, class B, int B_PER_LIMB, int STEPS, int UNIT, bool SHARED> struct lstm_steps {
    typedef CODE out_t;
    typedef T thresholds_t;
    typedef B base_t;
    static const int thresholds_per_limb = T_PER_LIMB, base_per_limb = B_PER_LIMB, rows = ROWS, steps = STEPS, unit = UNIT, base = 0;
    static const bool shared = SHARED;
};

template <class C>
using lstm_i = lstm_steps<typename C::i_t, typename C::i_thresholds_t, C::i_thresholds_per_limb, C::i_thresholds_rows,
                          typename C::i_base_t, C::i_base_per_limb, C::i_steps, C::i_unit, C::i_shared>;
template <class C>
using lstm_f = lstm_steps<typename C::f_t, typename C::f_thresholds_t, C::f_thresholds_per_limb, C::f_thresholds_rows,
                          typename C::f_base_t, C::f_base_per_limb, C::f_steps, C::f_unit, C::f_shared>;
template <class C>
using lstm_g = lstm_steps<typename C::g_t, typename C::g_thresholds_t, C::g_thresholds_per_limb, C::g_thresholds_rows,
                          typename C::g_base_t, C::g_base_per_limb, C::g_steps, C::g_unit, C::g_shared>;
template <class C>
using lstm_o = lstm_steps<typename C::o_t, typename C::o_thresholds_t, C::o_thresholds_per_limb, C::o_thresholds_rows,
                          typename C::o_base_t, C::o_base_per_limb, C::o_steps, C::o_unit, C::o_shared>;
template <class C>
using lstm_tanh = lstm_steps<typename C::tanh_t, typename C::tanh_thresholds_t, C::tanh_thresholds_per_limb, C::tanh_thresholds_rows,
                             typename C::tanh_base_t, C::tanh_base_per_limb, C::tanh_steps, C::tanh_unit, C::tanh_shared>;

// lstm_place is where a unit stands: its cell, its word of the cells', and its place in the word.
struct lstm_place {
    int cell, word, pe;
};

// lstm_row is the row of a table: of all cells, of the cell, or of the word.
template <class C, int ROWS> int lstm_row(const lstm_place& at) {
#pragma HLS INLINE
    return ROWS == 1 ? 0 : ROWS == C::cells ? at.cell : at.word;
}

// lstm_code is the step function S of a value.
template <class C, class S, class V, class T, class B>
typename S::out_t lstm_code(const V& value, const lstm_place& at, const T& thresholds, const B& base) {
#pragma HLS INLINE
    return apply_steps<S>(value, lstm_row<C, S::rows>(at), S::shared ? 0 : at.pe, thresholds, base);
}

// lstm_input is gate i: of its own value, or, where there are no steps of it, coupled to gate f.
template <class C, class V, class K, class T, class B>
typename C::i_t lstm_input(const V& value, const typename C::f_t&, const K&, const lstm_place& at, const T& thresholds, const B& base) {
#pragma HLS INLINE
    return lstm_code<C, lstm_i<C> >(value, at, thresholds, base);
}

template <class C, class V, class K> typename C::i_t lstm_input(const V&, const typename C::f_t& f, const K& factors, const lstm_place&) {
#pragma HLS INLINE
    return typename C::i_t(element<typename C::factors_t, C::factors_per_limb>(factors, 10) - f);
}

// lstm_product is a times b.
template <class C, class A, class B> auto lstm_product(const A& a, const B& b) {
#pragma HLS INLINE
    return mac_product<A, B, C::use_dsp>::of(a, b);
}

// lstm_word is a row of N elements of a table, of type FROM, as a word of elements of type TO.
template <class TO, class FROM, int PER_LIMB, int N, class ROW> ap_uint<N * element_type<TO>::width> lstm_word(const ROW& row) {
#pragma HLS INLINE
    ap_uint<N * element_type<TO>::width> word = 0;
    for (int i = 0; i < N; i++) {
#pragma HLS UNROLL
        put(word, i, TO(element<FROM, PER_LIMB>(row, i)));
    }
    return word;
}

// lstm_write sends what there are streams for.
template <class H, class S> void lstm_write(const H& h, const S&, hls::stream<H>& out) {
#pragma HLS INLINE
    out.write(h);
}

template <class H, class S> void lstm_write(const H& h, const S& c, hls::stream<H>& out0, hls::stream<S>& out1) {
#pragma HLS INLINE
    out0.write(h);
    out1.write(c);
}

// lstm_state is a unit's state after a step.
template <class C> struct lstm_state {
    typename C::h_t h;
    typename C::c_t c;
};

// lstm_unit makes the state of a unit, of the state c before, the gates z before their steps, and what the peephole of gate
// o is multiplied with.
template <class C, class K, class P, class FT, class FB, class GT, class GB, class OT, class OB, class TT, class TB, class... INPUT>
lstm_state<C> lstm_unit(const typename C::c_t& before, const typename C::pre_t (&z)[4], const lstm_place& at, const K& factors,
                        const P& peephole, const FT& f_thresholds, const FB& f_base, const GT& g_thresholds, const GB& g_base,
                        const OT& o_thresholds, const OB& o_base, const TT& tanh_thresholds, const TB& tanh_base, const INPUT&... input) {
#pragma HLS INLINE
    typedef typename C::factors_t factor_t;
    const typename C::f_t f = lstm_code<C, lstm_f<C> >(z[1], at, f_thresholds, f_base);
    const typename C::g_t g = lstm_code<C, lstm_g<C> >(z[2], at, g_thresholds, g_base);
    const typename C::i_t i = lstm_input<C>(z[0], f, factors, at, input...);
    const typename C::kept_t kept =
        requantiser<typename C::forget, C::use_dsp>::template of<typename C::kept_t>(lstm_product<C>(f, before), at.cell);
    const typename C::taken_t taken =
        requantiser<typename C::input, C::use_dsp>::template of<typename C::taken_t>(lstm_product<C>(i, g), at.cell);

    lstm_state<C> now;
    now.c = requantiser<typename C::cell, C::use_dsp>::template of<typename C::c_t>(
        element<factor_t, C::factors_per_limb>(factors, 8) * kept + element<factor_t, C::factors_per_limb>(factors, 9) * taken, at.cell);
    typename C::pre_t zo = z[3];
    zo += peephole * now.c;
    const typename C::o_t o = lstm_code<C, lstm_o<C> >(zo, at, o_thresholds, o_base);
    const typename C::tanh_t t = lstm_code<C, lstm_tanh<C> >(now.c, at, tanh_thresholds, tanh_base);
    now.h = requantiser<typename C::hidden, C::use_dsp>::template of<typename C::h_t>(lstm_product<C>(o, t), at.cell);
    return now;
}

// lstm_frame processes one frame. The tables from f_thresholds on are thresholds and bases of the gates f, g, o, of tanh,
// and of gate i unless it is coupled.
template <class C, class... OUT> struct lstm_frame {
    template <class W, class B, class P, class K, class H0, class C0, class... STEPS>
    static void run(hls::stream<ap_uint<C::in_width> >& in, OUT&... out, const W& weights, const B& biases, const P& peepholes,
                    const K& factors, const H0& h0, const C0& c0, const STEPS&... steps) {
#pragma HLS INLINE
        typedef typename C::h_t h_t;
        typedef typename C::c_t c_t;
        typedef typename C::factors_t factor_t;
        const int first = 4 - C::lanes, work = C::cells * C::nf * C::sf;
        const int word = C::nf * C::pe / C::words; // units of a word of h
        const int parts = word / C::simd, fills = word / C::pe;
        const int pe_width = C::pe * element_type<h_t>::width;

        // One half of h is read while the other is written; they change places after every step.
        ap_uint<C::h_width> h[C::h_rows];
        bind_memory(h, memory<C::h_memory>());
// What a step writes, the next one reads: at this distance, which the idle clocks see to. Nothing nearer depends.
#pragma HLS DEPENDENCE variable=h type=inter direction=RAW distance=C::h_distance dependent=true
        ap_uint<C::c_width> c[C::c_rows];
        bind_memory(c, memory<C::c_memory>());
// A word of c is used once in a step.
#pragma HLS DEPENDENCE variable=c type=inter direction=RAW distance=C::step dependent=true
        typename C::acc_t acc[C::pe * C::lanes];
#pragma HLS ARRAY_PARTITION variable=acc complete dim=1
        ap_uint<C::h_width> gathered = 0; // the newest units of h, until they are a word
        ap_uint<1> half = 0;              // that is read

        ap_uint<count_width(C::length)> t = 0;
        ap_uint<count_width(C::step)> clock = 0;
        ap_uint<count_width(C::cells)> d = 0;
        ap_uint<count_width(C::sf)> sf = 0;
        ap_uint<count_width(C::nf)> n = 0;
        ap_uint<count_width(C::cells * C::nf)> at = 0;       // word of the step
        ap_uint<count_width(C::cells * C::nf * C::sf)> row = 0; // of the weights
        ap_uint<count_width(parts)> part = 0;                // of the word of h that is read
        ap_uint<count_width(C::words)> from = 0;             // that word
        ap_uint<count_width(fills)> filled = 0;              // parts of the word that is gathered
        ap_uint<count_width(C::words)> to = 0;               // that word

        for (int i = 0; i < C::length * C::step - C::idle; i++) {
#pragma HLS PIPELINE II=1 style=flp
            if (C::idle == 0 || clock < work) {
                const bool last = sf == C::sf - 1;
                ap_uint<C::h_width> before;
                if (t == 0)
                    before = lstm_word<h_t, typename C::h0_t, C::h0_per_limb, word>(h0[C::h0_rows == 1 ? 0 : int(d) * C::words + int(from)]);
                else
                    before = h[(int(half) * C::cells + int(d)) * C::words + int(from)];
                ap_uint<C::c_width> states;
                if (t == 0)
                    states = lstm_word<c_t, typename C::c0_t, C::c0_per_limb, C::pe>(c0[C::c0_rows == 1 ? 0 : int(at)]);
                else
                    states = c[at];
                ap_uint<C::in_width> x = 0;
                if (last) x = in.read();

                const int kind = C::factors_rows == 1 ? 0 : int(d);
                ap_uint<pe_width> hs = 0;
                ap_uint<C::c_width> cs = 0;
                for (int pe = 0; pe < C::pe; pe++) {
#pragma HLS UNROLL
                    const c_t old = get<c_t>(states, pe);
                    typename C::pre_t z[4];
#pragma HLS ARRAY_PARTITION variable=z complete dim=1
                    for (int g = 0; g < 4; g++) {
#pragma HLS UNROLL
                        z[g] = 0;
                        if (g >= first) {
                            const int lane = pe * C::lanes + g - first;
                            typename C::acc_t sum = 0;
                            if (sf != 0) sum = acc[lane];
                            sum += mac_dot<lstm_dot<C> >(before, int(part) * C::simd, 1, weights[row], lane);
                            acc[lane] = sum;
                            z[g] = element<typename C::biases_t, C::biases_per_limb>(biases[C::biases_rows == 1 ? 0 : int(at)], lane);
                            z[g] += element<factor_t, C::factors_per_limb>(factors[kind], 2 * g) * number(get<typename C::in_t>(x, pe * 4 + g));
                            z[g] += element<factor_t, C::factors_per_limb>(factors[kind], 2 * g + 1) * sum;
                            if (g < 2) z[g] += lstm_peephole(peepholes, at, lane) * old;
                        }
                    }
                    const lstm_place place = {int(d), int(at), pe};
                    const lstm_state<C> now = lstm_unit<C>(old, z, place, factors[kind],
                                                           lstm_peephole(peepholes, at, pe * C::lanes + C::lanes - 1), steps...);
                    put(hs, pe, now.h);
                    put(cs, pe, now.c);
                }

                if (last) {
                    c[at] = cs;
                    gathered >>= pe_width % C::h_width;
                    gathered.range(C::h_width - 1, C::h_width - pe_width) = hs;
                    if (C::sequence || t == C::length - 1) lstm_write(hs, cs, out...);
                    filled += 1;
                    if (filled == fills) {
                        filled = 0;
                        h[(int(1 - half) * C::cells + int(d)) * C::words + int(to)] = gathered;
                        to += 1;
                        if (to == C::words) to = 0;
                    }
                }

                row += 1;
                sf += 1;
                part += 1;
                if (part == parts) {
                    part = 0;
                    from += 1;
                }
                if (sf == C::sf) {
                    sf = 0;
                    from = 0;
                    n += 1;
                    at += 1;
                    if (n == C::nf) {
                        n = 0;
                        d += 1;
                    }
                }
            }
            clock += 1;
            if (clock == C::step) {
                clock = 0;
                row = 0;
                at = 0;
                d = 0;
                t += 1;
                half = 1 - half;
            }
        }
    }

private:
    template <class P, class AT> static typename C::peepholes_t lstm_peephole(const P& peepholes, const AT& at, int lane) {
#pragma HLS INLINE
        return element<typename C::peepholes_t, C::peepholes_per_limb>(peepholes[C::peepholes_rows == 1 ? 0 : int(at)], lane);
    }
};

// lstm gives h, and lstm_states gives h and c.
template <class C, class... TABLES>
void lstm(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const TABLES&... tables) {
#pragma HLS INLINE
    lstm_frame<C, hls::stream<ap_uint<C::out_width> > >::run(in, out, tables...);
}

template <class C, class... TABLES>
void lstm_states(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out0_width> >& out0,
                 hls::stream<ap_uint<C::out1_width> >& out1, const TABLES&... tables) {
#pragma HLS INLINE
    lstm_frame<C, hls::stream<ap_uint<C::out0_width> >, hls::stream<ap_uint<C::out1_width> > >::run(in, out0, out1, tables...);
}

} // namespace hlsgen

#endif
