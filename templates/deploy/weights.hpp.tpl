// The weights that belong to host.hpp in the same folder, for an accelerator of design {{ v.Design|req }} that was built with
// --weights runtime or stream. A program says how its registers are read and written: BUS of accelerator_bare.hpp at the accelerator's
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

// weights_count is how many they are.
static const std::size_t weights_count = {{ v.Count|req }};

template <typename READ, typename WRITE>
void load_weights(READ read, WRITE write) {
    const unsigned begin = {{ v.Offset|req }}, word = begin + 4;
    write(begin, 1u);
    for (const std::uint32_t w : weights) write(word, w);
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

} // namespace hlsgen

#endif
