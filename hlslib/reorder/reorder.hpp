// The gathering of chunks within blocks. reorder.go beside this file says what it computes, and when words move.
//
// C has the members in_width, out_width of the streams, order_t and order_per_limb of the table, and
//     blocks                blocks in a frame
//     in_words, out_words   words of a block read, and written
//     chunk_words           words of a chunk
//     banks_rows ...        the memory of two blocks, as core/memory.hpp has it
#ifndef HLSGEN_REORDER_HPP
#define HLSGEN_REORDER_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// reorder processes one frame.
template <class C, class ORDER>
void reorder(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    const int longer = C::in_words > C::out_words ? C::in_words : C::out_words;
    ap_uint<C::banks_width> banks[C::banks_rows]; // two blocks, one after the other
    bind_memory(banks, memory<C::banks_memory>());
    ap_uint<count_width(C::blocks)> phase = 0;     // the block that is read, one after the block that is written
    ap_uint<1> bank = 0;                           // of the block that is read
    ap_uint<count_width(longer)> step = 0;         // of the phase
    ap_uint<count_width(C::out_words)> chunk = 0;  // of the block that is written
    ap_uint<count_width(C::chunk_words)> word = 0; // of the chunk

    for (int i = 0; i < C::in_words + (C::blocks - 1) * longer + C::out_words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        if (phase != C::blocks && step < C::in_words) banks[(bank == 0 ? 0 : C::in_words) + step] = in.read();
        if (phase != 0 && step < C::out_words) {
            const int first = element<typename C::order_t, C::order_per_limb>(order[chunk], 0) * C::chunk_words;
            out.write(banks[(bank == 0 ? C::in_words : 0) + first + word]);
            word += 1;
            if (word == C::chunk_words) {
                word = 0;
                chunk += 1;
            }
        }

        step += 1;
        const int steps = phase == 0 ? C::in_words : longer;
        if (step == steps) {
            step = 0;
            chunk = 0;
            word = 0;
            phase += 1;
            bank = bank == 0 ? 1 : 0;
        }
    }
}

} // namespace hlsgen

#endif
