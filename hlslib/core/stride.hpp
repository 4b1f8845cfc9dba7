// Positions along an axis.
#ifndef HLSGEN_CORE_STRIDE_HPP
#define HLSGEN_CORE_STRIDE_HPP

#include "compare.hpp"

namespace hlsgen {

// stride goes along an axis of LENGTH positions, over and over, and knows FIRST, FIRST+STEP ... below END.
template <int LENGTH, int FIRST, int END, int STEP> struct stride {
    ap_uint<count_width(LENGTH)> at;
    ap_uint<count_width(STEP)> past; // positions since the last one that is known

    constexpr stride() : at(0), past(0) {}

    // hit reports whether the position is one of those.
    bool hit() const {
#pragma HLS INLINE
        return past == 0 && at >= FIRST && at < END;
    }

    // next goes to the next position; it reports whether that begins the axis anew.
    bool next() {
#pragma HLS INLINE
        if (at >= FIRST) past += 1;
        if (past == STEP) past = 0;
        at += 1;
        if (at != LENGTH) return false;
        at = 0;
        past = 0;
        return true;
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

    // first tells the frame's first word.
    bool first() const {
#pragma HLS INLINE
        return row.at == 0 && column.at == 0 && word == 0;
    }

    // next goes to the next word.
    void next() {
#pragma HLS INLINE
        word += 1;
        if (word != C::words) return;
        word = 0;
        if (column.next()) row.next();
    }
};

} // namespace hlsgen

#endif
