#include "layers.hpp"
{% for k in v.Kernels %}
#include "include/hlsgen/{{ k|req }}"
{%- endfor %}
{% for t in v.Tables %}
#include "tables/{{ t|req }}"
{%- endfor %}
{% for l in v.Layers %}
void {{ l.Name|req }}({{ l.Params|req }}) {
#pragma HLS INLINE off
{%- for p in l.Bind %}
#pragma HLS {{ p|req }}
{%- endfor %}
{%- if l.Looped %}
    do {
        hlsgen::{{ l.Func|req }}<{{ l.Name|req }}_config>({{ l.Args|req }});
    } while (ends.read() == 0);
{%- else %}
    hlsgen::{{ l.Func|req }}<{{ l.Name|req }}_config>({{ l.Args|req }});
{%- endif %}
}
{% endfor -%}
