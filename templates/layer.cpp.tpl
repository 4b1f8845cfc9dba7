#include "{{ v.Name|req }}.hpp"

#include "../include/hlsgen/{{ v.Header|req }}"
{% for t in v.Tables %}
#include "../tables/{{ t|req }}"
{%- endfor %}
{% if v.Tables %}
{% endif %}void {{ v.Name|req }}({{ v.Params|req }}) {
#pragma HLS INLINE off
#pragma HLS PIPELINE II=1 style=flp
{%- for p in v.Bind %}
#pragma HLS {{ p|req }}
{%- endfor %}
    hlsgen::{{ v.Func|req }}<{{ v.Name|req }}_config>({{ v.Args|req }});
}
