// The network's ends: AXI4-Stream carries whole bytes, the streams inside carry words of any width.
#ifndef HLSGEN_CORE_AXIS_HPP
#define HLSGEN_CORE_AXIS_HPP

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

namespace hlsgen {

// axis_in takes one frame of WORDS words; the bits above WIDTH are padding.
template <int WIDTH, int TDATA, int WORDS>
void axis_in(hls::stream<ap_uint<TDATA>>& in, hls::stream<ap_uint<WIDTH>>& out) {
    for (int i = 0; i < WORDS; i++) {
#pragma HLS PIPELINE II=1 style=flp
        const ap_uint<TDATA> word = in.read();
        out.write(ap_uint<WIDTH>(word));
    }
}

// axis_out gives one frame of WORDS words, zero above WIDTH, with TLAST on the last one: a DMA ends its packet there.
template <int WIDTH, int TDATA, int WORDS>
void axis_out(hls::stream<ap_uint<WIDTH>>& in, hls::stream<ap_axiu<TDATA, 0, 0, 0>>& out) {
    for (int i = 0; i < WORDS; i++) {
#pragma HLS PIPELINE II=1 style=flp
        ap_axiu<TDATA, 0, 0, 0> word;
        word.data = in.read();
        word.keep = -1;
        word.strb = -1;
        word.last = i == WORDS - 1 ? 1 : 0;
        out.write(word);
    }
}

// tell_end tells every reader whether a step was the last one of its sequence.
inline void tell_end(const ap_uint<1>&) {
#pragma HLS INLINE
}

template <class... REST> void tell_end(const ap_uint<1>& end, hls::stream<ap_uint<1>>& to, REST&... rest) {
#pragma HLS INLINE
    to.write(end);
    tell_end(end, rest...);
}

// axis_in_steps takes one sequence of steps of WORDS words, up to the word with TLAST, and tells after every step whether it
// ended there. What the host gets wrong ends with the sequence: of a step in which TLAST comes, the words that are missing are
// zeros; of a sequence of more than LONGEST steps, the words behind these are left out.
template <int WIDTH, int TDATA, int WORDS, int LONGEST, class... ENDS>
void axis_in_steps(hls::stream<ap_axiu<TDATA, 0, 0, 0>>& in, hls::stream<ap_uint<WIDTH>>& out, ENDS&... ends) {
    int i = 0, step = 0;
    bool came = false, over = false; // the word with TLAST, and the last step
    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        ap_uint<WIDTH> data = 0;
        if (!came) {
            const ap_axiu<TDATA, 0, 0, 0> word = in.read();
            data = ap_uint<WIDTH>(word.data);
            came = word.last == 1;
        }
        if (!over) {
            out.write(data);
            i++;
            if (i == WORDS) {
                i = 0;
                step++;
                over = came || step == LONGEST;
                tell_end(over ? 1 : 0, ends...);
            }
        }
        more = !over || !came;
    }
}

// axis_out_steps gives one sequence of steps of WORDS words, with TLAST on the last one.
template <int WIDTH, int TDATA, int WORDS>
void axis_out_steps(hls::stream<ap_uint<1>>& ends, hls::stream<ap_uint<WIDTH>>& in, hls::stream<ap_axiu<TDATA, 0, 0, 0>>& out) {
    int i = 0;
    for (bool more = true; more;) {
#pragma HLS PIPELINE II=1 style=flp
        ap_axiu<TDATA, 0, 0, 0> word;
        word.data = in.read();
        word.keep = -1;
        word.strb = -1;
        word.last = 0;
        i++;
        if (i == WORDS) { // the words of a step come before its end does
            i = 0;
            word.last = ends.read();
            more = word.last == 0;
        }
        out.write(word);
    }
}

} // namespace hlsgen

#endif
