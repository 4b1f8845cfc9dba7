// {{ v.Top|req }}_axi as a library. It simulates a memory with random delays, and a host that writes the movers' registers.
// Programs pass frames as with hls/lib.cpp; here the frames go through the memory.
#include "Vaxi.h"
#include "verilated.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

// Byte addresses of the movers' registers. TABLE is the address of the table of sequences.
enum : unsigned { CONTROL = 0x00, ADDRESS = 0x10, FRAMES = 0x1c, TABLE = 0x24, FAULT = 0x30, HASH = 0x34 };

static const std::uint64_t BASE = 0x400000000; // an address that needs more than 32 bits
static const std::size_t MOVERS = {{ v.Frames|req }}; // movers that carry frames

struct burst {
    std::uint64_t address;
    unsigned left; // remaining beats
};

// port has the pins of one mover, and the state of its transfers.
struct port {
    bool writes;
    unsigned bytes, frame_bytes;
    CData &awaddr, &awvalid, &awready, &wstrb, &wvalid, &wready, &bvalid, &bready, &araddr, &arvalid, &arready, &rvalid, &rready;
    IData &wdata, &rdata;
    QData& address;
    CData &length, &asked, &taken;      // channel AR or AW: length, valid, ready
    void *data, *strobes;               // channel R or W
    CData &valid, &ready, &last;        // channel R or W
    CData *responds, *response_taken;   // channel B
    std::deque<burst> bursts;
    unsigned responses = 0;
    bool offers = false, responding = false; // a word of R or a response of B waits to be taken
    bool wrote_address = false, wrote = false, responded = false, asks = false, came = false; // registers: events of this clock
    std::uint32_t value = 0;
};

class machine;
static std::uint64_t place(machine& m, std::size_t bytes);

class machine {
public:
    machine() {
        if (const char* text = std::getenv("AXI_STALL")) stall = unsigned(std::atoi(text));
        context.randReset(2);
        top = std::make_unique<Vaxi>(&context);
{%- for m in v.Movers %}
        ports.push_back(port{ {%- if m.Write %}true{% else %}false{% endif %}, {{ m.Bytes|req }}, {{ m.FrameBytes|req }},
            top->{{ m.Name|req }}_s_axi_control_awaddr, top->{{ m.Name|req }}_s_axi_control_awvalid, top->{{ m.Name|req }}_s_axi_control_awready,
            top->{{ m.Name|req }}_s_axi_control_wstrb, top->{{ m.Name|req }}_s_axi_control_wvalid, top->{{ m.Name|req }}_s_axi_control_wready,
            top->{{ m.Name|req }}_s_axi_control_bvalid, top->{{ m.Name|req }}_s_axi_control_bready,
            top->{{ m.Name|req }}_s_axi_control_araddr, top->{{ m.Name|req }}_s_axi_control_arvalid, top->{{ m.Name|req }}_s_axi_control_arready,
            top->{{ m.Name|req }}_s_axi_control_rvalid, top->{{ m.Name|req }}_s_axi_control_rready,
            top->{{ m.Name|req }}_s_axi_control_wdata, top->{{ m.Name|req }}_s_axi_control_rdata,
{%- if m.Write %}
            top->{{ m.Name|req }}_m_axi_gmem_awaddr, top->{{ m.Name|req }}_m_axi_gmem_awlen, top->{{ m.Name|req }}_m_axi_gmem_awvalid, top->{{ m.Name|req }}_m_axi_gmem_awready,
            &top->{{ m.Name|req }}_m_axi_gmem_wdata, &top->{{ m.Name|req }}_m_axi_gmem_wstrb, top->{{ m.Name|req }}_m_axi_gmem_wvalid, top->{{ m.Name|req }}_m_axi_gmem_wready, top->{{ m.Name|req }}_m_axi_gmem_wlast,
            &top->{{ m.Name|req }}_m_axi_gmem_bvalid, &top->{{ m.Name|req }}_m_axi_gmem_bready, {}});
        top->{{ m.Name|req }}_m_axi_gmem_bresp = 0;
{%- else %}
            top->{{ m.Name|req }}_m_axi_gmem_araddr, top->{{ m.Name|req }}_m_axi_gmem_arlen, top->{{ m.Name|req }}_m_axi_gmem_arvalid, top->{{ m.Name|req }}_m_axi_gmem_arready,
            &top->{{ m.Name|req }}_m_axi_gmem_rdata, nullptr, top->{{ m.Name|req }}_m_axi_gmem_rvalid, top->{{ m.Name|req }}_m_axi_gmem_rready, top->{{ m.Name|req }}_m_axi_gmem_rlast,
            nullptr, nullptr, {}});
        top->{{ m.Name|req }}_m_axi_gmem_rresp = 0;
{%- endif %}
{%- endfor %}
        for (port& p : ports) {
            p.awvalid = p.wvalid = p.bready = p.arvalid = p.rready = p.taken = 0;
            (p.writes ? p.ready : p.valid) = 0;
            if (p.writes) *p.responds = 0;
        }
{%- if v.Registers %}
        top->accelerator_s_axi_control_AWVALID = top->accelerator_s_axi_control_WVALID = top->accelerator_s_axi_control_BREADY = 0;
        top->accelerator_s_axi_control_ARVALID = top->accelerator_s_axi_control_RREADY = 0;
{%- endif %}
        top->ap_rst_n = 0;
        tables();
        for (int i = 0; i < 40; i++) tick();
        top->ap_rst_n = 1;
        for (int i = 0; i < 40; i++) tick();
    }

    ~machine() { top->final(); }

    std::vector<port> ports;
    std::vector<std::uint8_t> memory;
    std::uint64_t clocks = 0;
{%- if v.Weights %}

    // feed describes weights that come with every frame: the mover's number, its stream, the bytes, and how often a
    // frame reads the bytes of one copy.
    struct feed {
        std::size_t mover;
        const char* stream;
        std::vector<std::uint8_t> bytes;
        std::size_t passes;
    };
    std::vector<feed> feeds = {
{%- for w in v.Weights %}{% if not forloop.First %},{% endif %} { {{- w.Number|req }}, "{{ w.Stream|req }}", {}, 0}{% endfor %} };
{%- endif %}

    void write(port& p, unsigned at, std::uint32_t value) {
        p.awaddr = CData(at), p.wdata = value, p.wstrb = 15, p.awvalid = p.wvalid = p.bready = 1;
        do {
            tick();
            if (p.wrote_address) p.awvalid = 0;
            if (p.wrote) p.wvalid = 0;
        } while (!p.responded);
        p.bready = 0;
    }

    std::uint32_t read(port& p, unsigned at) {
        p.araddr = CData(at), p.arvalid = p.rready = 1;
        do {
            tick();
            if (p.asks) p.arvalid = 0;
        } while (!p.came);
        p.rready = 0;
        return p.value;
    }
{%- if v.Registers %}

    // peek and poke access the accelerator's own registers.
    std::uint32_t peek(unsigned at) {
        top->accelerator_s_axi_control_ARADDR = at, top->accelerator_s_axi_control_ARVALID = 1;
        while (!top->accelerator_s_axi_control_ARREADY) tick();
        tick();
        top->accelerator_s_axi_control_ARVALID = 0, top->accelerator_s_axi_control_RREADY = 1;
        while (!top->accelerator_s_axi_control_RVALID) tick();
        const std::uint32_t value = top->accelerator_s_axi_control_RDATA;
        tick();
        top->accelerator_s_axi_control_RREADY = 0;
        return value;
    }

    void poke(unsigned at, std::uint32_t value) {
        top->accelerator_s_axi_control_AWADDR = at, top->accelerator_s_axi_control_WDATA = value;
        top->accelerator_s_axi_control_WSTRB = 15;
        top->accelerator_s_axi_control_AWVALID = top->accelerator_s_axi_control_WVALID = 1;
        while (!top->accelerator_s_axi_control_AWREADY) tick();
        tick();
        top->accelerator_s_axi_control_AWVALID = top->accelerator_s_axi_control_WVALID = 0;
        top->accelerator_s_axi_control_BREADY = 1;
        while (!top->accelerator_s_axi_control_BVALID) tick();
        tick();
        top->accelerator_s_axi_control_BREADY = 0;
    }
{%- endif %}

    void wide(port& p, unsigned at, std::uint64_t value) {
        write(p, at, std::uint32_t(value));
        write(p, at + 4, std::uint32_t(value >> 32));
    }

    void tick() {
        if (top->ap_rst_n)
            for (port& p : ports) offer(p);
        top->ap_clk = 0;
        top->eval();
        if (top->ap_rst_n)
            for (port& p : ports) transfer(p);
        top->ap_clk = 1;
        top->eval();
        clocks++;
    }

    // idle returns the clocks since the last transfer from or to the memory.
    std::uint64_t idle() const { return clocks - moved; }

private:
    VerilatedContext context;
    std::unique_ptr<Vaxi> top;
    std::mt19937 random{1};
    unsigned stall = 0;

    // tables makes the network read its tables. Initial blocks read them at the first eval, from the folder in which
    // the library was built.
    void tables() {
        Dl_info here;
        char* const from = getcwd(nullptr, 0);
        if (dladdr(reinterpret_cast<void*>(&place), &here) == 0 || chdir(folder(here.dli_fname).c_str()) != 0)
            throw std::runtime_error("the library's own folder is not found");
        tick();
        if (from == nullptr || chdir(from) != 0) throw std::runtime_error("the current folder is gone");
        std::free(from);
    }

    // folder returns the folder of the network's sources for the library's path: rtl for rtl/axi/build/NAME.
    static std::string folder(std::string path) {
        for (int up = 0; up < 3; up++) path = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/'));
        return path;
    }

    std::uint64_t moved = 0; // the clock of the last transfer

    bool now() { return stall == 0 || random() % 100 >= stall; }

    std::uint8_t* at(std::uint64_t address, unsigned bytes) {
        if (address < BASE || address - BASE + bytes > memory.size()) throw std::runtime_error("a mover leaves its memory");
        return memory.data() + (address - BASE);
    }

    // offer sets the memory's signals for a clock. A word that the memory offers stays until it is taken.
    void offer(port& p) {
        p.taken = p.bursts.size() < 8 && now();
        if (p.writes) {
            p.ready = !p.bursts.empty() && now();
            p.responding = p.responding || (p.responses > 0 && now());
            *p.responds = p.responding;
            return;
        }
        if (!p.offers && !p.bursts.empty() && now()) {
            p.offers = true;
            std::memcpy(p.data, at(p.bursts.front().address, p.bytes), p.bytes);
            p.last = p.bursts.front().left == 1;
        }
        p.valid = p.offers;
    }

    // transfer carries out the transfers of a clock: those for which valid and ready are set.
    void transfer(port& p) {
        p.wrote_address = p.awvalid && p.awready, p.wrote = p.wvalid && p.wready, p.responded = p.bvalid && p.bready;
        p.asks = p.arvalid && p.arready, p.came = p.rvalid && p.rready, p.value = p.rdata;
        const bool word = p.valid && p.ready && !p.bursts.empty();
        if (word) {
            burst& b = p.bursts.front();
            if (p.writes) store(p, b);
            b.address += p.bytes;
            p.offers = false;
            moved = clocks;
            if (--b.left == 0) {
                p.bursts.pop_front();
                p.responses += p.writes;
            }
        }
        if (p.writes && p.responding && *p.response_taken) p.responding = false, p.responses--;
        if (p.asked && p.taken) p.bursts.push_back({p.address, p.length + 1u});
    }

    void store(port& p, const burst& b) {
        std::uint8_t word[64], strobes[8];
        std::memcpy(word, p.data, p.bytes);
        std::memcpy(strobes, p.strobes, (p.bytes + 7) / 8);
        if ((p.last == 1) != (b.left == 1)) throw std::runtime_error("WLAST at a wrong word");
        std::uint8_t* const to = at(b.address, p.bytes);
        for (unsigned i = 0; i < p.bytes; i++)
            if (strobes[i / 8] >> i % 8 & 1) to[i] = word[i];
    }
};

static std::unique_ptr<machine> on;
static std::string said, design;

static machine& started() {
    if (!on) on = std::make_unique<machine>();
    return *on;
}

// hlsgen_design returns the hash in the registers of the first mover.
extern "C" const char* hlsgen_design() {
    machine& m = started();
    char text[17];
    std::snprintf(text, sizeof text, "%08x%08x", m.read(m.ports[0], HASH + 4), m.read(m.ports[0], HASH));
    design = text;
    return design.c_str();
}

// hlsgen_said returns the reason why the last run failed.
extern "C" const char* hlsgen_said() { return said.c_str(); }

// hlsgen_clocks returns the number of clocks simulated so far.
extern "C" std::uint64_t hlsgen_clocks() { return started().clocks; }

{% if v.Registers -%}
// hlsgen_peek and hlsgen_poke read and write the accelerator's own registers: words of 32 bits, with byte addresses.
extern "C" std::uint32_t hlsgen_peek(unsigned at) { return started().peek(at); }
extern "C" void hlsgen_poke(unsigned at, std::uint32_t value) { started().poke(at, value); }

{% endif -%}
// place allocates memory for the bytes at the beginning of a page, and a word of the memory after them. It returns the
// address.
static std::uint64_t place(machine& m, std::size_t bytes) {
    const std::size_t at = (m.memory.size() + 4095) / 4096 * 4096;
    m.memory.resize(at + bytes + 64, 0xa5);
    return BASE + at;
}

// end waits until a mover has finished.
static void end(machine& m, port& p) {
    while ((m.read(p, CONTROL) & 2) == 0) {
        for (int i = 0; i < 50; i++) m.tick();
        if (m.idle() > 2000000) throw std::runtime_error("nothing goes on, and a mover is not through");
    }
    if (const std::uint32_t fault = m.read(p, FAULT)) throw std::runtime_error("a mover ends with error " + std::to_string(fault));
}

static void run(machine& m, std::size_t frames, const std::uint8_t* const* in, const std::size_t* in_bytes, std::uint8_t* const* out,
                const std::size_t* out_bytes) {
    m.memory.clear();
    std::vector<std::uint64_t> addresses;
    std::vector<port*> order; // movers that write start first
    std::size_t sent = 0, received = 0;
    for (std::size_t k = 0; k < MOVERS; k++) {
        port& p = m.ports[k];
        const std::size_t first = (p.writes ? received++ : sent++) * frames;
        const std::size_t* const sizes = (p.writes ? out_bytes : in_bytes) + first;
        std::size_t all = 0;
        bool alike = true;
        for (std::size_t f = 0; f < frames; f++) all += sizes[f], alike = alike && sizes[f] == p.frame_bytes;
        const std::uint64_t data = place(m, all);
        std::uint64_t table = 0;
        if (!alike) {
            table = place(m, 4 * frames);
            for (std::size_t f = 0; f < frames; f++) {
                const std::uint32_t steps = std::uint32_t(sizes[f] / p.frame_bytes);
                std::memcpy(&m.memory[table - BASE + 4 * f], &steps, 4);
            }
        }
        std::uint8_t* to = &m.memory[data - BASE];
        for (std::size_t f = 0; !p.writes && f < frames; to += sizes[f++]) std::memcpy(to, in[first + f], sizes[f]);
        m.wide(p, ADDRESS, data);
        m.wide(p, TABLE, table);
        m.write(p, FRAMES, std::uint32_t(frames));
        addresses.push_back(data);
        order.insert(p.writes ? order.begin() : order.end(), &p);
    }
{%- if v.Weights %}
    for (machine::feed& w : m.feeds) {
        if (w.bytes.empty()) throw std::runtime_error(std::string("nobody has given the weights of ") + w.stream);
        const std::uint64_t data = place(m, w.bytes.size());
        std::memcpy(&m.memory[data - BASE], w.bytes.data(), w.bytes.size());
        port& p = m.ports[w.mover];
        m.wide(p, ADDRESS, data);
        m.wide(p, TABLE, 0);
        m.write(p, FRAMES, std::uint32_t(frames * w.passes));
        order.insert(order.begin(), &p);
    }
{%- endif %}
    for (port* p : order) m.write(*p, CONTROL, 1);
    for (port* p : order) end(m, *p);
    received = 0;
    for (std::size_t k = 0; k < MOVERS; k++) {
        if (!m.ports[k].writes) continue;
        const std::size_t first = received++ * frames;
        const std::uint8_t* from = &m.memory[addresses[k] - BASE];
        for (std::size_t f = 0; f < frames; from += out_bytes[first + f++]) std::memcpy(out[first + f], from, out_bytes[first + f]);
    }
}

// hlsgen_run sends frames and receives as many, as the function of the same name in hls/lib.cpp.
extern "C" int hlsgen_run(std::size_t frames, const std::uint8_t* const* in, const std::size_t* in_bytes, std::uint8_t* const* out,
                          const std::size_t* out_bytes) {
    try {
        run(started(), frames, in, in_bytes, out, out_bytes);
        return 0;
    } catch (const std::exception& e) {
        said = e.what();
        return 1;
    }
}
{%- if v.Loader %}

// hlsgen_load fills the accelerator's tables with words from memory, through the mover of weights.
extern "C" int hlsgen_load(const std::uint32_t* words, std::size_t count) {
    try {
        machine& m = started();
        port& p = m.ports[{{ v.Loader|req }}];
        m.memory.clear();
        const std::uint64_t data = place(m, 4 * count), table = place(m, 4);
        const std::uint32_t steps = std::uint32_t(count);
        std::memcpy(&m.memory[data - BASE], words, 4 * count);
        std::memcpy(&m.memory[table - BASE], &steps, 4);
        m.wide(p, ADDRESS, data);
        m.wide(p, TABLE, table);
        m.write(p, FRAMES, 1);
        m.write(p, CONTROL, 1);
        end(m, p);
        return 0;
    } catch (const std::exception& e) {
        said = e.what();
        return 1;
    }
}
{%- endif %}
{%- if v.Weights %}

// hlsgen_weights makes a stream carry these bytes with every frame from now on. The bytes of one copy are sent
// `passes` times.
extern "C" int hlsgen_weights(const char* stream, const std::uint8_t* bytes, std::size_t size, std::size_t passes) {
    for (machine::feed& w : started().feeds) {
        if (std::strcmp(w.stream, stream) != 0) continue;
        w.bytes.assign(bytes, bytes + size);
        w.passes = passes;
        return 0;
    }
    said = std::string("there is no stream ") + stream;
    return 1;
}
{%- endif %}
