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

} // namespace hlsgen

#endif
