// The test bench{% if v.Network %}: the whole network on recorded frames, then every layer alone{% else %}: every layer alone{% endif %}, on the words that belong on its input streams.
// The last line it prints starts with PASS or FAIL.
//     csim [DATA [OUTPUT]]    the folder of the recordings; a file for the network's words
{%- if v.Network %}
#include "../top.hpp"
{%- endif %}
#include "../layers.hpp"

#include "../include/hlsgen/core/testbench.hpp"
{% for c in v.Checks %}
static void check_{{ c.Name|req }}(hlsgen::test_bench& bench) {
{%- for s in c.Loads %}
    {{ s|req }}
{%- endfor %}
    bench.begin("{{ c.Name|req }}");
{%- for s in c.Ports %}
    {{ s|req }}
{%- endfor %}
    for (int frame = 0; frame < bench.frames(); frame++) {
{%- for s in c.Send %}
        {{ s|req }}
{%- endfor %}
        {{ c.Call|req }}
{%- for s in c.Compare %}
        {{ s|req }}
{%- endfor %}
    }
    bench.end();
}
{% endfor %}
int main(int argc, char** argv) {
    hlsgen::test_bench bench(argc, argv);
{%- for c in v.Checks %}
    check_{{ c.Name|req }}(bench);
{%- endfor %}
    return bench.finish();
}
