// Compares the counters of an accelerator with hlsgen's simulation of the same design. The program supplies functions
// that read and write the accelerator's registers: BUS::read of accelerator_bare.hpp at the accelerator's address,
// xrt::ip::read_register, or hlsgen_peek and hlsgen_poke of the library of rtl/axi.
//
//     hlsgen::counters counters([](unsigned at) { return bus::read(0xa0020000 + at); },
//                               [](unsigned at, std::uint32_t value) { bus::write(0xa0020000 + at, value); });
//     counters.clear();
//     net.predict(x);
//     std::puts(counters.table().c_str());
#ifndef HLSGEN_COUNTERS_HPP
#define HLSGEN_COUNTERS_HPP

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hlsgen {

struct stream_counters {
    const char* name;
    const char* between;
    std::uint32_t stalled, starved;
};

struct counted {
    std::uint32_t frames, clocks;
    std::vector<stream_counters> streams;
};

// simulated has the counts of hlsgen's simulation.
inline counted simulated() {
    return { {{- v.Frames|req }}, {{ v.Clocks|req }}, {
{%- for s in v.Streams %}
        {"{{ s.Name|req }}", "{{ s.From|req }} to {{ s.To|req }}", {{ s.Stalled|req }}, {{ s.Starved|req }}},
{%- endfor %}
    } };
}

class counters {
public:
    using reader = std::function<std::uint32_t(unsigned)>;
    using writer = std::function<void(unsigned, std::uint32_t)>;

    counters(reader r, writer w) : get(std::move(r)), put(std::move(w)) {}

    // clear sets all counters to zero. They start to count again with the next word that is sent.
    void clear() { put(offset, 1); }

    counted read() {
        counted c = simulated();
        unsigned at = offset;
        const auto next = [&] { return get((at += 4) - 4); };
        c.frames = next();
        c.clocks = next();
        for (stream_counters& s : c.streams) {
            s.stalled = next();
            s.starved = next();
        }
        return c;
    }

    // table returns a text with the counts of the accelerator next to those of the simulation.
    std::string table() {
        const counted got = read(), want = simulated();
        std::string text;
        const auto row = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                             const std::string& e, const std::string& f) {
            char line[256];
            std::snprintf(line, sizeof line, "%-8s%-40s%12s%12s%12s%12s\n", a.c_str(), b.c_str(), c.c_str(), d.c_str(), e.c_str(), f.c_str());
            text += line;
        };
        const auto n = [](std::uint32_t value) { return std::to_string(value); };
        row("", "", "counted", "", "simulated", "");
        row("", "frames", n(got.frames), "", n(want.frames), "");
        row("", "clocks", n(got.clocks), "", n(want.clocks), "");
        row("stream", "", "stalled", "starved", "stalled", "starved");
        for (std::size_t k = 0; k < got.streams.size(); k++)
            row(got.streams[k].name, got.streams[k].between, n(got.streams[k].stalled), n(got.streams[k].starved),
                n(want.streams[k].stalled), n(want.streams[k].starved));
        return text;
    }

private:
    static constexpr unsigned offset = {{ v.Offset|req }};
    reader get;
    writer put;
};

} // namespace hlsgen

#endif
