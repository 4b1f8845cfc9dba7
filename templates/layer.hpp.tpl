{% if v.Origin %}// {{ v.Name|req }}: {{ v.Origin|req }}
{% endif %}#ifndef LAYERS_{{ v.Name|req }}_HPP
#define LAYERS_{{ v.Name|req }}_HPP

#include "../ap_types.hpp"

#include "../include/hlsgen/core/memory.hpp"
#include "../include/hlsgen/core/word.hpp"
{%- if v.Seen %}
#include "../include/hlsgen/{{ v.Header|req }}"
{%- endif %}
{%- if v.Alike %}
#include "{{ v.Alike|req }}.hpp"

// What the kernel is configured with: what that of {{ v.Alike|req }} is.
struct {{ v.Name|req }}_config : {{ v.Alike|req }}_config {
    typedef {{ v.Alike|req }}_config alike;
};
{%- else %}

// What the kernel is configured with.
struct {{ v.Name|req }}_config {
{%- for c in v.Config %}
    {{ c.Decl|req }}{% if c.Doc %}{{ c.Pad|req }} // {{ c.Doc|req }}{% endif %}
{%- endfor %}
{%- for line in v.Code %}
{{ line|req }}
{%- endfor %}
};
{%- endif %}

// A call is one iteration: it returns at once where a word is missing that the iteration reads.
void {{ v.Name|req }}({{ v.Params|req }});

#endif
