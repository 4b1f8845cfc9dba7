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

// firstlast_written goes on to the next word of a frame that is written; it reports whether there is none.
template <class C> bool firstlast_written(ap_uint<count_width(C::out_words)>& chunk, ap_uint<count_width(C::chunk_words)>& word) {
#pragma HLS INLINE
    word += 1;
    if (word != C::chunk_words) return false;
    word = 0;
    chunk += 1;
    return chunk == C::out_words / C::chunk_words;
}

// firstlast_frame is where a layer stands in a frame.
template <class C> struct firstlast_frame {
    ap_uint<count_width(C::steps)> step;       // read so far
    ap_uint<count_width(C::in_words)> at;      // of the step
    ap_uint<count_width(C::out_words)> chunk;  // that is written
    ap_uint<count_width(C::chunk_words)> word; // of the chunk

    constexpr firstlast_frame() : step(0), at(0), chunk(0), word(0) {}
};

// firstlast is one iteration.
template <class C, class ORDER>
void firstlast(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    static ap_uint<C::kept_width> kept[C::kept_rows];
#pragma HLS RESET variable=kept off
    bind_memory(kept, memory<C::kept_memory>());
    static firstlast_frame<C> place;
#pragma HLS RESET variable=place
    firstlast_frame<C> at = place;

    const bool reads = at.step != C::steps;
    if (reads && in.empty()) return;
    if (reads) {
        kept[int(at.at) + (at.step == 0 ? 0 : C::behind)] = in.read();
        at.at += 1;
        if (at.at == C::in_words) {
            at.at = 0;
            at.step += 1;
        }
    } else {
        out.write(kept[firstlast_place<C>(order, int(at.chunk), int(at.word), C::steps > 1)]);
        if (firstlast_written<C>(at.chunk, at.word)) at = firstlast_frame<C>();
    }
    place = at;
}

// firstlast_sequence is where a layer stands in a sequence of any length.
template <class C> struct firstlast_sequence {
    ap_uint<1> several, writing;               // steps were read, and all of them
    ap_uint<count_width(C::in_words)> at;      // of the step
    ap_uint<count_width(C::out_words)> chunk;  // that is written
    ap_uint<count_width(C::chunk_words)> word; // of the chunk

    constexpr firstlast_sequence() : several(0), writing(0), at(0), chunk(0), word(0) {}
};

// firstlast_steps is one iteration in a sequence of any length. An end is 1 at its last step. C lacks steps.
template <class C, class ORDER>
void firstlast_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in,
                     hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    static ap_uint<C::kept_width> kept[C::kept_rows];
#pragma HLS RESET variable=kept off
    bind_memory(kept, memory<C::kept_memory>());
    static firstlast_sequence<C> place;
#pragma HLS RESET variable=place
    firstlast_sequence<C> at = place;

    const bool reads = at.writing == 0, asks = reads && at.at == C::in_words - 1;
    if (reads && in.empty()) return;
    if (asks && ends.empty()) return;
    if (reads) {
        kept[int(at.at) + (at.several == 1 ? C::behind : 0)] = in.read();
        at.at += 1;
        if (asks) {
            at.at = 0;
            at.writing = ends.read();
            if (at.writing == 0) at.several = 1;
        }
    } else {
        out.write(kept[firstlast_place<C>(order, int(at.chunk), int(at.word), at.several == 1)]);
        if (firstlast_written<C>(at.chunk, at.word)) at = firstlast_sequence<C>();
    }
    place = at;
}

} // namespace hlsgen

#endif
