// A bench for designs in SystemVerilog, with Verilator. It sends recorded words to the inputs, compares the words of
// every stream with the recordings, and reports the clocks in which words move. Clocks are numbered as in hlsgen's
// simulator: clock 0 is the first in which a word can be visible.
#ifndef HLSGEN_BENCH_HPP
#define HLSGEN_BENCH_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// A signal is a port of the model, with its width in bits, in Verilator's representation.
struct signal {
    int   bits;
    void* at;  // nullptr if the port does not exist

    std::vector<uint32_t> get() const;
    void                  set(const std::vector<uint32_t>& words) const;
    bool                  on() const { return *static_cast<uint8_t*>(at) != 0; }
    void                  put(bool value) const { *static_cast<uint8_t*>(at) = value; }
};

// A stream is a FIFO of a design. Its words are recorded in NAME.dat, one per line, in hexadecimal. The last word of
// each frame is followed by a dot.
struct stream {
    std::string name;
    signal      word, read, claim;  // claim: the writer claims a place; inputs have no claim
};

// An input describes the host at an input of the design. It sends a word if the FIFO of `depth` words has room.
struct input {
    int    stream;  // by number
    int    depth, every, index;
    signal data, valid, last, taken;
};

// An output describes the host at an output of the design.
struct output {
    int    stream;
    int    every, index;
    signal data, valid, ready, last;
};

// A layer describes a layer whose iterations are checked. The signal moves has a bit for each stream, inputs first,
// which is set if the iteration moves a word of the stream. NAME.dat has the expected moves of one frame or of all
// frames, in hexadecimal.
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
//     +data=FOLDER                                   folder of the recordings
//     +in_stall=PERCENT +in_seed=N +in_every=N       when the host sends words; the same with out for receiving them
int run(int argc, char** argv, const design& all, int reset, uint64_t patience, const std::function<void(bool high)>& clock,
        const signal& reset_n);

}  // namespace bench

#endif
