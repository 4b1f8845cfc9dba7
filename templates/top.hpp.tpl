// {{ v.Model|req }}: {{ v.Shape|req }}.
#ifndef TOP_HPP
#define TOP_HPP

#include "ap_types.hpp"

// {{ v.Top|req }} computes one frame; in hardware it starts over by itself and frames overlap.
{%- for p in v.In %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
{%- for p in v.Out %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
void {{ v.Top|req }}({{ v.Params|req }});

#endif
