// Includes the vendor's headers with the width of the network's widest word. AP_INT_MAX_W must be defined before
// ap_int.h is first included, so every file of the project includes this file first.
#ifndef AP_TYPES_HPP
#define AP_TYPES_HPP

#define AP_INT_MAX_W {{ v.Max|req }}

#include <ap_axi_sdata.h>
#include <ap_int.h>
#include <hls_stream.h>

#endif
