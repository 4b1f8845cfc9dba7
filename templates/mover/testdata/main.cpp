// Runs the benches of all movers at once: main SEED TRANSFERS fast|any [rlast]
#include <cstdlib>
#include <memory>

#include "Vbench.h"
#include "mover.hpp"
#include "movers.hpp"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.randReset(2);  // registers begin with anything
    context.randSeed(int(std::strtoul(argv[1], nullptr, 10)));
    Vbench model(&context);
    const uint64_t seed = std::strtoull(argv[1], nullptr, 10);
    const unsigned transfers = unsigned(std::atoi(argv[2]));
    const bool fast = std::string(argv[3]) == "fast", wrong_rlast = argc > 4;
    const auto clock = [&] {
        model.clk = 1;
        model.eval();
        model.clk = 0;
    };
    model.clk = 0;
    model.rst_n = 0;
    const std::vector<pins> pinned = pins_of(model);
    for (const pins& p : pinned) p.rest();
    for (int i = 0; i < 4; i++) model.eval(), clock();
    model.rst_n = 1;
    std::vector<std::unique_ptr<mover>> all;
    for (size_t i = 0; i < pinned.size(); i++) {
        all.push_back(std::make_unique<mover>(setups[i], pinned[i], seed * 1000 + i, transfers, fast, wrong_rlast));
    }
    for (size_t on = all.size(); on > 0;) {
        for (auto& m : all) m->drive();
        model.eval();
        on = 0;
        for (auto& m : all) {
            m->sample();
            on += !m->over();
        }
        clock();
    }
    for (auto& m : all) m->print();
}
