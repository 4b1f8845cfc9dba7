// Loads weights with the driver in C++, and predicts. in: float32 values of all samples; the output the same; the way is
// registers, memory, or bare: from memory, with registers and memory of the program's own.
//     weights IN OUT WAY
#include "accelerator.hpp"
#include "accelerator_bare.hpp"
#include "host/weights.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

extern "C" std::uint32_t hlsgen_peek(unsigned at);
extern "C" void hlsgen_poke(unsigned at, std::uint32_t value);
extern "C" int hlsgen_load(const std::uint32_t* words, std::size_t count);

// fake is a bus with the mover of weights behind it. Its memory is not the processor's.
struct fake {
    static std::map<std::uintptr_t, std::uint32_t> registers;
    static std::map<std::uint64_t, hlsgen::bytes> memory;

    static std::uint32_t read(std::uintptr_t at) { return registers[at]; }
    static std::uint64_t wide(std::uintptr_t at) { return registers[at] | std::uint64_t(registers[at + 4]) << 32; }
    static void write(std::uintptr_t at, std::uint32_t value) {
        registers[at] = value;
        if (at != 0x50000) return;
        const hlsgen::bytes &data = memory.at(wide(at + 0x10)), &table = memory.at(wide(at + 0x24));
        std::uint32_t steps;
        std::memcpy(&steps, table.data(), 4);
        std::vector<std::uint32_t> words(data.size() / 4);
        std::memcpy(words.data(), data.data(), data.size());
        if (registers[at + 0x1c] == 1 && 4 * steps == data.size() && hlsgen_load(words.data(), words.size()) == 0) registers[at] = 2;
    }
    static void flush(const void* at, std::size_t size) {
        const std::uint8_t* from = static_cast<const std::uint8_t*>(at);
        memory[address(at)] = hlsgen::bytes(from, from + size);
    }
    static void invalidate(void*, std::size_t) {}
    static std::uint64_t address(const void* at) { return std::uintptr_t(at); }
};

std::map<std::uintptr_t, std::uint32_t> fake::registers;
std::map<std::uint64_t, hlsgen::bytes> fake::memory;

int main(int, char** argv) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> raw((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::vector<float> x(raw.size() / sizeof(float));
    std::memcpy(x.data(), raw.data(), raw.size());
    hlsgen::library device;
    hlsgen::accelerator net(device);
    const std::string way = argv[3];
    if (way == "registers") hlsgen::load_weights(hlsgen_peek, hlsgen_poke);
#ifdef STREAMED
    if (way == "memory")
        hlsgen::stream_weights([](const std::uint32_t* words, std::size_t n) { if (hlsgen_load(words, n) != 0) throw std::runtime_error(hlsgen::hlsgen_said()); },
                               hlsgen_peek);
    hlsgen::bare_device<fake> bare({0x10000}, {0x20000}, 100);
    if (way == "bare") hlsgen::stream_weights([&](const std::uint32_t* words, std::size_t n) { bare.load(0x50000, words, n); }, hlsgen_peek);
#endif
    const std::vector<float> y = net.predict(x);
    std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(y.data()), std::streamsize(y.size() * sizeof(float)));
    std::cout << "PASS " << y.size() << " values\n";
}
