// The test bench: every layer alone, on the words that belong on its input streams, called as often as it has iterations.
{%- if v.Network %}
// Then the whole network, until its outputs are there.
{%- endif %}
// After all frames the first one comes once more, word by word, while calls go on: what is kept has to be as it was, and
// nothing may happen where a word is missing.
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
