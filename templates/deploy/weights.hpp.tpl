// The weights for host.hpp in the same folder. The accelerator must have design {{ v.Design|req }}, built with
// --weights runtime, stream or external. The program supplies functions that read and write the accelerator's
// registers: BUS of accelerator_bare.hpp at the accelerator's address, xrt::ip, or hlsgen_peek and hlsgen_poke of the
// library of rtl/axi. The accelerator must be idle while weights are loaded.
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

// weights_design is the hash of the design, which the movers of the accelerator hold.
static const char* const weights_design = "{{ v.Design|req }}";

static const std::uint32_t weights[] = {
{{ v.Words|req }}};

{% if v.Offset -%}
// weights_count is the number of words that fill tables.
static const std::size_t weights_count = {{ v.Count|req }};

template <typename READ, typename WRITE>
void load_weights(READ read, WRITE write) {
    const unsigned begin = {{ v.Offset|req }}, word = begin + 4;
    write(begin, 1u);
    for (std::size_t i = 0; i < weights_count; i++) write(word, weights[i]);
    write(word, 0u); // one word more: the register counts the words that no table takes
    for (int tries = 0; tries < 1000 && read(begin) == 0; tries++) {}
    if (read(begin) != 1) throw std::runtime_error("the accelerator takes another number of weights");
}
{%- if v.Loader %}

// stream_weights loads the tables from memory, with the mover of {{ v.Loader|req }}. The argument load is a function
// of words and their number: hlsgen_load of the library of rtl/axi, or a function that calls load of xrt_device or
// bare_device.
template <typename LOAD, typename READ>
void stream_weights(LOAD load, READ read) {
    const unsigned begin = {{ v.Offset|req }};
    std::vector<std::uint32_t> words(weights, weights + weights_count);
    words.push_back(0u); // one word more, as above
    load(words.data(), words.size());
    for (int tries = 0; tries < 1000 && read(begin) == 0; tries++) {}
    if (read(begin) != 1) throw std::runtime_error("the accelerator takes another number of weights");
}
{%- endif %}
{%- endif %}
{%- if v.External %}

// The following weights are read from memory with every frame, each layer's through a stream of its own.
struct external_weights {
    const char* port;
    std::size_t at, bytes, copies, passes;
};

static const external_weights external[] = {
{%- for e in v.External %}
    {"{{ e.Port|req }}", {{ e.At|req }}, {{ e.Bytes|req }}, {{ e.Copies|req }}, {{ e.Passes|req }}},
{%- endfor %}
};

// give_weights makes a device read these weights with every frame from now on. The argument give is a function of the
// stream's port, the bytes, their number, and how often a frame reads the bytes of one copy: hlsgen_weights of the
// library of rtl/axi, or a function that calls weights of xrt_device or bare_device.
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
