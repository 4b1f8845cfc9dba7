// The weights that belong to host.hpp in the same folder, for an accelerator of design {{ v.Design|req }} that was built with
// --weights runtime, stream or external. A program says how its registers are read and written: BUS of accelerator_bare.hpp at the accelerator's
// address, xrt::ip, or hlsgen_peek and hlsgen_poke of the library of rtl/axi. Nothing may run meanwhile.
//
//     hlsgen::load_weights([](unsigned at) { return bus::read(0xa0020000 + at); },
//                          [](unsigned at, std::uint32_t value) { bus::write(0xa0020000 + at, value); });
#ifndef HLSGEN_WEIGHTS_HPP
#define HLSGEN_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace hlsgen {

// weights_design is the hash that the movers of the accelerator have.
static const char* const weights_design = "{{ v.Design|req }}";

static const std::uint32_t weights[] = {
{{ v.Words|req }}};

{% if v.Offset -%}
// weights_count is how many of them fill tables.
static const std::size_t weights_count = {{ v.Count|req }};

template <typename READ, typename WRITE>
void load_weights(READ read, WRITE write) {
    const unsigned begin = {{ v.Offset|req }}, word = begin + 4;
    write(begin, 1u);
    for (std::size_t i = 0; i < weights_count; i++) write(word, weights[i]);
    write(word, 0u); // which no table takes
    for (int tries = 0; tries < 1000 && read(begin) == 0; tries++) {}
    if (read(begin) != 1) throw std::runtime_error("the accelerator takes another number of weights");
}
{%- if v.Loader %}

// stream_weights does so from memory, with the mover of {{ v.Loader|req }}: load takes words and their number, and is
// hlsgen_load of the library of rtl/axi, or what calls load of xrt_device or bare_device.
template <typename LOAD, typename READ>
void stream_weights(LOAD load, READ read) {
    const unsigned begin = {{ v.Offset|req }};
    std::vector<std::uint32_t> words(weights, weights + weights_count);
    words.push_back(0u); // which no table takes
    load(words.data(), words.size());
    for (int tries = 0; tries < 1000 && read(begin) == 0; tries++) {}
    if (read(begin) != 1) throw std::runtime_error("the accelerator takes another number of weights");
}
{%- endif %}
{%- endif %}
{%- if v.External %}

// What follows comes out of memory with every frame, to a stream of its own.
struct external_weights {
    const char* port;
    std::size_t at, bytes, copies, passes;
};

static const external_weights external[] = {
{%- for e in v.External %}
    {"{{ e.Port|req }}", {{ e.At|req }}, {{ e.Bytes|req }}, {{ e.Copies|req }}, {{ e.Passes|req }}},
{%- endfor %}
};

// give_weights has a device read them from now on: give takes the stream's port, the bytes and their number, and how often a
// frame takes the bytes of one copy, and is hlsgen_weights of the library of rtl/axi, or what calls weights of xrt_device or bare_device.
template <typename GIVE>
void give_weights(GIVE give) {
    for (const external_weights& e : external) {
        std::vector<std::uint8_t> data;
        for (std::size_t k = 0; k < e.copies; k++)
            for (std::size_t i = 0; i < e.bytes; i++) data.push_back(std::uint8_t(weights[e.at + i / 4] >> 8 * (i % 4)));
        give(e.port, data.data(), data.size(), e.passes);
    }
}
{%- endif %}

} // namespace hlsgen

#endif
