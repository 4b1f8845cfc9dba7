// The cropping of feature maps. The output has the pixels of the rows first_row, first_row + row_step ... below
// end_row, and of the columns chosen in the same way. An iteration reads a word, and writes it if it belongs to such a
// pixel.
//
// C has the members in_width, out_width of the streams, and
//     rows, first_row, end_row, row_step               input rows, and which of them are kept
//     columns, first_column, end_column, column_step   the same for columns
//     words                                            words of a pixel
#ifndef HLSGEN_CROP_HPP
#define HLSGEN_CROP_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/stride.hpp"

namespace hlsgen {

// crop runs one iteration of the layer.
template <class C> void crop(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    static grid<C> place;
#pragma HLS RESET variable=place
    grid<C> at = place;

    if (in.empty()) return;
    const ap_uint<C::in_width> x = in.read();
    if (at.hit()) out.write(x);

    at.next();
    place = at;
}

} // namespace hlsgen

#endif
