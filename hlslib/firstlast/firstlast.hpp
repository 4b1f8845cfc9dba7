// Chunks of the first and of the last step of a frame.
//     y[j] = chunk order[j] of what is kept: the first step, if anything of it goes out, and the latest one
// A frame is read whole, then its chunks are written, in words of the same number of elements.
//
// C has the members in_width, out_width of the streams, order_t and order_per_limb of the table, and
//     steps                 steps of a frame
//     in_words, out_words   words of a step read, and words of a frame written
//     chunk_words           words of a chunk
//     step_chunks           chunks of a step
//     behind                words kept in front of those of the latest step: a first step, or none
//     kept_rows ...         the memory of the steps that are kept, as core/memory.hpp has it
// The table has, for every chunk written, the chunk of the first step, or, behind those, of the last one.
#ifndef HLSGEN_FIRSTLAST_HPP
#define HLSGEN_FIRSTLAST_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// firstlast_place is where a word of a chunk lies, of a frame of several steps or of a single one.
template <class C, class ORDER> int firstlast_place(const ORDER& order, int chunk, int word, bool several) {
#pragma HLS INLINE
    const int from = element<typename C::order_t, C::order_per_limb>(order[chunk], 0);
    const bool last = from >= C::step_chunks;
    return (last ? from - C::step_chunks : from) * C::chunk_words + word + (last && several ? C::behind : 0);
}

// firstlast processes one frame.
template <class C, class ORDER>
void firstlast(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    ap_uint<C::kept_width> kept[C::kept_rows];
    bind_memory(kept, memory<C::kept_memory>());
    ap_uint<count_width(C::steps)> step = 0;       // read so far
    ap_uint<count_width(C::in_words)> at = 0;      // of the step
    ap_uint<count_width(C::out_words)> chunk = 0;  // that is written
    ap_uint<count_width(C::chunk_words)> word = 0; // of the chunk

    for (int i = 0; i < C::steps * C::in_words + C::out_words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        if (step != C::steps) {
            kept[int(at) + (step == 0 ? 0 : C::behind)] = in.read();
            at += 1;
            if (at == C::in_words) {
                at = 0;
                step += 1;
            }
        } else {
            out.write(kept[firstlast_place<C>(order, int(chunk), int(word), C::steps > 1)]);
            word += 1;
            if (word == C::chunk_words) {
                word = 0;
                chunk += 1;
            }
        }
    }
}

// firstlast_steps processes one sequence of any length. An end is 1 at its last step. C lacks steps.
template <class C, class ORDER>
void firstlast_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in,
                     hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    ap_uint<C::kept_width> kept[C::kept_rows];
    bind_memory(kept, memory<C::kept_memory>());
    bool several = false; // steps were read
    ap_uint<count_width(C::in_words)> at = 0;

    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        kept[int(at) + (several ? C::behind : 0)] = in.read();
        at += 1;
        if (at == C::in_words) {
            at = 0;
            more = ends.read() == 0;
            if (more) several = true;
        }
    }

    ap_uint<count_width(C::out_words)> chunk = 0;
    ap_uint<count_width(C::chunk_words)> word = 0; // of the chunk
    for (int i = 0; i < C::out_words; i++) {
#pragma HLS PIPELINE II=1 style=flp
        out.write(kept[firstlast_place<C>(order, int(chunk), int(word), several)]);
        word += 1;
        if (word == C::chunk_words) {
            word = 0;
            chunk += 1;
        }
    }
}

} // namespace hlsgen

#endif
