// The layer writes chunks of the first and of the last time step of a frame, in any order.
//     y[j] = chunk order[j] of the kept steps: the first step, if any of its chunks is written, and the latest one
// The whole frame is read, then its chunks are written. Input and output words have the same number of elements.
//
// C has the members in_width, out_width of the streams, order_t and order_per_limb of the table, and
//     steps                 steps of a frame
//     in_words, out_words   input words of a step, and output words of a frame
//     chunk_words           words of a chunk
//     step_chunks           chunks of a step
//     behind                words kept in front of the latest step: those of the first step, or none
//     kept_rows ...         the memory of the kept steps, as core/memory.hpp describes
// The table has a row for every output chunk: the number of a chunk of the first step, or, numbered after those, of a
// chunk of the last step.
#ifndef HLSGEN_FIRSTLAST_HPP
#define HLSGEN_FIRSTLAST_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// firstlast_place returns the address of a word of an output chunk in the memory. The argument several tells whether
// the frame has several steps.
template <class C, class ORDER> int firstlast_place(const ORDER& order, int chunk, int word, bool several) {
#pragma HLS INLINE
    const int from = element<typename C::order_t, C::order_per_limb>(order[chunk], 0);
    const bool last = from >= C::step_chunks;
    return (last ? from - C::step_chunks : from) * C::chunk_words + word + (last && several ? C::behind : 0);
}

// firstlast_written advances to the next output word of the frame. It reports whether the frame is complete.
template <class C> bool firstlast_written(ap_uint<count_width(C::out_words)>& chunk, ap_uint<count_width(C::chunk_words)>& word) {
#pragma HLS INLINE
    word += 1;
    if (word != C::chunk_words) return false;
    word = 0;
    chunk += 1;
    return chunk == C::out_words / C::chunk_words;
}

// firstlast_frame is the layer's position in a frame.
template <class C> struct firstlast_frame {
    ap_uint<count_width(C::steps)> step;       // steps read so far
    ap_uint<count_width(C::in_words)> at;      // input word of the step
    ap_uint<count_width(C::out_words)> chunk;  // output chunk
    ap_uint<count_width(C::chunk_words)> word; // output word of the chunk

    constexpr firstlast_frame() : step(0), at(0), chunk(0), word(0) {}
};

// firstlast runs one iteration of the layer.
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

// firstlast_sequence is the layer's position in a sequence of any length.
template <class C> struct firstlast_sequence {
    ap_uint<1> several, writing;               // a step was read completely; all steps were
    ap_uint<count_width(C::in_words)> at;      // input word of the step
    ap_uint<count_width(C::out_words)> chunk;  // output chunk
    ap_uint<count_width(C::chunk_words)> word; // output word of the chunk

    constexpr firstlast_sequence() : several(0), writing(0), at(0), chunk(0), word(0) {}
};

// firstlast_steps runs one iteration for sequences of any length. The stream ends has a word for each step, which is 1
// at the last step of a sequence. C lacks the member steps.
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
