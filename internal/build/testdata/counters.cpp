// Gives words to an accelerator whenever it takes them, takes results when a die says so, and reads its registers when all is
// through. Clocks do not depend on data: words are zeros. ports.hpp, which the test writes, has the accelerator's ports.
//     counters FRAMES OUT_STALL OUT_SEED
#include "Vtop.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct input {
    CData &valid, &ready, *last;
    long words, every; // words of a frame
    long given = 0, free = -1;
};

struct output {
    CData &valid, &ready;
    long words, every;
    long taken = 0, free = 0;
};

static VerilatedContext context;
static Vtop top{&context};
static std::vector<input> inputs;
static std::vector<output> outputs;
static unsigned registers; // words

#include "ports.hpp"

// The dice of hlsgen's simulator.
static std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static void tick() {
    top.ap_clk = 0, top.eval();
    top.ap_clk = 1, top.eval();
}

static std::uint32_t read(unsigned at) {
    top.s_axi_control_ARADDR = at, top.s_axi_control_ARVALID = 1, top.s_axi_control_RREADY = 0;
    for (bool asks = true; asks;) {
        top.ap_clk = 0, top.eval();
        asks = !top.s_axi_control_ARREADY;
        top.ap_clk = 1, top.eval();
    }
    top.s_axi_control_ARVALID = 0, top.s_axi_control_ARADDR = 0;
    while (!top.s_axi_control_RVALID) tick();
    for (int i = 0; i < 3; i++) tick(); // it waits
    if (!top.s_axi_control_RVALID || top.s_axi_control_RRESP != 0) std::printf("FAIL a read is not answered\n");
    const std::uint32_t value = top.s_axi_control_RDATA;
    top.s_axi_control_RREADY = 1, tick(), top.s_axi_control_RREADY = 0;
    return value;
}

static void write(unsigned at, std::uint32_t value, unsigned strobes) {
    top.s_axi_control_AWADDR = at, top.s_axi_control_WDATA = value, top.s_axi_control_WSTRB = strobes;
    top.s_axi_control_AWVALID = 1; // the word comes later
    for (int i = 0; i < 3; i++) tick();
    top.s_axi_control_WVALID = 1;
    for (bool gives = true; gives;) {
        top.ap_clk = 0, top.eval();
        gives = !(top.s_axi_control_AWREADY && top.s_axi_control_WREADY);
        top.ap_clk = 1, top.eval();
    }
    top.s_axi_control_AWVALID = top.s_axi_control_WVALID = 0;
    top.s_axi_control_BREADY = 1;
    while (!top.s_axi_control_BVALID) tick();
    tick(), top.s_axi_control_BREADY = 0;
}

static void show(const char* when) {
    for (unsigned k = 0; k < registers; k++) std::printf("%s %u %u\n", when, k, read(4 * k));
}

// frames has so many of them go through, and the accelerator wait for more. now is the clock of the simulator.
static void frames(long count, std::uint64_t stall, std::uint64_t seed) {
    for (input& i : inputs) i.given = 0, i.free = -1;
    for (output& o : outputs) o.taken = 0, o.free = 0;
    bool begun = false;
    for (long now = -1, after = 0; after < 500;) {
        for (input& i : inputs) {
            i.valid = i.given < count * i.words && now >= i.free;
            if (i.last) *i.last = (i.given + 1) % i.words == 0;
        }
        for (std::size_t k = 0; k < outputs.size(); k++) {
            const std::uint64_t die = mix(mix(seed + inputs.size() + k) ^ std::uint64_t(now)) % 100;
            outputs[k].ready = begun && now >= outputs[k].free && die >= stall;
        }
        top.ap_clk = 0, top.eval();
        for (input& i : inputs)
            if (i.valid && i.ready) i.given++, i.free = now + i.every, begun = true;
        bool through = true;
        for (output& o : outputs) {
            if (o.valid && o.ready) o.taken++, o.free = now + o.every;
            through = through && o.taken == count * o.words;
        }
        top.ap_clk = 1, top.eval();
        if (begun) now++;
        if (through) after++;
        if (now > 10000000) std::printf("FAIL no end\n"), std::exit(1);
    }
}

int main(int, char** argv) {
    const long count = std::atol(argv[1]);
    const std::uint64_t stall = std::strtoull(argv[2], nullptr, 10), seed = std::strtoull(argv[3], nullptr, 10);
    ports();
    top.ap_rst_n = 0;
    for (int i = 0; i < 4; i++) tick();
    top.ap_rst_n = 1;
    frames(count, stall, seed);
    show("reset");
    write(0, 1, 7); // no whole word
    show("kept");
    for (const char* when : {"again", "later"}) {
        write(4, 1, 15);
        show("clear");
        frames(count, stall, seed);
        show(when);
    }
    top.final();
}
