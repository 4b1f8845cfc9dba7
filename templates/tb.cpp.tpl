// The test bench: {% if v.Top %}the whole network on recorded frames, then {% endif %}every layer alone, on the words that belong on
// its input streams. The last line it prints starts with PASS or FAIL.
//     csim [DATA [OUTPUT]]    the folder of the recordings; a file for the network's words
{%- if v.Top %}
#include "../top.hpp"
{%- endif %}
#include "../layers.hpp"

#include "../include/hlsgen/core/testbench.hpp"
{% if v.Top %}
static void check_{{ v.Top.Name|req }}(hlsgen::test_bench& bench) {
{%- for s in v.Top.Loads %}
    {{ s|req }}
{%- endfor %}
    bench.begin("{{ v.Top.Name|req }}");
{%- for s in v.Top.Ports %}
    {{ s|req }}
{%- endfor %}
    for (int frame = 0; frame < bench.frames(); frame++) {
{%- for s in v.Top.Send %}
        {{ s|req }}
{%- endfor %}
        {{ v.Top.Call|req }}
{%- for s in v.Top.Compare %}
        {{ s|req }}
{%- endfor %}
    }
    bench.end();
}
{% endif %}{% for l in v.Layers %}
static void check_{{ l.Name|req }}(hlsgen::test_bench& bench) {
{%- for s in l.Loads %}
    {{ s|req }}
{%- endfor %}
    bench.begin("{{ l.Name|req }}");
{%- for s in l.Ports %}
    {{ s|req }}
{%- endfor %}
    for (int frame = 0; frame < bench.frames(); frame++) {
{%- for s in l.Send %}
        {{ s|req }}
{%- endfor %}
        {{ l.Call|req }}
{%- for s in l.Compare %}
        {{ s|req }}
{%- endfor %}
    }
    bench.end();
}
{% endfor %}
int main(int argc, char** argv) {
    hlsgen::test_bench bench(argc, argv);
{%- if v.Top %}
    check_{{ v.Top.Name|req }}(bench);
{%- endif %}
{%- for l in v.Layers %}
    check_{{ l.Name|req }}(bench);
{%- endfor %}
    return bench.finish();
}
