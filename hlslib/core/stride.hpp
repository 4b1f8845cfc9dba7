// Positions along an axis.
#ifndef HLSGEN_CORE_STRIDE_HPP
#define HLSGEN_CORE_STRIDE_HPP

#include "compare.hpp"

namespace hlsgen {

// stride goes along an axis of LENGTH positions, over and over, and knows FIRST, FIRST+STEP ... below END.
template <int LENGTH, int FIRST, int END, int STEP> struct stride {
    ap_uint<count_width(LENGTH)> at;
    ap_uint<count_width(STEP)> past; // positions since the last one that is known

    stride() : at(0), past(0) {}

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

} // namespace hlsgen

#endif
