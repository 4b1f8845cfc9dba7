// The data width converter. Elements are written in the order in which they arrived, in words of another width. An
// iteration moves one word of the narrower stream. It reads a word when it needs more bits, and writes a word when the
// bits of an output word are there.
//
// C has the members in_width and out_width of the streams, and
//     buffer_width   bits of the buffer between input and output
// There are three forms. If the wider word is a whole number of narrower words, the buffer shifts by constants.
#ifndef HLSGEN_DWC_HPP
#define HLSGEN_DWC_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/counter.hpp"

namespace hlsgen {

enum dwc_form { dwc_narrow, dwc_widen, dwc_mixed };

template <dwc_form FORM> struct dwc_clock;

// dwc_narrow reads one word for several output words. Elements leave the buffer at the low end.
template <> struct dwc_clock<dwc_narrow> {
    template <class C> static void run(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        static ap_uint<C::buffer_width> buffer;
#pragma HLS RESET variable=buffer off
        static counter<C::in_width / C::out_width> place;
#pragma HLS RESET variable=place
        counter<C::in_width / C::out_width> part = place;

        if (part.at == 0 && in.empty()) return;
        ap_uint<C::buffer_width> word = buffer;
        if (part.at == 0) word = in.read();
        out.write(ap_uint<C::out_width>(word));
        buffer = word >> C::out_width;

        part.next();
        place = part;
    }
};

// dwc_widen reads several words for one output word. Words enter the buffer at the high end, and when the last one
// enters, the first has reached the low end.
template <> struct dwc_clock<dwc_widen> {
    template <class C> static void run(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        static ap_uint<C::buffer_width> buffer;
#pragma HLS RESET variable=buffer off
        static counter<C::out_width / C::in_width> place;
#pragma HLS RESET variable=place
        counter<C::out_width / C::in_width> part = place;

        if (in.empty()) return;
        ap_uint<C::buffer_width> word = buffer >> C::in_width;
        word.range(C::out_width - 1, C::out_width - C::in_width) = in.read();
        buffer = word;
        if (part.next()) out.write(word);
        place = part;
    }
};

// dwc_mixed converts between other widths. The buffer holds fill bits, the oldest at the low end. A word is read
// whenever fill is less than an output word, which is always the case if words become wider. At the end of a frame, no
// bits are left.
template <> struct dwc_clock<dwc_mixed> {
    template <class C> static void run(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        static ap_uint<C::buffer_width> buffer = 0;
#pragma HLS RESET variable=buffer
        static ap_uint<count_width(C::buffer_width)> place = 0;
#pragma HLS RESET variable=place
        const ap_uint<count_width(C::buffer_width)> fill = place;
        const bool reads = fill < C::out_width;
        const bool writes = !reads || C::in_width >= C::out_width || fill >= C::out_width - C::in_width;

        if (reads && in.empty()) return;
        ap_uint<C::buffer_width> bits = buffer;
        if (reads) {
            const ap_uint<C::buffer_width> word = in.read();
            bits |= word << int(fill);
        }
        if (writes) {
            out.write(ap_uint<C::out_width>(bits));
            bits >>= C::out_width;
        }
        buffer = bits;
        if (!reads) place = fill - C::out_width;
        else place = fill + (writes ? C::in_width - C::out_width : C::in_width);
    }
};

// dwc runs one iteration of the layer.
template <class C> void dwc(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    const dwc_form form = C::in_width % C::out_width == 0   ? dwc_narrow
                          : C::out_width % C::in_width == 0 ? dwc_widen
                                                            : dwc_mixed;
    dwc_clock<form>::template run<C>(in, out);
}

} // namespace hlsgen

#endif
