// The layer reorders, repeats or drops the chunks within each block of a frame.
//     y[j] = x[order[j]], where x[i] and y[j] are chunks of the input block and of the output block
// A memory of two banks holds two blocks. While an input block is stored in one bank, the previous block is written
// from the other. Input and output words have the same number of elements.
//
// C has the members in_width, out_width of the streams, order_t and order_per_limb of the table, and
//     blocks                blocks in a frame
//     in_words, out_words   input words and output words of a block
//     chunk_words           words of a chunk
//     banks_rows ...        the memory of two blocks, as core/memory.hpp describes
#ifndef HLSGEN_REORDER_HPP
#define HLSGEN_REORDER_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// reorder_place is the layer's position in a frame. A phase reads one block and writes the previous block: the first
// phase only reads, the last one only writes.
template <class C> struct reorder_place {
    static const int longer = C::in_words > C::out_words ? C::in_words : C::out_words;
    ap_uint<count_width(C::blocks)> phase;     // number of the block that is read, one above the block that is written
    ap_uint<1> bank;                           // bank of the block that is read
    ap_uint<count_width(longer)> step;         // iteration of the phase
    ap_uint<count_width(C::out_words)> chunk;  // chunk of the block that is written
    ap_uint<count_width(C::chunk_words)> word; // word of the chunk

    constexpr reorder_place() : phase(0), bank(0), step(0), chunk(0), word(0) {}

    bool reads() const {
#pragma HLS INLINE
        return phase != C::blocks && step < C::in_words;
    }

    bool writes() const {
#pragma HLS INLINE
        return phase != 0 && step < C::out_words;
    }

    void next() {
#pragma HLS INLINE
        const bool short_in = step == C::in_words - 1, short_out = step == C::out_words - 1;
        const bool over = phase == 0 ? short_in : phase == C::blocks ? short_out : step == longer - 1;
        if (!over) {
            if (writes()) {
                const bool ends_chunk = word == C::chunk_words - 1;
                word = ends_chunk ? 0 : int(word) + 1;
                chunk = ends_chunk ? int(chunk) + 1 : int(chunk);
            }
            step += 1;
            return;
        }
        step = 0;
        chunk = 0;
        word = 0;
        phase = phase == C::blocks ? 0 : int(phase) + 1;
        bank = bank == 0 ? 1 : 0;
    }
};

// reorder_from returns the address within a block of a word of output chunk `chunk`.
template <class C, class ORDER> int reorder_from(const ORDER& order, int chunk, int word) {
#pragma HLS INLINE
    return element<typename C::order_t, C::order_per_limb>(order[chunk], 0) * C::chunk_words + word;
}

// reorder runs one iteration of the layer.
template <class C, class ORDER>
void reorder(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out, const ORDER& order) {
#pragma HLS INLINE
    static ap_uint<C::banks_width> banks[C::banks_rows]; // two blocks, one after the other
#pragma HLS RESET variable=banks off
    bind_memory(banks, memory<C::banks_memory>());
    static reorder_place<C> place;
#pragma HLS RESET variable=place
    reorder_place<C> at = place;

    if (at.reads() && in.empty()) return;
    if (at.reads()) banks[(at.bank == 0 ? 0 : C::in_words) + at.step] = in.read();
    if (at.writes()) out.write(banks[(at.bank == 0 ? C::in_words : 0) + reorder_from<C>(order, int(at.chunk), int(at.word))]);

    at.next();
    place = at;
}

// reorder_apart_place is the layer's position in a sequence of any length, if every time step consists of whole
// blocks. Here C::blocks counts the blocks of a step.
template <class C> struct reorder_apart_place {
    static const int longer = C::in_words > C::out_words ? C::in_words : C::out_words;
    ap_uint<1> over, writing;                  // all blocks have been read; the previous block is being written
    ap_uint<count_width(C::blocks)> block;     // block of the step that is read
    ap_uint<1> bank;                           // bank of that block
    ap_uint<count_width(longer)> at;           // clock of the block
    ap_uint<count_width(C::out_words)> chunk;  // chunk of the block that is written
    ap_uint<count_width(C::chunk_words)> word; // word of the chunk

    // A reset sets all bits to zero, so the constructor must do the same.
    constexpr reorder_apart_place() : over(0), writing(0), block(0), bank(0), at(0), chunk(0), word(0) {}

    bool reads() const {
#pragma HLS INLINE
        return over == 0 && at < C::in_words;
    }

    bool writes() const {
#pragma HLS INLINE
        return writing == 1 && at < C::out_words;
    }

    // asks reports whether this is the last clock of a step, in which the layer must know whether the sequence ends.
    bool asks() const {
#pragma HLS INLINE
        return over == 0 && block == C::blocks - 1 && ends_block();
    }

    bool ends_block() const {
#pragma HLS INLINE
        const bool short_in = at == C::in_words - 1, short_out = at == C::out_words - 1;
        return writing == 0 ? short_in : over == 1 ? short_out : at == longer - 1;
    }

    // next advances to the next clock. The argument last says that this clock completes the last step of the sequence.
    void next(bool last) {
#pragma HLS INLINE
        const bool more = over == 0;
        if (!ends_block()) {
            if (writes()) {
                const bool ends_chunk = word == C::chunk_words - 1;
                word = ends_chunk ? 0 : int(word) + 1;
                chunk = ends_chunk ? int(chunk) + 1 : int(chunk);
            }
            at += 1;
            return;
        }
        at = 0;
        chunk = 0;
        word = 0;
        bank = bank == 0 ? 1 : 0;
        block = more && block != C::blocks - 1 ? int(block) + 1 : 0;
        writing = more ? 1 : 0;
        over = last ? 1 : 0;
    }
};

// reorder_apart runs one iteration for sequences of any length. A block is read while the previous block is written.
// The stream ends has a word for each step, which is 1 at the last step of a sequence.
template <class C, class ORDER>
void reorder_apart(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
                   const ORDER& order) {
#pragma HLS INLINE
    static ap_uint<C::banks_width> banks[C::banks_rows]; // two blocks, one after the other
#pragma HLS RESET variable=banks off
    bind_memory(banks, memory<C::banks_memory>());
    static reorder_apart_place<C> place;
#pragma HLS RESET variable=place
    reorder_apart_place<C> at = place;

    if (at.reads() && in.empty()) return;
    if (at.asks() && ends.empty()) return;
    bool last = false;
    if (at.asks()) last = ends.read() == 1;
    if (at.reads()) banks[(at.bank == 0 ? 0 : C::in_words) + at.at] = in.read();
    if (at.writes()) out.write(banks[(at.bank == 0 ? C::in_words : 0) + reorder_from<C>(order, int(at.chunk), int(at.word))]);

    at.next(last);
    place = at;
}

// reorder_steps_place is the layer's position in a sequence of any length, if the whole sequence is read before it is
// written.
template <class C> struct reorder_steps_place {
    ap_uint<1> writing;
    ap_uint<count_width(C::longest)> end;               // the step that is read; while writing, the last step
    ap_uint<count_width(C::in_words)> arrived;          // words read of that step
    ap_uint<count_width(C::longest * C::in_words)> at;  // words read of the sequence
    ap_uint<count_width(C::longest)> step;              // step that is written
    ap_uint<count_width(C::out_words)> chunk;           // chunk of that step
    ap_uint<count_width(C::chunk_words)> word;          // word of the chunk

    constexpr reorder_steps_place() : writing(0), end(0), arrived(0), at(0), step(0), chunk(0), word(0) {}

    // asks reports whether the next word completes a step, so that the layer must know whether the sequence ends.
    bool asks() const {
#pragma HLS INLINE
        return writing == 0 && arrived == C::in_words - 1;
    }

    void read(bool last) {
#pragma HLS INLINE
        at += 1;
        if (!asks()) {
            arrived += 1;
            return;
        }
        arrived = 0;
        if (last) writing = 1;
        else end += 1;
    }

    void written() {
#pragma HLS INLINE
        const bool last = step == end;
        if (word != C::chunk_words - 1) {
            word += 1;
            return;
        }
        word = 0;
        if (chunk != C::out_words / C::chunk_words - 1) {
            chunk += 1;
            return;
        }
        chunk = 0;
        step += 1;
        if (last) *this = reorder_steps_place();
    }
};

// reorder_steps runs one iteration for sequences of any length, which it reads whole before it writes. The stream ends
// has a word for each step, which is 1 at the last step of a sequence. Here C has
//     in_words, out_words     input words and output words of a step
//     in_chunks, chunk_words  input chunks of a step, and words of a chunk
//     longest                 steps of the longest sequence
// The table has a row for every output chunk of a step: the number of a chunk of the same input step, or, numbered
// after those, of a chunk of the step at the same distance from the end of the sequence.
template <class C, class ORDER>
void reorder_steps(hls::stream<ap_uint<1> >& ends, hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out,
                   const ORDER& order) {
#pragma HLS INLINE
    static ap_uint<C::banks_width> banks[C::banks_rows];
#pragma HLS RESET variable=banks off
    bind_memory(banks, memory<C::banks_memory>());
    static reorder_steps_place<C> place;
#pragma HLS RESET variable=place
    reorder_steps_place<C> at = place;

    if (at.writing == 0 && in.empty()) return;
    if (at.asks() && ends.empty()) return;
    if (at.writing == 0) {
        bool last = false;
        if (at.asks()) last = ends.read() == 1;
        banks[at.at] = in.read();
        at.read(last);
    } else {
        const int from = element<typename C::order_t, C::order_per_limb>(order[at.chunk], 0);
        const bool turned = from >= C::in_chunks;
        const int source = turned ? int(at.end) - int(at.step) : int(at.step);
        out.write(banks[source * C::in_words + (turned ? from - C::in_chunks : from) * C::chunk_words + int(at.word)]);
        at.written();
    }
    place = at;
}

} // namespace hlsgen

#endif
