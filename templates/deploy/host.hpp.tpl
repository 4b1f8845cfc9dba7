// Tables of {{ v.Top|req }}: how samples are encoded for the accelerator, and how its results are decoded. They have
// the contents of host.json.
#ifndef HLSGEN_HOST_HPP
#define HLSGEN_HOST_HPP

#include <cstddef>
#include <cstdint>

namespace hlsgen {

enum class kinds { natural, integer, bipolar };

// stream describes an AXI4-Stream. A word has per_word integers, the first in the lowest bits, and is padded to whole
// bytes. A frame, or a step of a sequence, has `words` words.
struct stream {
    const char* port;
    kinds kind;
    int bits;
    std::size_t per_word, bytes, words;
};

// tensor describes an input or an output: the elements of a sample or, if it has time, of a step. Then `inner`
// elements of a step are adjacent. Its numbers have at most `digits` binary digits, are multiples of 2^least, and are
// at most `most`. If digits is 0, the tensor holds doubles or integers.
struct tensor {
    const char* name;
    std::size_t elements;
    bool time;
    std::size_t inner;
    int digits, least;
    double most;
};

// quantiser gives codes[k] for a number x, where k is the number of thresholds that are at most x.
struct quantiser {
    const double* thresholds;
    std::size_t steps;
    const std::int64_t* codes;
};

// sent describes how input elements become a stream. Element i of a frame, or of a step, is the code of element
// index[i] of an input. With quantisers, quantisers[which[i]] gives the code. Without values, the code is the element
// itself, an integer from lo to hi. With values, the code is the integer from lo to hi whose value is nearest to the
// element; the distance may be at most `within`. The values of channel which[i], or of the only channel, begin at
// which[i] * (hi - lo + 1); its limit of the distance is within[which[i]], or 0.
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

// meaning gives the number for a code from lo to hi: values[code - lo], or code * scale + bias unless the code has an
// exception. No other codes occur.
struct meaning {
    std::int64_t lo, hi;
    const double* values;
    double scale, bias;
    std::size_t exceptions;
    const std::int64_t* codes;
    const double* means;
};

// received describes an output stream. If it has time, its number of words is that of a step.
struct received {
    hlsgen::stream stream;
    bool time;
};

// result describes how streams become an output. Element i of the output is mean[which[i]] applied to the code of
// element index[i]. The index counts elements stream after stream: for an output with time, in a step of the streams
// with time; else in the frames of the other streams.
struct result {
    tensor of;
    bool single, time;
    const std::int32_t* index;
    const std::int32_t* which;
    const meaning* mean;
};

struct host {
    const char* hash;
    std::size_t shortest, longest; // steps of a sequence; 0 if all samples have the same shape
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
