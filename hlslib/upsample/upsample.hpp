// The repetition of pixels.
//     y[i][j] = x[i / row_scale][j / column_scale]
// An iteration writes a word. A word is read when its first copy is written, and stored for the other copies. The
// memory holds a row of words if rows are repeated, else the words of a pixel.
//
// C has the members in_width, out_width of the streams, and
//     columns, words            pixels of an input row, and words of a pixel
//     row_scale, column_scale   copies of a row, and copies of a pixel in a row
//     kept_rows ...             the memory of the repeated words, as core/memory.hpp describes
#ifndef HLSGEN_UPSAMPLE_HPP
#define HLSGEN_UPSAMPLE_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"

namespace hlsgen {

// upsample_place is the layer's position in a frame.
template <class C> struct upsample_place {
    ap_uint<count_width(C::row_scale)> row;      // copies of the row written so far
    ap_uint<count_width(C::columns)> column;     // pixel of the row
    ap_uint<count_width(C::column_scale)> again; // copies of the pixel written so far
    ap_uint<count_width(C::words)> word;         // word of the pixel
    ap_uint<count_width(C::kept_rows)> pixel;    // address of the pixel in kept

    constexpr upsample_place() : row(0), column(0), again(0), word(0), pixel(0) {}

    void next() {
#pragma HLS INLINE
        if (word != C::words - 1) {
            word += 1;
            return;
        }
        word = 0;
        if (again != C::column_scale - 1) {
            again += 1;
            return;
        }
        again = 0;
        if (column != C::columns - 1) {
            column += 1;
            if (C::row_scale > 1) pixel += C::words; // kept holds a row
            return;
        }
        column = 0;
        pixel = 0;
        row = row == C::row_scale - 1 ? 0 : int(row) + 1;
    }
};

// upsample runs one iteration of the layer.
template <class C> void upsample(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    static ap_uint<C::kept_width> kept[C::kept_rows]; // a row if rows are repeated, else a pixel
#pragma HLS RESET variable=kept off
    bind_memory(kept, memory<C::kept_memory>());
    static upsample_place<C> place;
#pragma HLS RESET variable=place
    upsample_place<C> at = place;

    const bool reads = at.row == 0 && at.again == 0;
    if (reads && in.empty()) return;
    ap_uint<C::in_width> x;
    if (reads) {
        x = in.read();
        kept[at.pixel + at.word] = x;
    } else {
        x = kept[at.pixel + at.word];
    }
    out.write(x);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
