// Positions along an axis.
#ifndef HLSGEN_CORE_STRIDE_HPP
#define HLSGEN_CORE_STRIDE_HPP

#include "compare.hpp"

namespace hlsgen {

// stride goes along an axis of LENGTH positions, over and over, and knows FIRST, FIRST+STEP ... below END.
template <int LENGTH, int FIRST, int END, int STEP> struct stride {
    ap_uint<count_width(LENGTH)> at;
    ap_uint<count_width(STEP)> past; // positions since the last one that is known
    bool begun, over;                // FIRST has been reached, where that is not 0; and END

    constexpr stride() : at(0), past(0), begun(false), over(false) {}

    // hit reports whether the position is one of those.
    bool hit() const {
#pragma HLS INLINE
        return (FIRST == 0 || begun) && !over && past == 0;
    }

    // next goes to the next position; it reports whether that begins the axis anew.
    bool next() {
#pragma HLS INLINE
        if (at == LENGTH - 1) {
            *this = stride();
            return true;
        }
        if (FIRST == 0 || begun) past = past == STEP - 1 ? 0 : int(past) + 1;
        if (FIRST > 0 && at == FIRST - 1) begun = true;
        if (at == END - 1) over = true;
        at += 1;
        return false;
    }
};

// grid is a place in a frame of which the words of some pixels are hit. C has the members of two strides, of rows and of
// columns, and the words of a pixel.
template <class C> struct grid {
    stride<C::rows, C::first_row, C::end_row, C::row_step> row;
    stride<C::columns, C::first_column, C::end_column, C::column_step> column;
    ap_uint<count_width(C::words)> word;

    constexpr grid() : word(0) {}

    bool hit() const {
#pragma HLS INLINE
        return row.hit() && column.hit();
    }

    // next goes to the next word; it reports whether that begins the frame anew.
    bool next() {
#pragma HLS INLINE
        if (word != C::words - 1) {
            word += 1;
            return false;
        }
        word = 0;
        return column.next() && row.next();
    }
};

} // namespace hlsgen

#endif
