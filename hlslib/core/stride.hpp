// Strided positions along an axis, and strided pixels in a frame.
#ifndef HLSGEN_CORE_STRIDE_HPP
#define HLSGEN_CORE_STRIDE_HPP

#include "compare.hpp"

namespace hlsgen {

// stride counts the positions of an axis of LENGTH cyclically. The positions FIRST, FIRST+STEP ... below END are hit.
template <int LENGTH, int FIRST, int END, int STEP> struct stride {
    ap_uint<count_width(LENGTH)> at;
    ap_uint<count_width(STEP)> past; // positions since the last hit
    bool begun, over;                // a FIRST above 0 has been reached; END has been reached

    constexpr stride() : at(0), past(0), begun(false), over(false) {}

    // hit reports whether the position is hit.
    bool hit() const {
#pragma HLS INLINE
        return (FIRST == 0 || begun) && !over && past == 0;
    }

    // next advances to the next position. It reports whether the axis begins anew.
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

// grid is a position in a frame, counted in words. A word is hit if the row and the column of its pixel are hit. C has
// the members of two strides, for rows and for columns, and the member words, which is the number of words of a pixel.
template <class C> struct grid {
    stride<C::rows, C::first_row, C::end_row, C::row_step> row;
    stride<C::columns, C::first_column, C::end_column, C::column_step> column;
    ap_uint<count_width(C::words)> word;

    constexpr grid() : word(0) {}

    bool hit() const {
#pragma HLS INLINE
        return row.hit() && column.hit();
    }

    // next advances to the next word. It reports whether the frame begins anew.
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
