// All processes in one compilation unit.
#include "layers.hpp"
{% for l in v.Layers %}
#include "layers/{{ l.Name|req }}.cpp"
{%- endfor %}
