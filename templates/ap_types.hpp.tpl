// The vendor's headers, with room for the network's widest word. AP_INT_MAX_W must be defined before ap_int.h is first
// read: every file of the project starts from here.
#ifndef AP_TYPES_HPP
#define AP_TYPES_HPP

#define AP_INT_MAX_W {{ v.Max|req }}

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#endif
