// The repetition of pixels.
//     y[i][j] = x[i / row_scale][j / column_scale]
// An iteration writes a word. It is read with the first of its copies, and kept for the others: a row of words where
// rows are repeated, else the words of a pixel.
//
// C has the members in_width, out_width of the streams, and
//     rows, columns, words      of the frame read: rows, pixels of a row, words of a pixel
//     row_scale, column_scale   times that a row is written, and a pixel in it
//     kept_rows ...             the memory of what is repeated, as core/memory.hpp has it
#ifndef HLSGEN_UPSAMPLE_HPP
#define HLSGEN_UPSAMPLE_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"

namespace hlsgen {

// upsample processes one frame.
template <class C> void upsample(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    const bool keep_row = C::row_scale > 1;
    ap_uint<C::kept_width> kept[C::kept_rows]; // a row where rows are repeated, else a pixel
    bind_memory(kept, memory<C::kept_memory>());
    ap_uint<count_width(C::row_scale)> row = 0;      // times that the row was written
    ap_uint<count_width(C::columns)> column = 0;     // of the row
    ap_uint<count_width(C::column_scale)> again = 0; // times that the pixel was written
    ap_uint<count_width(C::words)> word = 0;         // of the pixel
    ap_uint<count_width(C::kept_rows)> pixel = 0;    // where kept has the pixel

    for (int i = 0; i < C::rows * C::row_scale * C::columns * C::column_scale * C::words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        ap_uint<C::in_width> x;
        if (row == 0 && again == 0) {
            x = in.read();
            kept[pixel + word] = x;
        } else {
            x = kept[pixel + word];
        }
        out.write(x);

        word += 1;
        if (word == C::words) {
            word = 0;
            again += 1;
            if (again == C::column_scale) {
                again = 0;
                column += 1;
                if (keep_row) pixel += C::words;
                if (column == C::columns) {
                    column = 0;
                    pixel = 0;
                    row += 1;
                    if (row == C::row_scale) row = 0;
                }
            }
        }
    }
}

} // namespace hlsgen

#endif
