// The network's ends: AXI4-Stream carries whole bytes, the streams inside carry words of any width.
#ifndef HLSGEN_CORE_AXIS_HPP
#define HLSGEN_CORE_AXIS_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include "counter.hpp"

namespace hlsgen {

// axis_missing reports whether a call ends since an AXI4-Stream has no word. In synthesis none does, and the read waits: up to
// 2022.2, UG1399 has no access to AXI4-Streams that does not block.
template <class WORD> bool axis_missing(hls::stream<WORD>& in) {
#pragma HLS INLINE
#ifdef __SYNTHESIS__
    (void)in;
    return false;
#else
    return in.empty();
#endif
}

// axis_in is one iteration of the network's end that takes words: the bits above the width of those inside are padding.
// C has
//     width, tdata   bits of a word inside, and of one outside
template <class C> void axis_in(hls::stream<ap_uint<C::tdata> >& in, hls::stream<ap_uint<C::width> >& out) {
#pragma HLS INLINE
    if (axis_missing(in)) return;
    const ap_uint<C::tdata> word = in.read();
    out.write(ap_uint<C::width>(word));
}

// axis_word is a word as it leaves: zero above the width.
template <class C> ap_axiu<C::tdata, 0, 0, 0> axis_word(const ap_uint<C::width>& data, bool last) {
#pragma HLS INLINE
    ap_axiu<C::tdata, 0, 0, 0> word;
    word.data = data;
    word.keep = -1;
    word.strb = -1;
    word.last = last ? 1 : 0;
    return word;
}

// axis_out is one iteration of the network's end that gives frames of C::words words, with TLAST on the last one: a DMA ends
// its packet there.
template <class C> void axis_out(hls::stream<ap_uint<C::width> >& in, hls::stream<ap_axiu<C::tdata, 0, 0, 0> >& out) {
#pragma HLS INLINE
    static counter<C::words> place;
#pragma HLS RESET variable=place
    counter<C::words> word = place;

    if (in.empty()) return;
    const ap_uint<C::width> data = in.read();
    const bool last = word.next();
    out.write(axis_word<C>(data, last));
    place = word;
}

// axis_tell tells every reader whether a step was the last one of its sequence.
inline void axis_tell(const ap_uint<1>&) {
#pragma HLS INLINE
}

template <class... REST> void axis_tell(const ap_uint<1>& end, hls::stream<ap_uint<1> >& to, REST&... rest) {
#pragma HLS INLINE
    to.write(end);
    axis_tell(end, rest...);
}

// axis_sequence is where the end stands that takes sequences.
template <class C> struct axis_sequence {
    ap_uint<count_width(C::words)> at;     // word of the step
    ap_uint<count_width(C::longest)> step; // of the sequence
    ap_uint<1> came, over;                 // the word with TLAST, and the last step

    constexpr axis_sequence() : at(0), step(0), came(0), over(0) {}
};

// axis_in_steps is one iteration of the end that takes sequences of steps of C::words words, each up to the word with TLAST,
// and tells after every step whether its sequence ended there. What the host gets wrong ends with the sequence: of a step in
// which TLAST comes, the words that are missing are zeros; of a sequence of more than C::longest steps, the words behind these
// are left out.
template <class C, class... ENDS>
void axis_in_steps(hls::stream<ap_axiu<C::tdata, 0, 0, 0> >& in, hls::stream<ap_uint<C::width> >& out, ENDS&... ends) {
#pragma HLS INLINE
    static axis_sequence<C> place;
#pragma HLS RESET variable=place
    axis_sequence<C> at = place;

    const bool reads = at.came == 0;
    if (reads && axis_missing(in)) return;
    ap_uint<C::width> data = 0;
    if (reads) {
        const ap_axiu<C::tdata, 0, 0, 0> word = in.read();
        data = ap_uint<C::width>(word.data);
        at.came = word.last;
    }
    if (at.over == 0) {
        out.write(data);
        at.at += 1;
        if (at.at == C::words) {
            at.at = 0;
            at.step += 1;
            at.over = at.came == 1 || at.step == C::longest ? 1 : 0;
            axis_tell(at.over, ends...);
        }
    }
    if (at.over == 1 && at.came == 1) at = axis_sequence<C>();
    place = at;
}

// axis_out_steps is one iteration of the end that gives sequences of steps of C::words words, with TLAST on the last one.
template <class C>
void axis_out_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::width> >& in,
                    hls::stream<ap_axiu<C::tdata, 0, 0, 0> >& out) {
#pragma HLS INLINE
    static counter<C::words> place;
#pragma HLS RESET variable=place
    counter<C::words> word = place;

    const bool asks = word.at == C::words - 1; // the words of a step come before its end does
    if (in.empty()) return;
    if (asks && ends.empty()) return;
    const ap_uint<C::width> data = in.read();
    bool last = false;
    if (asks) last = ends.read() == 1;
    out.write(axis_word<C>(data, last));

    word.next();
    place = word;
}

} // namespace hlsgen

#endif
