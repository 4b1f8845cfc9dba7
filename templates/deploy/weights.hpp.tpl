// The weights that belong to host.hpp in the same folder, for an accelerator of design {{ v.Design|req }} that was built with
// --weights runtime. A program says how its registers are read and written: BUS of accelerator_bare.hpp at the accelerator's
// address, xrt::ip, or hlsgen_peek and hlsgen_poke of the library of rtl/axi. Nothing may run meanwhile.
//
//     hlsgen::load_weights([](unsigned at) { return bus::read(0xa0020000 + at); },
//                          [](unsigned at, std::uint32_t value) { bus::write(0xa0020000 + at, value); });
#ifndef HLSGEN_WEIGHTS_HPP
#define HLSGEN_WEIGHTS_HPP

#include <cstdint>
#include <stdexcept>

namespace hlsgen {

// weights_design is the hash that the movers of the accelerator have.
static const char* const weights_design = "{{ v.Design|req }}";

static const std::uint32_t weights[] = {
{{ v.Words|req }}};

template <typename READ, typename WRITE>
void load_weights(READ read, WRITE write) {
    const unsigned begin = {{ v.Offset|req }}, word = begin + 4;
    write(begin, 1u);
    for (const std::uint32_t w : weights) write(word, w);
    write(word, 0u); // which no table takes
    for (int tries = 0; tries < 1000 && read(begin) == 0; tries++) {}
    if (read(begin) != 1) throw std::runtime_error("the accelerator takes another number of weights");
}

} // namespace hlsgen

#endif
