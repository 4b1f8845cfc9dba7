// Turns the clock of a bench until it says that it has ended.
#include "Vbench.h"
#include "verilated.h"

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vbench bench(&context);
    while (!context.gotFinish()) {
        bench.clk = 0;
        bench.eval();
        bench.clk = 1;
        bench.eval();
    }
    bench.final();
    return 0;
}
