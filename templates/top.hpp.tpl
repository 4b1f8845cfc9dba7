// {{ v.Model|req }}: {{ v.Shape|req }}.
#ifndef TOP_HPP
#define TOP_HPP

#include "ap_types.hpp"

// {{ v.Top|req }} is one call of every process. In hardware each runs by itself, whenever its words are there; in C simulation
// it is called until the words are through. A FIFO keeps its words from call to call.
{%- for p in v.In %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
{%- for p in v.Out %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
void {{ v.Top|req }}({{ v.Params|req }});

#endif
