// The repetition of pixels.
//     y[i][j] = x[i / row_scale][j / column_scale]
// An iteration writes a word. It is read with the first of its copies, and kept for the others: a row of words where
// rows are repeated, else the words of a pixel.
//
// C has the members in_width, out_width of the streams, and
//     columns, words            of the frame read: pixels of a row, words of a pixel
//     row_scale, column_scale   times that a row is written, and a pixel in it
//     kept_rows ...             the memory of what is repeated, as core/memory.hpp has it
#ifndef HLSGEN_UPSAMPLE_HPP
#define HLSGEN_UPSAMPLE_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"

namespace hlsgen {

// upsample_place is where a layer stands in its frame.
template <class C> struct upsample_place {
    ap_uint<count_width(C::row_scale)> row;      // times that the row was written
    ap_uint<count_width(C::columns)> column;     // of the row
    ap_uint<count_width(C::column_scale)> again; // times that the pixel was written
    ap_uint<count_width(C::words)> word;         // of the pixel
    ap_uint<count_width(C::kept_rows)> pixel;    // where kept has the pixel

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
            if (C::row_scale > 1) pixel += C::words; // a row is kept
            return;
        }
        column = 0;
        pixel = 0;
        row = row == C::row_scale - 1 ? 0 : int(row) + 1;
    }
};

// upsample is one iteration.
template <class C> void upsample(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    static ap_uint<C::kept_width> kept[C::kept_rows]; // a row where rows are repeated, else a pixel
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
