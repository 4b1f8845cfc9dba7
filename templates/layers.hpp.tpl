// The processes: what each kernel of include/hlsgen is configured with, and its function. A call is one iteration: it returns
// at once where a word is missing that the iteration reads.
#ifndef LAYERS_HPP
#define LAYERS_HPP

#include "ap_types.hpp"

#include "include/hlsgen/core/memory.hpp"
#include "include/hlsgen/core/word.hpp"
{%- for k in v.Seen %}
#include "include/hlsgen/{{ k|req }}"
{%- endfor %}
{% for l in v.Layers %}
{% if l.Origin %}// {{ l.Name|req }}: {{ l.Origin|req }}
{% endif %}struct {{ l.Name|req }}_config {
{%- for c in l.Config %}
    {{ c.Decl|req }}{% if c.Doc %}{{ c.Pad|req }} // {{ c.Doc|req }}{% endif %}
{%- endfor %}
{%- for line in l.Code %}
{{ line|req }}
{%- endfor %}
};

void {{ l.Name|req }}({{ l.Params|req }});
{% endfor %}
#endif
