// A bench for designs in SystemVerilog, in Verilator: it gives recorded words to the inputs, compares what passes on every
// stream with the recordings, and tells in which clocks words have moved. Clocks have the numbers that they have in hlsgen's
// simulator: in clock 0 the first word can be visible.
#ifndef HLSGEN_BENCH_HPP
#define HLSGEN_BENCH_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// A signal is a port of the model: so many bits, as Verilator keeps them.
struct signal {
    int   bits;
    void* at;  // nullptr: there is none

    std::vector<uint32_t> get() const;
    void                  set(const std::vector<uint32_t>& words) const;
    bool                  on() const { return *static_cast<uint8_t*>(at) != 0; }
    void                  put(bool value) const { *static_cast<uint8_t*>(at) = value; }
};

// A stream is a FIFO of a design. Its words are recorded in NAME.dat: a line each, in hexadecimal; a dot behind the last word
// of each frame.
struct stream {
    std::string name;
    signal      word, read, claim;  // claim: a place is taken; none at inputs
};

// The host at an input: it gives a word where the FIFO of `depth` words has a place.
struct input {
    int    stream;  // by number
    int    depth, every, index;
    signal data, valid, last, taken;
};

// The host at an output.
struct output {
    int    stream;
    int    every, index;
    signal data, valid, ready, last;
};

// A layer whose iterations are looked at: moves has a bit for each stream at which it moves a word, inputs first; what the
// iterations move, of a frame or of all, is in NAME.dat, in hexadecimal.
struct layer {
    std::string name;
    signal      fire, moves;
};

struct design {
    std::vector<stream> streams;
    std::vector<input>  inputs;
    std::vector<output> outputs;
    std::vector<layer>  layers;
};

// run runs a design. clock evaluates the model, with the clock low or high.
//     +data=FOLDER                                   of the recordings
//     +in_stall=PERCENT +in_seed=N +in_every=N       when the host gives words, and with out when it takes them
int run(int argc, char** argv, const design& all, int reset, uint64_t patience, const std::function<void(bool high)>& clock,
        const signal& reset_n);

}  // namespace bench

#endif
