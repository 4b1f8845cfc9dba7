// The gathering of chunks within blocks.
//     y[j] = x[order[j]], the chunks of a block
// Blocks go through two banks: while one is written in, the one before is read out, in words of the same number of
// elements. The first block is only read, and behind the last one only written.
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

// reorder_apart processes one sequence of any length, of which every step is whole blocks: a block is read while the one before
// is written. An end is 1 at its last step. Here C has the blocks of a step.
template <class C, class ORDER>
void reorder_apart(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
                   const ORDER& order) {
#pragma HLS INLINE
    const int longer = C::in_words > C::out_words ? C::in_words : C::out_words;
    ap_uint<C::banks_width> banks[C::banks_rows]; // two blocks, one after the other
    bind_memory(banks, memory<C::banks_memory>());
    bool reading = true, writing = false;          // a block is read, and the one before is written
    ap_uint<count_width(C::blocks)> block = 0;     // that is read, of the step
    ap_uint<1> bank = 0;                           // where it goes
    ap_uint<count_width(longer)> at = 0;           // clock of the block
    ap_uint<count_width(C::out_words)> chunk = 0;  // of the block that is written
    ap_uint<count_width(C::chunk_words)> word = 0; // of the chunk

    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        if (reading && at < C::in_words) banks[(bank == 0 ? 0 : C::in_words) + at] = in.read();
        if (writing && at < C::out_words) {
            const int first = element<typename C::order_t, C::order_per_limb>(order[chunk], 0) * C::chunk_words;
            out.write(banks[(bank == 0 ? C::in_words : 0) + first + word]);
            word += 1;
            if (word == C::chunk_words) {
                word = 0;
                chunk += 1;
            }
        }

        at += 1;
        const int clocks = !writing ? C::in_words : !reading ? C::out_words : longer;
        if (at == clocks) {
            at = 0;
            chunk = 0;
            word = 0;
            bank = bank == 0 ? 1 : 0;
            more = reading;
            writing = true;
            block += 1;
            if (reading && block == C::blocks) {
                block = 0;
                reading = ends.read() == 0;
            }
        }
    }
}

// reorder_steps processes one sequence of any length: all of it is read, and then written. An end is 1 at its last step.
// Here C has
//     in_words, out_words     words of a step read, and written
//     in_chunks, chunk_words  chunks of a step read, and words of a chunk
//     longest                 steps of the longest sequence
// The table has, for every chunk of a step written, the chunk of the same step read, or, behind those, of the step as far from
// the end.
template <class C, class ORDER>
void reorder_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
                   const ORDER& order) {
#pragma HLS INLINE
    ap_uint<C::banks_width> banks[C::banks_rows];
    bind_memory(banks, memory<C::banks_memory>());
    ap_uint<count_width(C::longest)> steps = 0;
    ap_uint<count_width(C::in_words)> arrived = 0;        // words of the step
    ap_uint<count_width(C::longest * C::in_words)> at = 0; // of the sequence

    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        banks[at] = in.read();
        at += 1;
        arrived += 1;
        if (arrived == C::in_words) {
            arrived = 0;
            steps += 1;
            more = ends.read() == 0;
        }
    }

    ap_uint<count_width(C::longest)> step = 0;
    ap_uint<count_width(C::out_words)> chunk = 0;  // of the step
    ap_uint<count_width(C::chunk_words)> word = 0; // of the chunk
    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        const int from = element<typename C::order_t, C::order_per_limb>(order[chunk], 0);
        const bool turned = from >= C::in_chunks;
        const int source = turned ? int(steps) - 1 - int(step) : int(step);
        out.write(banks[source * C::in_words + (turned ? from - C::in_chunks : from) * C::chunk_words + int(word)]);
        word += 1;
        if (word == C::chunk_words) {
            word = 0;
            chunk += 1;
            if (chunk == C::out_words / C::chunk_words) {
                chunk = 0;
                step += 1;
                more = step != steps;
            }
        }
    }
}

} // namespace hlsgen

#endif
