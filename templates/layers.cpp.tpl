// All processes in one unit.
#include "layers.hpp"
{% for l in v.Layers %}
#include "layers/{{ l.Name|req }}.cpp"
{%- endfor %}
