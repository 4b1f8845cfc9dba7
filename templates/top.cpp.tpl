#include "top.hpp"

#include "layers.hpp"

void {{ v.Top|req }}({{ v.Params|req }}) {
{%- for p in v.In %}
#pragma HLS INTERFACE axis port={{ p.Name|req }}
{%- endfor %}
{%- for p in v.Out %}
#pragma HLS INTERFACE axis port={{ p.Name|req }}
{%- endfor %}
#pragma HLS INTERFACE ap_ctrl_none port=return
#pragma HLS DATAFLOW disable_start_propagation
{% for s in v.Streams %}
    static {{ s.Type|req }} {{ s.Name|req }}("{{ s.Name|req }}");{% if s.Doc %} // {{ s.Doc|req }}{% endif %}
#pragma HLS STREAM variable={{ s.Name|req }} depth={{ s.Depth|req }}
#pragma HLS BIND_STORAGE variable={{ s.Name|req }} type=fifo impl={{ s.Memory|req }}
{%- endfor %}
{% for c in v.Calls %}
    {{ c|req }}
{%- endfor %}
}
