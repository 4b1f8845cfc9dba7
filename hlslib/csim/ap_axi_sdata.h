// The AXI4-Stream word of AMD's ap_axi_sdata.h with the members that hlsgen uses: data, keep, strb and last, but no
// side channels.
#ifndef HLSGEN_CSIM_AP_AXI_SDATA_H
#define HLSGEN_CSIM_AP_AXI_SDATA_H

#include "ap_int.h"

template <int D, int USER, int ID, int DEST> struct ap_axiu {
    static_assert(USER == 0 && ID == 0 && DEST == 0, "side channels are not simulated");
    ap_uint<D> data;
    ap_uint<(D + 7) / 8> keep;
    ap_uint<(D + 7) / 8> strb;
    ap_uint<1> last;
};

#endif
