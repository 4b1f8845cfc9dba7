// The processes: the network's ends, and its layers between them.
#ifndef LAYERS_HPP
#define LAYERS_HPP
{% for l in v.Layers %}
#include "layers/{{ l.Name|req }}.hpp"
{%- endfor %}

#endif
