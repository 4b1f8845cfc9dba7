// Runs the bench: bench.cpp has what it does.
#include "Vbench.h"
#include "bench.hpp"
#include "verilated.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vbench model(&context);
    bench::design d;
{%- for line in v.Streams %}
    d.streams.push_back({{ line|req }});
{%- endfor %}
{%- for line in v.Inputs %}
    d.inputs.push_back({{ line|req }});
{%- endfor %}
{%- for line in v.Outputs %}
    d.outputs.push_back({{ line|req }});
{%- endfor %}
{%- for line in v.Layers %}
    d.layers.push_back({{ line|req }});
{%- endfor %}
    const auto clock = [&](bool high) {
        model.clk = high;
        model.eval();
    };
    return bench::run(argc, argv, d, {{ v.Reset|req }}, {{ v.Patience|req }}, clock, {1, &model.rst_n});
}
