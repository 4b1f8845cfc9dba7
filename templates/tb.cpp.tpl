// The test bench. First it tests every layer alone: it sends the recorded words of the layer's inputs, and calls the
// layer once per iteration.
{%- if v.Network %}
// Then it tests the whole network, and calls it until its outputs are complete.
{%- endif %}
// After all frames, the first frame is sent once more, word by word between the calls. The layers must behave as after
// a restart, and a call must do nothing if a word is missing. The last line it prints starts with PASS or FAIL.
//     csim [DATA [OUTPUT]]    folder of the recordings; file for the network's output words
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
    while (bench.next_frame()) {
        while (bench.{{ c.Next|req }}()) {
{%- for s in c.Send %}
            {{ s|req }}
{%- endfor %}
            {{ c.Call|req }}
{%- for s in c.Take %}
            {{ s|req }}
{%- endfor %}
        }
{%- for s in c.Compare %}
        {{ s|req }}
{%- endfor %}
    }
    bench.end();
}
{% endfor %}
int main(int argc, char** argv) {
    static void (*const checks[])(hlsgen::test_bench&) = {
{%- for c in v.Checks %}
        check_{{ c.Name|req }},
{%- endfor %}
    };
    hlsgen::test_bench bench(argc, argv);
    for (const auto check : checks) check(bench);
    return bench.finish();
}
