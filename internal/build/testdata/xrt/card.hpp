// A card of the test's own, behind the calls of XRT: its memory is not the program's, and its movers run when all of them are
// started. It counts buffers, and does what it is told to do wrong.
#ifndef CARD_HPP
#define CARD_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace card {

[[noreturn]] inline void fail(const std::string& why) {
    std::printf("FAIL %s\n", why.c_str());
    std::exit(1);
}

inline long buffers = 0;
inline std::uint64_t next = 0x1000;

struct memory {
    std::vector<std::uint8_t> host, device;
    std::uint64_t address = next;

    explicit memory(std::size_t size) : host(size), device(size) {
        buffers++;
        next += (size + 0xfff) / 0x1000 * 0x1000;
        all()[address] = this;
    }
    memory(const memory&) = delete;
    ~memory() {
        buffers--;
        all().erase(address);
    }

    static std::map<std::uint64_t, memory*>& all() {
        static std::map<std::uint64_t, memory*> list;
        return list;
    }

    // at is memory that a mover uses: it must be there.
    static std::uint8_t* at(std::uint64_t address, std::size_t size) {
        const auto found = all().find(address);
        if (found == all().end() || found->second->device.size() < size) fail("a mover uses memory that it has not");
        return found->second->device.data();
    }
};

inline bool wired = false, woken = false; // whether there are interrupts; whether what is late ends
inline unsigned asked = 0, waited = 0;    // questions for the control register, and for an interrupt
inline unsigned late = 0;                 // so many questions are asked before the movers end; 0: they wait for an interrupt
inline void wake();

// unit is a mover. Its registers are those of hlsgen's movers.
struct unit {
    bool started = false, done = false, open = false;
    std::map<unsigned, std::uint32_t> registers;

    std::uint64_t wide(unsigned at) { return registers[at] | std::uint64_t(registers[at + 4]) << 32; }

    std::uint32_t peek(unsigned at) {
        if (at != 0) return registers[at];
        asked++;
        if (late > 0 && --late == 0) wake();
        const std::uint32_t is = (started ? 1 : 4) | (done ? 2 : 0);
        done = false;
        return is;
    }

    // end is the end of a transfer, which interrupts.
    void end() {
        started = false;
        done = true;
        registers[0x0c] |= registers[0x08];
    }
};

inline std::map<std::string, unit> units; // by name
inline std::function<void()> started;     // called whenever one is

// wake has what ends late end.
inline void wake() {
    woken = true;
    started();
    woken = false;
}

inline void poke(unit& u, unsigned at, std::uint32_t value) {
    if (at == 0x0c) value ^= u.registers[at]; // written bits toggle
    u.registers[at] = value;
    if (at != 0) return;
    if (u.started) fail("a mover is started that is busy");
    u.started = true;
    started();
}

// opened is a unit of a name as XRT has it, "kernel:{unit}", which one object may use.
class opened {
public:
    explicit opened(const std::string& name) {
        const std::size_t at = name.find(":{");
        if (at == std::string::npos || name.substr(0, at) != "hlsgen_" + name.substr(at + 2, name.size() - at - 3)) fail("a kernel is called " + name);
        of = &units[name.substr(at + 2, name.size() - at - 3)];
        if (of->open) throw std::runtime_error("device or resource busy");
        of->open = true;
    }
    opened(const opened&) = delete;
    ~opened() { of->open = false; }
    unit* of;
};

} // namespace card

using xuid_t = unsigned char[16];

#endif
