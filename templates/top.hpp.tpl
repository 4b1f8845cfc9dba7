// {{ v.Model|req }}: {{ v.Shape|req }}.
#ifndef TOP_HPP
#define TOP_HPP

#include "ap_types.hpp"

// {{ v.Top|req }} calls every process once. In hardware, each process runs by itself whenever its words are there. In C
// simulation, the function is called until all words have passed. A FIFO keeps its words from call to call.
{%- for p in v.In %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
{%- for p in v.Out %}
//     {{ p.Name|req }}: {{ p.Doc|req }}
{%- endfor %}
void {{ v.Top|req }}({{ v.Params|req }});

#endif
