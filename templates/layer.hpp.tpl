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

// The kernel's config, which equals that of {{ v.Alike|req }}.
struct {{ v.Name|req }}_config : {{ v.Alike|req }}_config {
    typedef {{ v.Alike|req }}_config alike;
};
{%- else %}

// The kernel's config.
struct {{ v.Name|req }}_config {
{%- for c in v.Config %}
    {{ c.Decl|req }}{% if c.Doc %}{{ c.Pad|req }} // {{ c.Doc|req }}{% endif %}
{%- endfor %}
{%- for line in v.Code %}
{{ line|req }}
{%- endfor %}
};
{%- endif %}

// A call runs one iteration. It returns at once if a word is missing that the iteration reads.
void {{ v.Name|req }}({{ v.Params|req }});

#endif
