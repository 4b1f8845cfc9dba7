// The processes: the network's inputs and outputs, and its layers.
#ifndef LAYERS_HPP
#define LAYERS_HPP
{% for l in v.Layers %}
#include "layers/{{ l.Name|req }}.hpp"
{%- endfor %}

#endif
