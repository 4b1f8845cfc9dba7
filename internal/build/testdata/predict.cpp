// Predicts with the driver in C++. in: float32 values of all samples; the output the same; lengths as integers.
//     predict IN OUT [LENGTH...]
#include "accelerator.hpp"
#include "accelerator_bare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

template <class F> static void refuses(const char* what, F f) {
    try {
        f();
    } catch (const hlsgen::unfit& e) {
        std::cout << "refused " << what << " : " << e.what() << "\n";
        return;
    }
    std::cout << "FAIL " << what << " is not refused\n";
    std::exit(1);
}

// fake is a bus with movers behind it, at 0x10000 each: those that read first. Its memory is not the processor's: what was flushed
// is there, and what movers wrote is seen once it was invalidated.
struct fake {
    static std::map<std::uintptr_t, std::uint32_t> registers;
    static std::map<std::uint64_t, hlsgen::bytes> memory;

    static bool hung;

    static std::uint32_t read(std::uintptr_t at) {
        if (at % 0x10000 == 0) { // done, until it is read, and idle
            const std::uint32_t is = registers[at];
            if (is == 2) registers[at] = 0;
            return is == 1 ? 1 : is | 4;
        }
        if (at % 0x10000 == 0x34 || at % 0x10000 == 0x38) return std::uint32_t(std::stoull(hlsgen::network.hash, nullptr, 16) >> (at % 0x10000 == 0x38 ? 32 : 0));
        return registers[at];
    }

    static std::uint64_t wide(std::uintptr_t at) { return registers[at] | std::uint64_t(registers[at + 4]) << 32; }

    static hlsgen::sizes sizes(std::uintptr_t mover, const hlsgen::stream& s) {
        hlsgen::sizes list;
        const hlsgen::bytes& table = memory[wide(mover + 0x24)];
        for (std::uint32_t f = 0; f < registers[mover + 0x1c]; f++) {
            std::uint32_t steps = 1;
            if (wide(mover + 0x24) != 0) std::memcpy(&steps, table.data() + 4 * f, 4);
            list.push_back(steps * s.words * s.bytes);
        }
        return list;
    }

    static void write(std::uintptr_t at, std::uint32_t value) {
        registers[at] = value;
        const std::size_t n = hlsgen::network.streams_in, all = n + hlsgen::network.streams_out;
        for (std::size_t k = 1; k <= all; k++)
            if (registers[0x10000 * k] != 1 || hung) return;
        std::vector<hlsgen::frames> in;
        std::vector<hlsgen::sizes> out;
        for (std::size_t k = 0; k < n; k++) {
            hlsgen::frames f;
            f.size = sizes(0x10000 * (k + 1), hlsgen::network.sends[k].stream);
            const std::uint8_t* from = memory.at(wide(0x10000 * (k + 1) + 0x10)).data();
            f.data.assign(from, from + hlsgen::sum(f.size));
            in.push_back(f);
        }
        for (std::size_t k = n; k < all; k++) out.push_back(sizes(0x10000 * (k + 1), hlsgen::network.receives[k - n].stream));
        hlsgen::library device;
        device.start(in, out);
        const std::vector<hlsgen::frames>& came = device.wait();
        for (std::size_t k = n; k < all; k++) memory.at(wide(0x10000 * (k + 1) + 0x10)) = came[k - n].data;
        for (std::size_t k = 1; k <= all; k++) registers[0x10000 * k] = 2;
    }

    static void flush(const void* at, std::size_t size) {
        const std::uint8_t* from = static_cast<const std::uint8_t*>(at);
        memory[address(at)] = hlsgen::bytes(from, from + size);
    }
    static void invalidate(void* at, std::size_t size) {
        const hlsgen::bytes& from = memory.at(address(at));
        std::copy(from.begin(), from.begin() + std::ptrdiff_t(size), static_cast<std::uint8_t*>(at));
    }
    static std::uint64_t address(const void* at) { return std::uintptr_t(at); }
};

bool fake::hung = false;
std::map<std::uintptr_t, std::uint32_t> fake::registers;
std::map<std::uint64_t, hlsgen::bytes> fake::memory;

// watched is the library, of which batches run one behind the other, and all that are started end.
struct watched : hlsgen::library {
    std::size_t batches = 0, largest = 0;
    bool running = false;

    void prepare(const std::vector<hlsgen::frames>& in, const std::vector<hlsgen::sizes>& out) override {
        if (running) throw std::logic_error("a batch runs already");
        largest = std::max(largest, in[0].size.size());
        hlsgen::library::prepare(in, out);
    }

    void begin() override {
        if (running) throw std::logic_error("a batch runs already");
        running = true;
        batches++;
        hlsgen::library::begin();
    }

    void finish() override {
        if (!running) throw std::logic_error("nothing runs");
        running = false;
    }
};

// hangs is whether what never ends is an error that says so.
template <class F> static void hangs(const char* why, F f) {
    try {
        f();
    } catch (const std::runtime_error& e) {
        if (std::string(e.what()).find(why) != std::string::npos) return;
        std::cout << "FAIL " << e.what() << "\n";
        std::exit(1);
    }
    std::cout << "FAIL what hangs has an end\n";
    std::exit(1);
}

int main(int argc, char** argv) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> raw((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::vector<float> x(raw.size() / sizeof(float));
    std::memcpy(x.data(), raw.data(), raw.size());
    std::vector<std::size_t> steps;
    for (int i = 3; i < argc; i++) steps.push_back(std::size_t(std::stoul(argv[i])));
    hlsgen::library device;
    hlsgen::accelerator net(device);
    const std::vector<float> y = net.predict(x, steps);
    std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(y.data()), std::streamsize(y.size() * sizeof(float)));
    std::vector<std::uintptr_t> readers, writers;
    for (std::size_t k = 1; k <= hlsgen::network.streams_in + hlsgen::network.streams_out; k++)
        (k <= hlsgen::network.streams_in ? readers : writers).push_back(0x10000 * k);
    hlsgen::bare_device<fake> bare(readers, writers, 100);
    hlsgen::accelerator without(bare);
    if (without.predict(x, steps) != y || hlsgen::accelerator(bare, 3).predict(x, steps) != y) {
        std::cout << "FAIL without an operating system\n";
        return 1;
    }
    const std::size_t samples = steps.empty() ? x.size() / hlsgen::network.input[0].elements : steps.size();
    for (const std::size_t batch : {std::size_t(1), std::size_t(5), samples, samples + 1}) {
        watched device;
        hlsgen::accelerator some(device, batch);
        if (some.predict(x, steps) != y || device.batches != (samples + batch - 1) / batch || device.largest != std::min(batch, samples) || device.running) {
            std::cout << "FAIL " << device.batches << " batches of " << batch << "\n";
            return 1;
        }
        if (hlsgen::network.sends[0].quantisers != nullptr) continue;
        std::vector<float> bad = x; // noticed while a batch before runs
        bad.back() += 0.001f;
        refuses("a number between two", [&] { some.predict(bad, steps); });
        if (device.running || some.predict(x, steps) != y) {
            std::cout << "FAIL behind what was refused\n";
            return 1;
        }
    }
    if (const hlsgen::sent& s = hlsgen::network.sends[0]; s.values != nullptr && steps.empty()) { // the integers themselves
        std::vector<int> codes(x.size());
        for (std::size_t at = 0; at < x.size(); at += hlsgen::network.input[0].elements)
            for (std::size_t i = 0; i < s.stream.words * s.stream.per_word; i++) {
                const std::size_t n = std::size_t(s.hi - s.lo + 1);
                const double* const values = s.values + (s.which == nullptr ? 0 : std::size_t(s.which[i]) * n);
                const std::size_t element = at + std::size_t(s.index[i]);
                const double v = x[element]; // next to a value
                const auto nearer = [v](double a, double b) { return std::abs(a - v) < std::abs(b - v); };
                codes[element] = int(s.lo + (std::min_element(values, values + n, nearer) - values));
            }
        if (net.predict(codes) != y) {
            std::cout << "FAIL integers\n";
            return 1;
        }
        codes[0] = int(s.hi + 1);
        refuses("an integer too large", [&] { net.predict(codes); });
    }
    if (!(net.throughput(3) > 0) || !(without.throughput(2) > 0)) {
        std::cout << "FAIL no throughput\n";
        return 1;
    }
    fake::hung = true;
    hangs("is not through after 100 polls", [&] { without.throughput(1); });
    hangs("is busy with a batch before", [&] { without.predict(x, steps); });
    std::vector<float> bad = x;
    bad[1] = std::nanf("");
    refuses("what is not a number", [&] { net.predict(bad, steps); });
    bad = x;
    bad.pop_back();
    refuses("a part of a sample", [&] { net.predict(bad, steps); });
    refuses("no sample", [&] { net.predict(std::vector<float>()); });
    std::vector<std::size_t> none(steps.size() + 1, 0);
    refuses("lengths of 0", [&] { net.predict(x, none); });
    struct foreign : hlsgen::library {
        std::string hash() override { return "0"; }
    } other;
    refuses("another design", [&] { hlsgen::accelerator another(other); });
    std::cout << "PASS " << y.size() << " values\n";
}
