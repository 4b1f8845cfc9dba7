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
#ifdef EXTERNAL
extern "C" int hlsgen_weights(const char* stream, const std::uint8_t* bytes, std::size_t size, std::size_t passes);

// give has the library take weights that come with every frame.
static void give(const char* port, const std::uint8_t* data, std::size_t size, std::size_t passes) {
    if (hlsgen_weights(port, data, size, passes) != 0) throw std::runtime_error(hlsgen::hlsgen_said());
}
#endif

// fake is a bus with the mover of weights behind it. Its memory is not the processor's.
struct fake {
    static std::map<std::uintptr_t, std::uint32_t> registers;
    static std::map<std::uint64_t, hlsgen::bytes> memory;

    static std::uint32_t read(std::uintptr_t at) { return registers[at]; }
    static std::uint64_t wide(std::uintptr_t at) { return registers[at] | std::uint64_t(registers[at + 4]) << 32; }
    static void write(std::uintptr_t at, std::uint32_t value) {
        registers[at] = value;
#ifdef EXTERNAL
        if (at % 0x1000 == 0 && at >= 0x60000) { // of weights that come with every frame: two frames
            const hlsgen::external_weights& e = hlsgen::external[(at - 0x60000) / 0x1000];
            const hlsgen::bytes& data = memory.at(wide(at + 0x10));
            if (registers[at + 0x1c] == 2 * e.passes && wide(at + 0x24) == 0) give(e.port, data.data(), data.size(), e.passes);
        }
#endif
        if (at % 0x1000 == 0 && at != 0x50000) registers[at] = 6;
        if (at != 0x50000) return;
        const hlsgen::bytes &data = memory.at(wide(at + 0x10)), &table = memory.at(wide(at + 0x24));
        std::uint32_t steps;
        std::memcpy(&steps, table.data(), 4);
        std::vector<std::uint32_t> words(data.size() / 4);
        std::memcpy(words.data(), data.data(), data.size());
        if (registers[at + 0x1c] == 1 && 4 * steps == data.size() && hlsgen_load(words.data(), words.size()) == 0) registers[at] = 6;
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
    fake::registers[0x50000] = 4;
    if (way == "bare") hlsgen::stream_weights([&](const std::uint32_t* words, std::size_t n) { bare.load(0x50000, words, n); }, hlsgen_peek);
#endif
#ifdef EXTERNAL
    if (way == "bare") {
        std::uintptr_t at = 0x60000;
        hlsgen::give_weights([&](const char*, const std::uint8_t* data, std::size_t size, std::size_t passes) {
            fake::registers[at] = 4;
            bare.weights(at, data, size, passes);
            at += 0x1000;
        });
        fake::registers[0x10000] = fake::registers[0x20000] = 4;
        const std::size_t sent = hlsgen::network.sends[0].stream.words * hlsgen::network.sends[0].stream.bytes;
        const std::size_t size = hlsgen::network.receives[0].stream.words * hlsgen::network.receives[0].stream.bytes;
        bare.start({{hlsgen::bytes(2 * sent), {sent, sent}}}, {{size, size}});
        bare.wait();
    } else {
        hlsgen::give_weights(give);
    }
#endif
    const std::vector<float> y = net.predict(x);
    std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(y.data()), std::streamsize(y.size() * sizeof(float)));
    std::cout << "PASS " << y.size() << " values\n";
}
