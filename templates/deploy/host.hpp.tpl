// What samples become and what results mean, of {{ v.Top|req }}: host.json as tables.
#ifndef HLSGEN_HOST_HPP
#define HLSGEN_HOST_HPP

#include <cstddef>
#include <cstdint>

namespace hlsgen {

enum class kinds { natural, integer, bipolar };

// stream is words of per_word integers, the first in the lowest bits, each padded to whole bytes; so many words make a frame, or a
// step of a sequence.
struct stream {
    const char* port;
    kinds kind;
    int bits;
    std::size_t per_word, bytes, words;
};

// tensor is an input or an output: elements of a sample or, where it has time, of a step, of which inner lie behind each other. Its
// numbers have at most so many digits in base 2, are multiples of 2 to the power of least, and no greater than most; where it has no
// digits, it holds doubles or integers.
struct tensor {
    const char* name;
    std::size_t elements;
    bool time;
    std::size_t inner;
    int digits, least;
    double most;
};

// quantiser has codes[k], k being how many of the thresholds are at most x.
struct quantiser {
    const double* thresholds;
    std::size_t steps;
    const std::int64_t* codes;
};

// sent says that element i of a frame, or of a step, is the code of element index[i] of an input: by quantisers[which[i]], or the
// integer from lo to hi that it is or, where there are values, stands for: that whose value is next to it, no further away than
// within. Channel which[i], or the only one, has the values from which[i] * (hi - lo + 1) on, and within[which[i]], or 0.
struct sent {
    hlsgen::stream stream;
    std::size_t input;
    const std::int32_t* index;
    const std::int32_t* which;
    const quantiser* quantisers;
    std::int64_t lo, hi;
    const double* values;
    const double* within;
};

// meaning is values[code - lo], or code * scale + bias, with exceptions.
struct meaning {
    std::int64_t lo;
    const double* values;
    double scale, bias;
    std::size_t exceptions;
    const std::int64_t* codes;
    const double* means;
};

// received is a stream out; where it has time, its words are those of a step.
struct received {
    hlsgen::stream stream;
    bool time;
};

// result says that element i of an output is what the code of element index[i] means: mean[which[i]]. Elements of frames count
// stream after stream: of an output with time, in a step of the streams that have time, else in the frames of the others.
struct result {
    tensor of;
    bool single, time;
    const std::int32_t* index;
    const std::int32_t* which;
    const meaning* mean;
};

struct host {
    const char* hash;
    std::size_t shortest, longest; // steps of a sequence; 0 where all samples have one shape
    std::size_t inputs, outputs, streams_in, streams_out;
    const tensor* input;
    const sent* sends;
    const received* receives;
    const result* results;
};

namespace tables {
{%- for t in v.Tables %}
static const {{ t.Type|req }} {{ t.Name|req }}[] = { {{- t.Text|req -}} };
{%- endfor %}
} // namespace tables

static const host network = {"{{ v.Hash|req }}", {{ v.Shortest|req }}, {{ v.Longest|req }}, {{ v.Inputs|req }}, {{ v.Outputs|req }}, {{ v.In|req }}, {{ v.Out|req }}, tables::input, tables::sends, tables::receives, tables::results};

} // namespace hlsgen

#endif
