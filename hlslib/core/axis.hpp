// The network's ends. An AXI4-Stream carries whole bytes; the streams inside of the network carry words of any width.
#ifndef HLSGEN_CORE_AXIS_HPP
#define HLSGEN_CORE_AXIS_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#include "counter.hpp"

namespace hlsgen {

// axis_missing reports whether a call must end because the AXI4-Stream has no word. In synthesis the answer is always
// no, and the read waits for a word: up to version 2022.2, UG1399 offers no access to AXI4-Streams that does not
// block.
template <class WORD> bool axis_missing(hls::stream<WORD>& in) {
#pragma HLS INLINE
#ifdef __SYNTHESIS__
    (void)in;
    return false;
#else
    return in.empty();
#endif
}

// axis_in runs one iteration of an input of the network. It drops the high bits of an AXI4-Stream word, which are
// padding. C has
//     width, tdata   bits of a word inside of the network, and of an AXI4-Stream word
template <class C> void axis_in(hls::stream<ap_uint<C::tdata> >& in, hls::stream<ap_uint<C::width> >& out) {
#pragma HLS INLINE
    if (axis_missing(in)) return;
    const ap_uint<C::tdata> word = in.read();
    out.write(ap_uint<C::width>(word));
}

// axis_word returns an AXI4-Stream word with the data. Its bits above the width are zero.
template <class C> ap_axiu<C::tdata, 0, 0, 0> axis_word(const ap_uint<C::width>& data, bool last) {
#pragma HLS INLINE
    ap_axiu<C::tdata, 0, 0, 0> word;
    word.data = data;
    word.keep = -1;
    word.strb = -1;
    word.last = last ? 1 : 0;
    return word;
}

// axis_out runs one iteration of an output of the network. It sets TLAST on the last of the C::words words of a frame,
// where a DMA ends its packet.
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

// axis_tell writes to every stream of ends whether a step was the last of its sequence.
inline void axis_tell(const ap_uint<1>&) {
#pragma HLS INLINE
}

template <class... REST> void axis_tell(const ap_uint<1>& end, hls::stream<ap_uint<1> >& to, REST&... rest) {
#pragma HLS INLINE
    to.write(end);
    axis_tell(end, rest...);
}

// axis_sequence is the position of an input that reads sequences.
template <class C> struct axis_sequence {
    ap_uint<count_width(C::words)> at;     // word of the step
    ap_uint<count_width(C::longest)> step; // step of the sequence
    ap_uint<1> came, over;                 // the word with TLAST was read; the last step was written

    constexpr axis_sequence() : at(0), step(0), came(0), over(0) {}
};

// axis_in_steps runs one iteration of an input that reads sequences. A step has C::words words, and a sequence ends
// with the word that has TLAST. After every step, the process writes to the streams of ends whether the sequence ended
// there. A host's mistake affects only its sequence: if TLAST comes in the middle of a step, zeros replace the missing
// words; if a sequence has more than C::longest steps, the words of the further steps are dropped.
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

// axis_out_steps runs one iteration of an output that writes sequences. A step has C::words words, and the last word
// of a sequence has TLAST.
template <class C>
void axis_out_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::width> >& in,
                    hls::stream<ap_axiu<C::tdata, 0, 0, 0> >& out) {
#pragma HLS INLINE
    static counter<C::words> place;
#pragma HLS RESET variable=place
    counter<C::words> word = place;

    const bool asks = word.at == C::words - 1; // all words of a step arrive before the word of ends
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
