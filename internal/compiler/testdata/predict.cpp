// Predicts with the driver in C++. in: float32 values of all samples; the output the same; lengths as integers.
//     predict IN OUT [LENGTH...]
#include "accelerator.hpp"
#include "accelerator_bare.hpp"

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

    static std::uint32_t read(std::uintptr_t at) {
        if (at % 0x10000 == 0x34 || at % 0x10000 == 0x38) return std::uint32_t(std::stoull(hlsgen::network.hash, nullptr, 16) >> (at % 0x10000 == 0x38 ? 32 : 0));
        return registers[at];
    }

    static std::uint64_t wide(std::uintptr_t at) { return registers[at] | std::uint64_t(registers[at + 4]) << 32; }

    static hlsgen::frames sizes(std::uintptr_t mover, const hlsgen::stream& s) {
        hlsgen::frames list;
        const hlsgen::bytes& table = memory[wide(mover + 0x24)];
        for (std::uint32_t f = 0; f < registers[mover + 0x1c]; f++) {
            std::uint32_t steps = 1;
            if (wide(mover + 0x24) != 0) std::memcpy(&steps, table.data() + 4 * f, 4);
            list.emplace_back(steps * s.words * s.bytes);
        }
        return list;
    }

    static void write(std::uintptr_t at, std::uint32_t value) {
        registers[at] = value;
        const std::size_t n = hlsgen::network.streams_in, all = n + hlsgen::network.streams_out;
        for (std::size_t k = 1; k <= all; k++)
            if (registers[0x10000 * k] != 1) return;
        std::vector<hlsgen::frames> in, out;
        for (std::size_t k = 0; k < n; k++) {
            in.push_back(sizes(0x10000 * (k + 1), hlsgen::network.sends[k].stream));
            const std::uint8_t* from = memory.at(wide(0x10000 * (k + 1) + 0x10)).data();
            for (hlsgen::bytes& f : in.back()) std::copy(from, from + f.size(), f.begin()), from += f.size();
        }
        for (std::size_t k = n; k < all; k++) out.push_back(sizes(0x10000 * (k + 1), hlsgen::network.receives[k - n].stream));
        hlsgen::library().run(in, out);
        for (std::size_t k = n; k < all; k++) {
            hlsgen::bytes& to = memory.at(wide(0x10000 * (k + 1) + 0x10));
            to.clear();
            for (const hlsgen::bytes& f : out[k - n]) to.insert(to.end(), f.begin(), f.end());
        }
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

std::map<std::uintptr_t, std::uint32_t> fake::registers;
std::map<std::uint64_t, hlsgen::bytes> fake::memory;

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
    hlsgen::bare_device<fake> bare(readers, writers);
    if (hlsgen::accelerator(bare).predict(x, steps) != y) {
        std::cout << "FAIL without an operating system\n";
        return 1;
    }
    std::vector<float> bad = x;
    bad[1] = std::nanf("");
    refuses("what is not a number", [&] { net.predict(bad, steps); });
    bad = x;
    bad.pop_back();
    refuses("a part of a sample", [&] { net.predict(bad, steps); });
    std::vector<std::size_t> none(steps.size() + 1, 0);
    refuses("lengths of 0", [&] { net.predict(x, none); });
    struct foreign : hlsgen::library {
        std::string hash() override { return "0"; }
    } other;
    refuses("another design", [&] { hlsgen::accelerator another(other); });
    std::cout << "PASS " << y.size() << " values\n";
}
