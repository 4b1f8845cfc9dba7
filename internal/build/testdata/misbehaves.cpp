// Devices that do what they should not: whatever a device gives, the driver ends with an error that names the stream and the
// sizes, reads nothing outside of its memory, and leaves no memory in use. The program is the library, too: a frame's first
// code is the lowest bit of its first input, the others are 0.
#include "accelerator.hpp"
#include "accelerator_bare.hpp"
#include "accelerator_xrt.hpp"

#include "card.hpp"

#include <iostream>
#include <new>

using card::fail;

static long in_use = 0; // pieces of memory

void* operator new(std::size_t size) {
    in_use++;
    if (void* at = std::malloc(size)) return at;
    throw std::bad_alloc();
}
void operator delete(void* at) noexcept {
    if (at != nullptr) in_use--;
    std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

static bool library_fails = false;

extern "C" const char* hlsgen_design() { return hlsgen::network.hash; }
extern "C" const char* hlsgen_said() { return "stream m_axis_0: a frame ends after 1 of 4 bytes"; }
extern "C" int hlsgen_run(std::size_t count, const std::uint8_t* const* in, const std::size_t*, std::uint8_t* const* out, const std::size_t* out_bytes) {
    for (std::size_t f = 0; f < hlsgen::network.streams_out * count; f++) {
        std::memset(out[f], 0, out_bytes[f]);
        out[f][0] = in[f % count][0] & 1;
    }
    return library_fails ? 1 : 0;
}

static const std::string port = hlsgen::network.receives[0].stream.port;
static std::vector<float> x;
static std::vector<std::size_t> steps;

// ends has a call end with an error of a type, whose text has certain words, 100 times, and finds no memory in use behind it.
template <class ERROR, class F> static void ends(const std::string& what, const std::string& words, F f) {
    long before = 0;
    for (int k = 0; k < 101; k++) {
        if (k == 1) before = in_use; // the first one may make what is kept
        try {
            f();
        } catch (const ERROR& e) {
            if (std::string(e.what()).find(words) == std::string::npos) fail(what + ": " + e.what() + ", want " + words);
            if (k == 0) std::cout << what << " : " << e.what() << "\n";
            continue;
        }
        fail(what + " is no error");
    }
    if (in_use != before) fail(what + " leaves " + std::to_string(in_use - before) + " pieces of memory in use");
    if (card::buffers != 0) fail(what + " leaves " + std::to_string(card::buffers) + " buffers in use");
}

// spoiled is the library, but for what is done to its frames.
struct spoiled : hlsgen::library {
    std::function<void(std::vector<hlsgen::frames>&)> spoil;
    std::vector<hlsgen::frames> came;

    const std::vector<hlsgen::frames>& received() override {
        came = hlsgen::library::received();
        spoil(came);
        return came;
    }
};

// The card's movers: what they read is read, and what they write is what the library gives, when all are started.
enum class wrong { nothing, hangs, errors, late };
static wrong does = wrong::nothing;
static std::string where; // the unit that does wrong
static std::uint32_t error;

static void run() {
    using namespace hlsgen;
    if (does == wrong::late && !card::woken) return;
    std::vector<card::unit*> readers, writers;
    for (std::size_t k = 0; k < network.streams_in; k++) readers.push_back(&card::units[std::string("read_") + network.sends[k].stream.port]);
    for (std::size_t k = 0; k < network.streams_out; k++) writers.push_back(&card::units[std::string("write_") + network.receives[k].stream.port]);
    const auto sizes_of = [](card::unit& u, const stream& s) {
        sizes list(u.registers[0x1c], s.words * s.bytes);
        if (u.wide(0x24) == 0) return list;
        const std::uint8_t* table = card::memory::at(u.wide(0x24), 4 * list.size());
        for (std::size_t f = 0; f < list.size(); f++) {
            std::uint32_t n;
            std::memcpy(&n, table + 4 * f, 4);
            list[f] *= n;
        }
        return list;
    };
    for (card::unit* u : readers)
        if (!u->started) return;
    for (card::unit* u : writers)
        if (!u->started) return;
    std::vector<frames> in;
    for (std::size_t k = 0; k < readers.size(); k++) {
        in.emplace_back();
        in[k].size = sizes_of(*readers[k], network.sends[k].stream);
        const std::uint8_t* from = card::memory::at(readers[k]->wide(0x10), sum(in[k].size));
        in[k].data.assign(from, from + sum(in[k].size));
    }
    std::vector<sizes> out;
    for (std::size_t k = 0; k < writers.size(); k++) out.push_back(sizes_of(*writers[k], network.receives[k].stream));
    library device;
    device.start(in, out);
    const std::vector<frames>& came = device.wait();
    for (std::size_t k = 0; k < writers.size(); k++) std::copy(came[k].data.begin(), came[k].data.end(), card::memory::at(writers[k]->wide(0x10), sum(out[k])));
    for (auto& [name, u] : card::units) {
        u.registers[0x30] = does == wrong::errors && name == where ? error : 0;
        if (does == wrong::hangs && name == where) continue;
        u.end();
    }
}

// reset makes the card as it is when an xclbin is loaded.
static void reset() {
    card::started = run;
    for (auto& [name, u] : card::units) u = card::unit();
    for (std::size_t k = 0; k < hlsgen::network.streams_in; k++) {
        card::unit& u = card::units[std::string("read_") + hlsgen::network.sends[k].stream.port];
        const std::uint64_t hash = std::stoull(hlsgen::network.hash, nullptr, 16);
        u.registers[0x34] = std::uint32_t(hash);
        u.registers[0x38] = std::uint32_t(hash >> 32);
    }
}

// bus is the same card for a program without an operating system: movers are at 0x10000 each, those that read first. Memory that
// was flushed is the card's, under the program's address.
struct bus {
    static std::map<std::uint64_t, std::unique_ptr<card::memory>> seen;

    static card::unit& of(std::uintptr_t at) {
        const std::size_t k = at / 0x10000 - 1, n = hlsgen::network.streams_in;
        return card::units[k < n ? std::string("read_") + hlsgen::network.sends[k].stream.port : std::string("write_") + hlsgen::network.receives[k - n].stream.port];
    }
    static std::uint32_t read(std::uintptr_t at) { return of(at).peek(at % 0x10000); }
    static void write(std::uintptr_t at, std::uint32_t value) { card::poke(of(at), at % 0x10000, value); }
    static void flush(const void* at, std::size_t size) {
        std::unique_ptr<card::memory>& m = seen[std::uintptr_t(at)];
        m = std::make_unique<card::memory>(size);
        std::memcpy(m->device.data(), at, size);
    }
    static void invalidate(void* at, std::size_t size) { std::memcpy(at, card::memory::at(address(at), size), size); }
    static std::uint64_t address(const void* at) { return seen.at(std::uintptr_t(at))->address; }
};

std::map<std::uint64_t, std::unique_ptr<card::memory>> bus::seen;

// resize makes a frame have another size: bytes are taken from its end, or put there.
static void resize(hlsgen::frames& f, std::size_t which, std::size_t size) {
    std::size_t end = 0;
    for (std::size_t k = 0; k <= which; k++) end += f.size[k];
    const auto at = f.data.begin() + std::ptrdiff_t(end);
    if (size < f.size[which]) f.data.erase(at - std::ptrdiff_t(f.size[which] - size), at);
    else f.data.insert(at, size - f.size[which], 0);
    f.size[which] = size;
}

// frames_wrong has devices give other frames than those asked for.
static void frames_wrong() {
    const hlsgen::stream& s = hlsgen::network.receives[0].stream;
    spoiled device;
    hlsgen::accelerator net(device);
    const auto wrongly = [&](const char* what, const std::string& words, std::function<void(std::vector<hlsgen::frames>&)> how) {
        device.spoil = std::move(how);
        ends<hlsgen::device_error>(what, words, [&] { net.predict(x, steps); });
    };
    const std::size_t unit = s.words * s.bytes * (hlsgen::network.receives[0].time ? steps[1] : 1);
    const std::string want = "stream " + port + ", frame 1: the device gave ";
    const std::string count = std::to_string(steps.empty() ? 3 : steps.size());
    wrongly("a stream too few", "the device gave " + std::to_string(hlsgen::network.streams_out - 1) + " streams, want frames of ", [](auto& f) { f.pop_back(); });
    wrongly("a stream too many", " streams: " + port, [](auto& f) { f.push_back(f[0]); });
    wrongly("a frame too few", "stream " + port + ": the device gave 2 frames, want " + count + " of ", [](auto& f) { resize(f[0], 2, 0), f[0].size.pop_back(); });
    wrongly("a frame too many", "stream " + port + ": the device gave 4 frames, want " + count + " of ", [](auto& f) { f[0].size.push_back(0), resize(f[0], 3, f[0].size[0]); });
    wrongly("a short frame", want + std::to_string(unit - 1) + " bytes, want " + std::to_string(unit) + " bytes", [&](auto& f) { resize(f[0], 1, unit - 1); });
    wrongly("a frame without words", want + "0 bytes, want ", [](auto& f) { resize(f[0], 1, 0); });
    wrongly("a long frame", want + std::to_string(unit + 1) + " bytes, want ", [&](auto& f) { resize(f[0], 1, unit + 1); });
    wrongly("bytes too few", "stream " + port + ": the device gave ", [](auto& f) { f[0].data.pop_back(); });
    const hlsgen::meaning& m = hlsgen::network.results[0].mean[0];
    const std::int64_t most = s.kind == hlsgen::kinds::integer ? (std::int64_t(1) << (s.bits - 1)) - 1 : (std::int64_t(1) << s.bits) - 1;
    if (most <= m.hi) fail("every code may occur");
    wrongly("a word that does not occur", "stream " + port + ", frame 2: the device gave the code " + std::to_string(most) + ", want " + std::to_string(m.lo) +
            " to " + std::to_string(m.hi), [&](auto& f) { hlsgen::put(f[0].data.data() + f[0].size[0] + f[0].size[1], 0, s.bits, std::uint64_t(most)); });
    device.spoil = [](auto& f) { resize(f[0], 0, f[0].size[0] - 1); };
    ends<hlsgen::device_error>("a short frame where throughput is measured", "the device gave ", [&] { net.throughput(2); });
    device.spoil = [](auto&) {};
    library_fails = true;
    ends<hlsgen::device_error>("a library that fails", "stream m_axis_0: a frame ends after 1 of 4 bytes", [&] { net.predict(x, steps); });
    library_fails = false;
    net.predict(x, steps);
}

// given_wrong has programs ask for what cannot be.
static void given_wrong() {
    using namespace hlsgen;
    library device;
    accelerator net(device);
    for (long long n : {0, -1}) {
        ends<unfit>("a batch of " + std::to_string(n), "batch is " + std::to_string(n) + ", want an integer of at least 1", [&] { accelerator(device, n).predict(x, steps); });
        ends<unfit>("so many samples", "samples is " + std::to_string(n) + ", want an integer of at least 1", [&] { net.throughput(n); });
    }
    const stream &in = network.sends[0].stream, &out = network.receives[0].stream;
    const std::size_t frame = in.words * in.bytes, size = out.words * out.bytes;
    const std::string sent = std::string("stream ") + in.port, got = "stream " + port;
    ends<unfit>("no streams", "frames of 0 streams in and 0 streams out, want " + std::to_string(network.streams_in) + " and 1", [&] { device.start({}, {}); });
    const auto starts = [&](const char* what, const std::string& words, const sizes& first, const sizes& room, std::size_t more = 0) {
        std::vector<frames> all(network.streams_in);
        for (std::size_t k = 0; k < all.size(); k++) {
            all[k].size = k == 0 ? first : sizes(first.size(), network.sends[k].stream.words * network.sends[k].stream.bytes);
            all[k].data.resize(sum(all[k].size) + more);
        }
        ends<unfit>(what, words, [&] { device.start(all, {room}); });
    };
    starts("no frames", sent + ": 0 frames, want 1", {}, {});
    starts("another number of frames", got + ": 1 frames, want 2", {frame, frame}, {size});
    starts("a part of a frame", sent + ", frame 1: " + std::to_string(frame - 1) + " bytes, want " + std::to_string(frame), {frame, frame - 1}, {size, size});
    starts("more bytes than frames", sent + ": " + std::to_string(frame + 3) + " bytes, want " + std::to_string(frame), {frame}, {size}, 3);
    starts("room for a part of a frame", got + ", frame 0: " + std::to_string(size + 1) + " bytes, want " + std::to_string(size), {frame}, {size + 1});
    ends<unfit>("movers too few", "0 movers that read and 1 that write, want " + std::to_string(network.streams_in) + " and 1", [&] { bare_device<bus>({}, {0x20000}); });
}

// movers_wrong has the movers of a card, or of a board, do wrong. made makes their device, which waits for the least time.
template <class MAKE> static void movers_wrong(const std::string& of, const std::string& busy, const std::vector<float>& want, MAKE made) {
    reset();
    does = wrong::nothing;
    {
        auto device = made();
        hlsgen::accelerator net(*device, 2);
        if (net.predict(x, steps) != want || net.predict(x, steps) != want) fail(of + " gives other values");
    }
    bus::seen.clear();
    if (card::buffers != 0) fail(of + " leaves buffers in use");
    const std::string read = std::string("read_") + hlsgen::network.sends[0].stream.port, write = "write_" + port;
    for (const std::string& unit : {read, write}) {
        const std::string named = "stream " + unit.substr(unit.find('_') + 1);
        where = unit;
        does = wrong::errors;
        for (const auto& [bits, words] : std::map<std::uint32_t, std::string>{{1, "0x1, a response of the memory: "},
                                                                             {2, "0x2, a frame that is too short or too long: "},
                                                                             {4, "0x4, what is asked for cannot be: "},
                                                                             {3, "0x3, a response of the memory, a frame that is too short or too long: "},
                                                                             {0x80, "0x80, unknown: "}}) {
            error = bits;
            auto device = made();
            hlsgen::accelerator net(*device);
            ends<hlsgen::device_error>(of + ": an error", named + " ended with error " + words + std::to_string(steps.empty() ? 3 : steps.size()) + " frames, ", [&] {
                try {
                    net.predict(x, steps);
                } catch (const hlsgen::device_error&) {
                    bus::seen.clear();
                    if (card::buffers != 0) fail(of + " keeps " + std::to_string(card::buffers) + " buffers behind an error");
                    throw;
                }
            });
            does = wrong::nothing;
            if (net.predict(x, steps) != want) fail(of + " gives other values behind errors");
            does = wrong::errors;
            bus::seen.clear();
        }
        does = wrong::hangs;
        for (const bool again : {false, true})
            ends<hlsgen::device_error>(of + (again ? ": it is busy" : ": it hangs"), named + (again ? busy : " is not through after "), [&] {
                reset();
                const auto clean = [](void*) {
                    reset();
                    bus::seen.clear();
                };
                auto device = made();
                const std::unique_ptr<void, decltype(clean)> at_end(&where, clean);
                hlsgen::accelerator net(*device);
                try {
                    net.predict(x, steps);
                } catch (const hlsgen::device_error&) {
                    if (card::buffers == 0) fail(of + " frees memory that a mover uses");
                    if (!again) throw;
                }
                net.predict(x, steps);
            });
        does = wrong::nothing;
    }
}

#ifdef HLSGEN_HW_CONTEXT
// interrupts has a card whose movers end late: each is asked a few times, by its interrupt where XRT has that, and with pauses
// where it has not.
static void interrupts(const std::vector<float>& want) {
    reset();
    xrt::device card(0);
    for (const bool wired : {true, false}) {
        card::wired = wired;
        card::late = wired ? 0 : 40;
        does = wrong::late;
        hlsgen::xrt_device device(card, card.load_xclbin("net.xclbin"));
        hlsgen::accelerator net(device);
        card::asked = card::waited = 0;
        if (net.predict(x, steps) != want) fail("a late card gives other values");
        const unsigned movers = unsigned(hlsgen::network.streams_in + hlsgen::network.streams_out);
        if (card::asked > (wired ? 3 * movers : 41 + 3 * movers) || (card::waited > 0) != wired) fail("movers are asked " + std::to_string(card::asked) + " times");
        for (auto& [name, u] : card::units)
            if (wired && u.registers[0x0c] != 0) fail("an interrupt of " + name + " is left");
    }
    card::wired = false;
    does = wrong::nothing;
    if (card::buffers != 0) fail("a late card leaves buffers in use");
}
#endif

int main(int argc, char** argv) {
    for (int i = 1; i < argc; i++) steps.push_back(std::size_t(std::stoul(argv[i])));
    std::size_t all = steps.empty() ? 3 : 0;
    for (std::size_t n : steps) all += n;
    for (std::size_t k = 0; k < all * hlsgen::network.input[0].elements; k++) x.push_back(float(k % 7) - 3);
    hlsgen::library library;
    const std::vector<float> y = hlsgen::accelerator(library).predict(x, steps);
    frames_wrong();
    given_wrong();
    std::vector<std::uintptr_t> readers;
    for (std::size_t k = 1; k <= hlsgen::network.streams_in; k++) readers.push_back(0x10000 * k);
    movers_wrong("bare", " is busy with a batch before: reset the logic", y, [&] {
        return std::make_unique<hlsgen::bare_device<bus>>(readers, std::vector<std::uintptr_t>{0x10000 * (readers.size() + 1)}, 10);
    });
#ifdef HLSGEN_HW_CONTEXT
    interrupts(y);
#endif
    movers_wrong("XRT", " is busy with a batch before: load the xclbin again", y, [] {
        xrt::device card(0);
        return std::make_unique<hlsgen::xrt_device>(card, card.load_xclbin("net.xclbin"), std::chrono::milliseconds(-1000 * (steps.empty() ? 3 : long(steps.size()))));
    });
    std::cout << "PASS\n";
}
