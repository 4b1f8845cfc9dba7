#include "layers.hpp"
{% if v.Ends %}
#include "include/hlsgen/core/axis.hpp"
{%- endif %}
{%- for k in v.Kernels %}
#include "include/hlsgen/{{ k|req }}"
{%- endfor %}
{% for t in v.Tables %}
#include "tables/{{ t|req }}"
{%- endfor %}
{% for l in v.Layers %}
void {{ l.Name|req }}({{ l.Params|req }}) {
#pragma HLS INLINE off
#pragma HLS PIPELINE II=1 style=flp
{%- for p in l.Bind %}
#pragma HLS {{ p|req }}
{%- endfor %}
    hlsgen::{{ l.Func|req }}<{{ l.Name|req }}_config>({{ l.Args|req }});
}
{% endfor -%}
