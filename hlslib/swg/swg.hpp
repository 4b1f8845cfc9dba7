// The sliding window: it copies the input pixels of every kernel window.
//     y[oy][ox][i*kernel_w+j][c] = x[oy*stride_h-before_h+i*dilation_h][ox*stride_w-before_w+j*dilation_w][c]
// or pad, if that pixel lies outside of the frame. Windows leave in raster order. The channels of a window are divided
// into tiles; a tile is written position by position, and each position channel by channel. If an output word has one
// kernel position, an iteration reads a word into a ring buffer of pixels, writes one from it, or does both. If an
// output word has all positions, an iteration shifts an input word into delay lines, whose taps are the window.
//
// C has the members in_t, in_width, out_t, out_width of the streams, and
//     parallel                 a word holds all kernel positions
//     iterations               clocks of a frame
//     parts                    words of a pixel
//     frame_h, frame_w         pixels of the frame; _h is along the height, _w along the width, here and below
//     windows_h, windows_w     windows of the frame
//     kernel_h, kernel_w       taps of a window
//     stride_h, stride_w       pixels from one window to the next
//     dilation_h, dilation_w   pixels from one tap to the next
//     before_h, before_w       pixels of padding above and to the left of the frame
//     padded, pad              whether some tap lies outside of the frame, and the bits of a padding element
// and, if an output word has one position,
//     tile                     words of a pixel in a tile
//     ring_rows ...            the memory of the ring, as core/memory.hpp describes
// or, if it has all positions,
//     taps_width               bits of all taps of a word
//     lines_rows ...           the memory of the delays of lines
//     columns_rows ...         the memory of the delays between columns of taps
// Places in the frame are counted in words: y is a multiple of the words of a line, x counts words within a line, and
// the pixel begins at word y + x.
#ifndef HLSGEN_SWG_HPP
#define HLSGEN_SWG_HPP

#include <ap_int.h>
#include <hls_stream.h>

#include "core/compare.hpp"
#include "core/counter.hpp"
#include "core/memory.hpp"
#include "core/word.hpp"

namespace hlsgen {

// swg_size holds the geometry in words.
template <class C> struct swg_size {
    static const int line = C::frame_w * C::parts;
    static const int frame = C::frame_h * line;
    static const int next_y = C::stride_h * line, next_x = C::stride_w * C::parts;       // from window to window
    static const int tap_y = C::dilation_h * line, tap_x = C::dilation_w * C::parts;     // from tap to tap
    static const int tall = (C::kernel_h - 1) * tap_y, wide = (C::kernel_w - 1) * tap_x; // from the first tap to the last
    static const int before_y = C::before_h * line, before_x = C::before_w * C::parts;
    // The places of windows reach from -before to past the last window, so these types are signed.
    static const int y_width = count_width(before_y + C::windows_h * next_y + tall) + 1;
    static const int x_width = count_width(before_x + C::windows_w * next_x + wide) + 1;
};

// swg_walk steps from window to window. y and x are the place of the window's first tap, counted from the corner of
// the padding; oy and ox are the number of the window. All bits are zero at the beginning.
template <class C> struct swg_walk {
    typedef swg_size<C> size;
    typedef ap_int<size::y_width> y_type;
    typedef ap_int<size::x_width> x_type;
    typedef ap_uint<count_width(2 * size::frame)> words_type; // a number of words

    y_type y;
    x_type x;
    ap_uint<count_width(C::windows_h)> oy;
    ap_uint<count_width(C::windows_w)> ox;

    constexpr swg_walk() : y(0), x(0), oy(0), ox(0) {}

    void next() {
#pragma HLS INLINE
        if (ox != C::windows_w - 1) {
            x += size::next_x;
            ox += 1;
            return;
        }
        x = 0;
        ox = 0;
        y += size::next_y;
        oy += 1;
    }

    bool over() const {
#pragma HLS INLINE
        return oy == C::windows_h;
    }

    // inside reports whether a tap lies in the frame.
    static bool inside(const y_type& tap_y, const x_type& tap_x) {
#pragma HLS INLINE
        return !C::padded || (tap_y >= size::before_y && tap_y < size::before_y + size::frame && tap_x >= size::before_x &&
                              tap_x < size::before_x + size::line);
    }
};

// swg_padding returns a word of N bits in which every element is padding.
template <class C, int N> ap_uint<N> swg_padding() {
#pragma HLS INLINE
    typedef typename C::out_t out_t;
    ap_uint<N> word = 0;
    element_loop: for (int i = 0; i < N / element_type<out_t>::width; i++) {
#pragma HLS UNROLL
        put(word, i, element_type<out_t>::decode(ap_uint<element_type<out_t>::width>(C::pad)));
    }
    return word;
}

// swg_turn returns the place step places after at, in a ring of N places. The step is less than N.
template <int N> ap_uint<count_width(N)> swg_turn(const ap_uint<count_width(N)>& at, const ap_uint<count_width(N)>& step) {
#pragma HLS INLINE
    ap_uint<count_width(N) + 1> sum = at + step;
    if (sum >= N) sum -= N;
    return sum;
}

constexpr int swg_step(int n, int ring) { return (n % ring + ring) % ring; }

// swg_words holds two counts of words read from the frame, for one window. Each count is a sum: the words of whole
// lines (_y), and the words within a line (_x).
template <class C> struct swg_words {
    typedef swg_size<C> size;
    typedef ap_uint<count_width(2 * size::frame)> number;

    number need_y, need_x;   // words that must have been read before the window can be written
    number limit_y, limit_x; // words that the ring can take before the next window begins
    bool over;               // the frame has no further window

    constexpr swg_words() : need_y(0), need_x(0), limit_y(0), limit_x(0), over(false) {}

    void take(const swg_walk<C>& at) {
#pragma HLS INLINE
        need_y = size::frame - size::line;
        need_x = size::line;
        if (at.y < size::frame - size::line - size::tall + size::before_y) need_y = at.y + (size::tall - size::before_y);
        if (at.x < size::line - C::parts - size::wide + size::before_x)
            need_x = at.x + (size::wide - size::before_x + C::parts);
        const int room = C::ring_rows - size::before_y - size::before_x;
        limit_y = size::before_y + room;
        limit_x = size::before_x;
        if (at.y > size::before_y) limit_y = at.y + room;
        const bool lowest = at.y > size::before_y - size::next_y, last = at.oy == C::windows_h - 1;
        if ((at.x > size::before_x) & (lowest | last)) limit_x = at.x;
        over = at.over();
    }

    // need returns the words to read before the window; after the last window, more words than the frame has.
    number need() const {
#pragma HLS INLINE
        number n = need_y + need_x;
        if (over) n = size::frame + 1;
        return n;
    }

    number limit() const {
#pragma HLS INLINE
        number n = limit_y + limit_x;
        if (over) n = size::frame;
        return n;
    }
};

// swg_place is the position in a frame of a layer that writes one kernel position per clock. To keep paths short,
// values are computed ahead: a tap's step when the previous tap is written, and a window's counts of words two windows
// before.
template <class C> struct swg_place {
    typedef swg_walk<C> walk;
    typedef swg_size<C> size;
    typedef swg_words<C> words;
    typedef ap_uint<count_width(C::ring_rows)> place;

    ap_uint<count_width(C::iterations)> clock;
    // The words of the current window and of the next one, and the next two windows.
    typename words::number need, limit, got;
    words next_words;
    walk next_window, after;
    typename walk::y_type corner_y, y; // place of the window, and of the current tap
    typename walk::x_type corner_x, x;
    place from, to;
    // Whether the current word is the last of its tap, line of taps, tile or window, and the distance to the next
    // word.
    bool ends_tap, ends_line, ends_tile, ends_window;
    place step;
    // The next tap.
    ap_uint<count_width(C::tile)> word;
    ap_uint<count_width(C::kernel_w)> j;
    ap_uint<count_width(C::kernel_h)> i;
    ap_uint<count_width(C::parts)> tiles;
    ap_uint<count_width(C::windows_w)> column;

    constexpr swg_place()
        : clock(0), need(0), limit(0), got(0), corner_y(0), y(0), corner_x(0), x(0), from(0), to(0), ends_tap(false),
          ends_line(false), ends_tile(false), ends_window(false), step(0), word(0), j(0), i(0), tiles(0), column(0) {}

    // The first clock of a frame only reads, because there is nothing to write yet.
    bool reads() const {
#pragma HLS INLINE
        return clock == 0 || (got != size::frame && got < limit);
    }

    bool writes() const {
#pragma HLS INLINE
        return clock != 0 && got >= need;
    }

    // place_read returns the ring's place for the word that is read.
    place place_read() const {
#pragma HLS INLINE
        return clock == 0 ? place(0) : to;
    }

    void next() {
#pragma HLS INLINE
        if (clock == 0) {
            start();
            return;
        }
        const bool reading = reads(), writing = writes();
        clock = clock == C::iterations - 1 ? 0 : int(clock) + 1;
        got = reading ? int(got) + 1 : int(got);
        to = !reading ? int(to) : to == C::ring_rows - 1 ? 0 : int(to) + 1;
        if (writing) next_tap();
    }

private:
    // start sets the state after the first clock of a frame. Before it, all bits are zero, or left over from the frame
    // before.
    void start() {
#pragma HLS INLINE
        *this = swg_place();
        clock = 1;
        got = 1;
        to = 1 % C::ring_rows;
        from = swg_step(-size::before_y - size::before_x, C::ring_rows);
        look();
        turn(); // to the first window after this one
        turn();
    }

    void next_tap() {
#pragma HLS INLINE
        from = swg_turn<C::ring_rows>(from, step);
        if (ends_window) {
            turn();
        } else if (ends_tile) {
            x = corner_x;
            y = corner_y;
        } else if (ends_line) {
            x = corner_x;
            y += size::tap_y;
        } else if (ends_tap) {
            x += size::tap_x;
        }
        look();
    }

    // look computes the step from the next word to the word after it. The constants are the distances in the ring from
    // the last word of a tap, a line of taps, a tile, a window and a row of windows to the following word.
    void look() {
#pragma HLS INLINE
        const int window = size::tall + size::wide + C::parts - 1;
        const place step_tap = swg_step(size::tap_x - C::tile + 1, C::ring_rows);
        const place step_line = swg_step(size::tap_y - size::wide - C::tile + 1, C::ring_rows);
        const place step_tile = swg_step(1 - size::tall - size::wide, C::ring_rows);
        const place step_window = swg_step(size::next_x - window, C::ring_rows);
        const place step_row = swg_step(size::next_y - (C::windows_w - 1) * size::next_x - window, C::ring_rows);

        ends_tap = word == C::tile - 1;
        ends_line = ends_tap && j == C::kernel_w - 1;
        ends_tile = ends_line && i == C::kernel_h - 1;
        ends_window = ends_tile && tiles == C::parts - C::tile;
        step = 1 % C::ring_rows;
        word += 1;
        if (!ends_tap) return;
        word = 0;
        step = step_tap;
        j += 1;
        if (!ends_line) return;
        j = 0;
        step = step_line;
        i += 1;
        if (!ends_tile) return;
        i = 0;
        step = step_tile;
        tiles += C::tile;
        if (!ends_window) return;
        tiles = 0;
        const bool ends_row = column == C::windows_w - 1;
        step = ends_row ? step_row : step_window;
        column = ends_row ? 0 : int(column) + 1;
    }

    // turn makes the next window the current one.
    void turn() {
#pragma HLS INLINE
        corner_y = next_window.y;
        corner_x = next_window.x;
        y = corner_y;
        x = corner_x;
        need = next_words.need();
        limit = next_words.limit();
        next_window = after;
        next_words.take(after);
        if (!after.over()) after.next();
    }
};

template <bool PARALLEL> struct swg_clock;

// swg_clock<false> writes one kernel position per clock.
template <> struct swg_clock<false> {
    template <class C> static void run(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        static ap_uint<C::ring_width> ring[C::ring_rows];
#pragma HLS RESET variable=ring off
        bind_memory(ring, memory<C::ring_memory>());
// A clock never writes the word that it stores: the stored word comes after all words that the window needs, and takes
// a place that the window no longer needs.
#pragma HLS DEPENDENCE variable=ring type=intra dependent=false
        static swg_place<C> place;
#pragma HLS RESET variable=place
        swg_place<C> at = place;

        if (at.reads() && in.empty()) return;
        if (at.reads()) ring[at.place_read()] = in.read();
        if (at.writes()) {
            ap_uint<C::out_width> tap = swg_padding<C, C::out_width>();
            if (swg_walk<C>::inside(at.y, at.x)) tap = recode<typename C::out_t, typename C::in_t>(ring[at.from]);
            out.write(tap);
        }

        at.next();
        place = at;
    }
};

// swg_delay delays words by DEPTH, 2*DEPTH, ... STAGES*DEPTH clocks. Each of its DEPTH places holds STAGES words, the
// newest at the high end, and is used every DEPTH clocks. The type OF makes the static variables of each delay
// distinct. A delay is not cleared between frames, because no window uses words of the frame before.
template <class OF, int STAGES, int WIDTH, int DEPTH, storage WHERE, bool SHIFTED = partitioned(WHERE)> struct swg_delay {
    // shift stores the newest word. It returns that word at the high end, above the words of DEPTH, 2*DEPTH ... clocks
    // ago.
    static ap_uint<(STAGES + 1) * WIDTH> shift(const ap_uint<WIDTH>& newest) {
#pragma HLS INLINE
        static ap_uint<STAGES * WIDTH> places[DEPTH];
#pragma HLS RESET variable=places off
// A place is used again after DEPTH clocks. A read and a write of the place take fewer.
#pragma HLS DEPENDENCE variable=places type=inter dependent=false
        bind_memory(places, memory<WHERE>());
        static counter<DEPTH> place;
#pragma HLS RESET variable=place
        counter<DEPTH> at = place;
        ap_uint<(STAGES + 1) * WIDTH> all = places[at.at];
        all.range((STAGES + 1) * WIDTH - 1, STAGES * WIDTH) = newest;
        places[at.at] = all.range((STAGES + 1) * WIDTH - 1, WIDTH);
        at.next();
        place = at;
        return all;
    }
};

// A delay with few places is a shift register.
template <class OF, int STAGES, int WIDTH, int DEPTH, storage WHERE> struct swg_delay<OF, STAGES, WIDTH, DEPTH, WHERE, true> {
    static ap_uint<(STAGES + 1) * WIDTH> shift(const ap_uint<WIDTH>& newest) {
#pragma HLS INLINE
        static ap_uint<STAGES * WIDTH> places[DEPTH];
#pragma HLS RESET variable=places off
        bind_memory(places, memory<WHERE>());
        ap_uint<(STAGES + 1) * WIDTH> all = places[DEPTH - 1];
        all.range((STAGES + 1) * WIDTH - 1, STAGES * WIDTH) = newest;
        shift_loop: for (int i = DEPTH - 1; i > 0; i--) {
#pragma HLS UNROLL
            places[i] = places[i - 1];
        }
        places[0] = all.range((STAGES + 1) * WIDTH - 1, WIDTH);
        return all;
    }
};

template <class OF, int WIDTH, int DEPTH, storage WHERE> struct swg_delay<OF, 0, WIDTH, DEPTH, WHERE, true> {
    static ap_uint<WIDTH> shift(const ap_uint<WIDTH>& newest) {
#pragma HLS INLINE
        return newest;
    }
};

// swg_lines and swg_columns name the layer's delays: those of lines, and those between columns of taps.
template <class C> struct swg_lines;
template <class C> struct swg_columns;

// swg_side_by_side is the position in a frame of a layer that writes all kernel positions in a clock. All bits are
// zero at the beginning.
template <class C> struct swg_side_by_side {
    typedef swg_size<C> size;
    static const int first = size::tall + size::wide - size::before_y - size::before_x; // the last pixel of the first window
    static_assert(first >= 0, "a window has a pixel of the frame");
    typedef ap_uint<count_width(C::iterations)> number;

    number clock;
    swg_walk<C> window;
    bool begun, over;   // the first window has been written; the last window has been written
    // Words since the last pixel of the previous window, or of the frame; words from that pixel to that of the next
    // window.
    number since, wait;
    ap_uint<count_width(C::parts)> part;

    constexpr swg_side_by_side() : clock(0), begun(false), over(false), since(0), wait(0), part(0) {}

    bool reads() const {
#pragma HLS INLINE
        return clock < size::frame;
    }

    bool writes() const {
#pragma HLS INLINE
        const bool due_first = since == first, due = since == wait;
        return !over && (begun ? due : due_first);
    }

    void next() {
#pragma HLS INLINE
        const bool last = part == C::parts - 1, written = writes() && last;
        if (last) since += C::parts;
        if (written) {
            const bool ends_row = window.ox == C::windows_w - 1;
            over = ends_row && window.oy == C::windows_h - 1;
            wait = ends_row ? size::next_y - (C::windows_w - 1) * size::next_x : size::next_x;
            since = C::parts;
            begun = true;
            window.next();
        }
        part = last ? 0 : int(part) + 1;
        if (clock != C::iterations - 1) clock += 1;
        else *this = swg_side_by_side();
    }
};

// swg_clock<true> writes all kernel positions in a clock.
template <> struct swg_clock<true> {
    template <class C> static void run(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
        typedef swg_walk<C> walk;
        typedef swg_size<C> size;
        const int column_width = C::kernel_h * C::in_width, tap_width = C::out_width / (C::kernel_h * C::kernel_w);
        typedef swg_delay<swg_lines<C>, C::kernel_h - 1, C::in_width, C::lines_rows, C::lines_memory> lines;
        typedef swg_delay<swg_columns<C>, C::kernel_w - 1, column_width, C::columns_rows, C::columns_memory> columns;
        static_assert(C::lines_width == (C::kernel_h - 1) * C::in_width, "lines are as wide as they are counted");
        static_assert(C::columns_width == (C::kernel_w - 1) * column_width, "and so are columns");
        static swg_side_by_side<C> place;
#pragma HLS RESET variable=place
        swg_side_by_side<C> at = place;

        if (at.reads() && in.empty()) return;
        ap_uint<C::in_width> newest = 0;
        if (at.reads()) newest = in.read();
        const ap_uint<C::taps_width> taps = columns::shift(lines::shift(newest));
        if (at.writes()) {
            ap_uint<C::out_width> y = 0;
            row_loop: for (int i = 0; i < C::kernel_h; i++) {
#pragma HLS UNROLL
                column_loop: for (int j = 0; j < C::kernel_w; j++) {
#pragma HLS UNROLL
                    ap_uint<tap_width> tap = swg_padding<C, tap_width>();
                    if (walk::inside(at.window.y + i * size::tap_y, at.window.x + j * size::tap_x))
                        tap = recode<typename C::out_t, typename C::in_t>(get<ap_uint<C::in_width> >(taps, j * C::kernel_h + i));
                    put(y, i * C::kernel_w + j, tap);
                }
            }
            out.write(y);
        }

        at.next();
        place = at;
    }
};

// swg runs one iteration of the layer.
template <class C> void swg(hls::stream<ap_uint<C::in_width> >& in, hls::stream<ap_uint<C::out_width> >& out) {
#pragma HLS INLINE
    swg_clock<C::parallel>::template run<C>(in, out);
}

} // namespace hlsgen

#endif
