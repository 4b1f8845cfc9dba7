// The data width converter.
// Elements go out in the order in which they came in, in words of another width. An iteration moves a word of the
// narrower end: it reads when it needs bits that have not come yet, or writes when it has gathered a word.
//
// C has the members in_width and out_width of the streams, and
//     iterations     words of the narrower end in a frame
//     buffer_width   bits kept between the ends
// There are three forms: where the wider word is a whole number of the narrower ones, the buffer shifts by constants.
#ifndef HLSGEN_DWC_HPP
#define HLSGEN_DWC_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"

namespace hlsgen {

enum dwc_form { dwc_narrow, dwc_widen, dwc_mixed };

template <dwc_form FORM> struct dwc_loop;

// Every so many words, one is read; its elements leave from the low end.
template <> struct dwc_loop<dwc_narrow> {
    template <class C>
    static void frame(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        const int ratio = C::in_width / C::out_width;
        ap_uint<C::buffer_width> buffer = 0;
        ap_uint<count_width(ratio)> part = 0;
        for (int i = 0; i < C::iterations; i++) {
#pragma HLS PIPELINE II=1 style=flp
            if (part == 0) buffer = in.read();
            out.write(ap_uint<C::out_width>(buffer));
            buffer >>= C::out_width;
            part += 1;
            if (part == ratio) part = 0;
        }
    }
};

// Words enter at the high end; after so many, the first has reached the low end.
template <> struct dwc_loop<dwc_widen> {
    template <class C>
    static void frame(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        const int ratio = C::out_width / C::in_width;
        ap_uint<C::buffer_width> buffer = 0;
        ap_uint<count_width(ratio)> part = 0;
        for (int i = 0; i < C::iterations; i++) {
#pragma HLS PIPELINE II=1 style=flp
            buffer >>= C::in_width;
            buffer.range(C::out_width - 1, C::out_width - C::in_width) = in.read();
            part += 1;
            if (part == ratio) {
                part = 0;
                out.write(buffer);
            }
        }
    }
};

// The buffer holds fill bits, the oldest at the low end, and takes a word whenever that is less than an output word:
// always, where words get wider.
template <> struct dwc_loop<dwc_mixed> {
    template <class C>
    static void frame(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        ap_uint<C::buffer_width> buffer = 0;
        ap_uint<count_width(C::buffer_width)> fill = 0;
        for (int i = 0; i < C::iterations; i++) {
#pragma HLS PIPELINE II=1 style=flp
            if (fill < C::out_width) {
                const ap_uint<C::buffer_width> word = in.read();
                buffer |= word << int(fill);
                fill += C::in_width;
            }
            if (fill >= C::out_width) {
                out.write(ap_uint<C::out_width>(buffer));
                buffer >>= C::out_width;
                fill -= C::out_width;
            }
        }
    }
};

// dwc processes one frame.
template <class C> void dwc(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    const dwc_form form = C::in_width % C::out_width == 0   ? dwc_narrow
                          : C::out_width % C::in_width == 0 ? dwc_widen
                                                            : dwc_mixed;
    dwc_loop<form>::template frame<C>(in, out);
}

} // namespace hlsgen

#endif
