// Measures the driver in C++ by itself, on devices that take no time, or 10 ms a start. The program is the library, too.
#include "accelerator.hpp"
#include "accelerator_bare.hpp"

#include <cstdlib>
#include <ctime>
#include <iostream>

using moment = std::chrono::steady_clock;
static std::chrono::microseconds takes(0);

static void until(moment::time_point end) {
    while (moment::now() < end) {}
}

extern "C" const char* hlsgen_design() { return hlsgen::network.hash; }
extern "C" const char* hlsgen_said() { return ""; }
extern "C" int hlsgen_run(std::size_t, const std::uint8_t* const*, const std::size_t*, std::uint8_t* const*, const std::size_t*) {
    until(moment::now() + takes);
    return 0;
}

// bus is a board whose movers end when the time is over.
struct bus {
    static inline std::uint32_t started[256];
    static inline moment::time_point end;

    static std::uint32_t read(std::uintptr_t at) {
        if (at % 0x10000 == 0x34 || at % 0x10000 == 0x38) return std::uint32_t(std::stoull(hlsgen::network.hash, nullptr, 16) >> (at % 0x10000 == 0x38 ? 32 : 0));
        if (at % 0x10000 != 0) return 0;
        std::uint32_t& is = started[at / 0x10000];
        if (is != 0 && moment::now() < end) return 1;
        const std::uint32_t was = is;
        is = 0;
        return was != 0 ? 6 : 4;
    }
    static void write(std::uintptr_t at, std::uint32_t) {
        if (at % 0x10000 != 0) return;
        started[at / 0x10000] = 1;
        end = moment::now() + takes;
    }
    static void flush(const void*, std::size_t) {}
    static void invalidate(void*, std::size_t) {}
    static std::uint64_t address(const void*) { return 0; }
};

static void figure(double value, const std::string& unit) { std::cout << "FIGURE " << value << " " << unit << "\n"; }

int main() {
    const std::size_t samples = 1 << 14;
    hlsgen::library device;
    hlsgen::accelerator net(device, 4096);
    std::vector<int> x(samples * hlsgen::network.input[0].elements, 3);
    double done = 0;
    const std::clock_t begin = std::clock();
    for (; std::clock() < begin + CLOCKS_PER_SEC; done += double(samples)) net.predict(x);
    figure(done / 1e6 * CLOCKS_PER_SEC / double(std::clock() - begin), "Msamples/CPU-s/C++");
    std::vector<std::uintptr_t> movers;
    for (std::size_t k = 1; k <= hlsgen::network.streams_in + hlsgen::network.streams_out; k++) movers.push_back(0x10000 * k);
    const auto writers = movers.begin() + std::ptrdiff_t(hlsgen::network.streams_in);
    hlsgen::bare_device<bus> bare({movers.begin(), writers}, {writers, movers.end()});
    hlsgen::accelerator board(bare);
    const hlsgen::stream &in = hlsgen::network.sends[0].stream, &out = hlsgen::network.receives[0].stream;
    const double frames = double(hlsgen::batch_bytes / (in.words * in.bytes + out.words * out.bytes));
    for (auto* of : {&net, &board}) {
        const std::string name = of == &net ? "/library/C++" : "/board/C++";
        takes = std::chrono::microseconds(0);
        figure(1e6 * frames / of->throughput(), "us/start" + name);
        takes = std::chrono::milliseconds(10);
        figure(100 * std::fabs(frames / of->throughput() - 0.01) / 0.01, "pct-off-10ms" + name);
    }
}
