// Runs a network on its accelerator, in C++17. It has the same functions as Python's accelerator.py. The network's
// tables are in host/host.hpp.
//
//     hlsgen::library device;                       // the generated C++, linked: make -C hls lib
//     hlsgen::accelerator net(device);
//     std::vector<float> y = net.predict(x);        // samples side by side, as the ONNX model takes and gives them
//
// Other devices: accelerator_xrt.hpp (Alveo, and Linux with XRT), accelerator_bare.hpp (no operating system).
#ifndef HLSGEN_ACCELERATOR_HPP
#define HLSGEN_ACCELERATOR_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/host.hpp"

namespace hlsgen {

// unfit is thrown if an argument does not fit the model, or if the accelerator does not fit this file.
struct unfit : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// device_error is thrown if the device gives other frames than those asked for, reports an error, or does not end.
struct device_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using bytes = std::vector<std::uint8_t>;
using sizes = std::vector<std::size_t>; // sizes of frames in bytes

// frames holds frames of one stream, one behind the other, and the size of each.
struct frames {
    bytes data;
    sizes size;

    void clear() {
        data.clear();
        size.clear();
    }
};

inline std::size_t sum(const sizes& list) { return std::accumulate(list.begin(), list.end(), std::size_t(0)); }

// device runs frames, one batch at a time. The function prepare takes the frames of each input stream, which stay as
// they are until the batch ends, and the sizes of the frames of each output stream. The function begin starts what is
// prepared, once or again and again, and finish waits for its end. Then received returns the frames, which the next
// batch replaces. These functions throw a device_error if the hardware reports an error or does not finish.
struct device {
    virtual ~device() = default;
    virtual std::string hash() = 0;
    virtual void prepare(const std::vector<frames>& in, const std::vector<sizes>& out) = 0;
    virtual void begin() = 0;
    virtual void finish() = 0;
    virtual const std::vector<frames>& received() = 0;

    void start(const std::vector<frames>& in, const std::vector<sizes>& out) {
        prepare(in, out);
        begin();
    }

    const std::vector<frames>& wait() {
        finish();
        return received();
    }
};

inline std::string stream_named(const char* port) { return std::string("stream ") + port; }

inline std::string frames_of(std::size_t count, std::size_t size) {
    return std::to_string(count) + " frames, " + std::to_string(size) + " bytes";
}

// count_frames checks what is given to a device's prepare, and returns the number of frames, which all streams share.
inline std::size_t count_frames(const std::vector<frames>& in, const std::vector<sizes>& out) {
    if (in.size() != network.streams_in || out.size() != network.streams_out)
        throw unfit("frames of " + std::to_string(in.size()) + " streams in and " + std::to_string(out.size()) + " streams out, want " +
                    std::to_string(network.streams_in) + " and " + std::to_string(network.streams_out));
    const std::size_t count = in[0].size.size();
    const auto check = [count](const stream& s, bool time, std::size_t given, auto size_of) {
        if (given != count || count == 0)
            throw unfit(stream_named(s.port) + ": " + std::to_string(given) + " frames, want " + std::to_string(std::max<std::size_t>(count, 1)));
        const std::size_t unit = s.words * s.bytes;
        for (std::size_t f = 0; f < count; f++)
            if (const std::size_t size = size_of(f); size == 0 || size % unit != 0 || (!time && size != unit))
                throw unfit(stream_named(s.port) + ", frame " + std::to_string(f) + ": " + std::to_string(size) + " bytes, want " + std::to_string(unit) +
                            (time ? " a step" : ""));
    };
    for (std::size_t k = 0; k < in.size(); k++) {
        check(network.sends[k].stream, network.input[network.sends[k].input].time, in[k].size.size(), [&](std::size_t f) { return in[k].size[f]; });
        if (in[k].data.size() != sum(in[k].size))
            throw unfit(stream_named(network.sends[k].stream.port) + ": " + std::to_string(in[k].data.size()) + " bytes, want " + std::to_string(sum(in[k].size)));
    }
    for (std::size_t k = 0; k < out.size(); k++)
        check(network.receives[k].stream, network.receives[k].time, out[k].size(), [&](std::size_t f) { return out[k][f]; });
    return count;
}

// registers has the places of a data mover's registers.
namespace registers {
constexpr unsigned control = 0x00, enabled = 0x04, events = 0x08, happened = 0x0c, address = 0x10, frames = 0x1c, table = 0x24, error = 0x30, hash = 0x34;
}

// counted returns a number of frames as a mover counts them.
inline std::uint32_t counted(const char* port, std::size_t frames) {
    if (std::uint64_t(frames) >> 32) throw unfit(stream_named(port) + ": " + std::to_string(frames) + " frames at a time are more than a mover counts: take a smaller batch");
    return std::uint32_t(frames);
}

// error_named returns the meaning of a mover's error register that is not 0.
inline std::string error_named(const char* port, std::uint32_t error, const std::string& what) {
    static constexpr const char* meanings[] = {"a response of the memory", "a frame that is too short or too long", "what is asked for cannot be"};
    char number[11];
    std::snprintf(number, sizeof number, "%#x", unsigned(error));
    std::string why;
    for (int bit = 0; bit < 3; bit++)
        if (error >> bit & 1) why += (why.empty() ? "" : ", ") + std::string(meanings[bit]);
    return stream_named(port) + " ended with error " + number + ", " + (why.empty() ? "unknown" : why) + ": " + what;
}

extern "C" const char* hlsgen_design();
extern "C" const char* hlsgen_said();
extern "C" int hlsgen_run(std::size_t frames, const std::uint8_t* const* in, const std::size_t* in_bytes, std::uint8_t* const* out,
                          const std::size_t* out_bytes);

// library runs the generated C++, which is linked with the program.
struct library : device {
    std::string hash() override { return hlsgen_design(); }

    void prepare(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        count = count_frames(in, out);
        data.clear(), sent.clear(), room.clear(), asked.clear();
        came.resize(out.size());
        for (const frames& stream : in) {
            const std::uint8_t* at = stream.data.data();
            for (std::size_t size : stream.size) data.push_back(at), sent.push_back(size), at += size;
        }
        for (std::size_t k = 0; k < out.size(); k++) {
            came[k].size = out[k];
            came[k].data.resize(sum(out[k]));
            std::uint8_t* at = came[k].data.data();
            for (std::size_t size : out[k]) room.push_back(at), asked.push_back(size), at += size;
        }
    }

    // begin runs the whole batch.
    void begin() override {
        if (hlsgen_run(count, data.data(), sent.data(), room.data(), asked.data()) != 0) throw device_error(hlsgen_said());
    }

    void finish() override {}

    const std::vector<frames>& received() override { return came; }

private:
    std::size_t count = 0;
    std::vector<const std::uint8_t*> data; // by frame
    std::vector<std::uint8_t*> room;
    sizes sent, asked;
    std::vector<frames> came;
};

// put appends an integer with the given number of bits to a word.
inline void put(std::uint8_t* word, std::size_t at, int bits, std::uint64_t code) {
    for (int done = 0; done < bits;) {
        const int place = int((at + done) % 8), some = std::min(8 - place, bits - done);
        word[(at + done) / 8] |= std::uint8_t(((code >> done) & ((1u << some) - 1)) << place);
        done += some;
    }
}

inline std::uint64_t get(const std::uint8_t* word, std::size_t at, int bits) {
    std::uint64_t code = 0;
    for (int done = 0; done < bits;) {
        const int place = int((at + done) % 8), some = std::min(8 - place, bits - done);
        code |= std::uint64_t((word[(at + done) / 8] >> place) & ((1u << some) - 1)) << done;
        done += some;
    }
    return code;
}

// encode returns the bits of an integer on a stream, and decode the integer of such bits.
inline std::uint64_t encode(const stream& s, std::int64_t code) { return std::uint64_t(s.kind == kinds::bipolar ? (code + 1) / 2 : code); }

inline std::int64_t decode(const stream& s, std::uint64_t bits) {
    if (s.kind == kinds::bipolar) return 2 * std::int64_t(bits) - 1;
    if (s.kind == kinds::integer && s.bits < 64 && bits >> (s.bits - 1)) bits |= ~std::uint64_t(0) << s.bits;
    return std::int64_t(bits);
}

// batch_bytes is the most that a batch sends and receives, unless a single sample is more.
constexpr std::size_t batch_bytes = std::size_t(1) << 24;

// accelerator runs a network on a device. It sends `batch` samples together, or as many as batch_bytes hold, and
// prepares the next samples meanwhile. Its memory serves all batches.
class accelerator {
public:
    explicit accelerator(device& d, long long batch = 256) : on(d), together(at_least_one("batch", batch)) {
        if (d.hash() != network.hash) throw unfit("the device is of design " + d.hash() + ", host.hpp of " + network.hash + ": they do not belong together");
    }

    // predict returns the results of samples, for a model with one input and one output. Sequences follow each other
    // in x; the argument steps has the number of steps of each. The results follow each other in the same way.
    template <class T> std::vector<float> predict(const std::vector<T>& x, const std::vector<std::size_t>& steps = {}) {
        if (network.inputs != 1 || network.outputs != 1) throw unfit("the model has several inputs or outputs: call run");
        const std::vector<double> y = results_of({std::vector<double>(x.begin(), x.end())}, steps, std::is_integral_v<T>)[0];
        return std::vector<float>(y.begin(), y.end());
    }

    // run is predict for any model. A double holds every value exactly. Inputs are rounded to the types of the model.
    std::vector<std::vector<double>> run(const std::vector<std::vector<double>>& x, const std::vector<std::size_t>& steps = {}) {
        return results_of(x, steps, false);
    }

    // throughput measures samples per second of the device alone: as many frames as batch_bytes hold are prepared, and
    // the time from begin to the end of finish is taken, over and over, for half a second or for so many samples.
    double throughput() { return measured(0); }
    double throughput(long long samples) { return measured(at_least_one("samples", samples)); }

private:
    device& on;
    std::size_t together;
    std::vector<frames> in; // of the batch that is made ready
    std::vector<sizes> asked; // of the running batch

    double measured(std::size_t samples) {
        const std::size_t longest = std::max<std::size_t>(network.longest, 1), most = std::max<std::size_t>(batch_bytes / bytes_of(longest), 1);
        const std::vector<std::size_t> lengths(samples == 0 ? most : std::min(most, samples), longest);
        in.resize(network.streams_in);
        for (std::size_t k = 0; k < in.size(); k++) {
            const sent& s = network.sends[k];
            in[k].size.assign(lengths.size(), words(s.stream, network.input[s.input].time ? longest : 1));
            in[k].data.assign(sum(in[k].size), 0);
        }
        asked = sizes_of(lengths);
        on.prepare(in, asked);
        using clock = std::chrono::steady_clock;
        std::chrono::duration<double> all(0), first(0);
        std::size_t times = 0;
        while (times == 0 || (samples > 0 ? times * lengths.size() < samples : times < 1000 && all.count() < (times > 4 ? 0.5 : 2.0))) {
            const auto begin = clock::now();
            on.begin();
            on.finish();
            const std::chrono::duration<double> took = clock::now() - begin;
            all += took;
            if (times++ == 0) check(on.received(), asked), first = took;
        }
        if (times > 1) all -= first, times--; // which found no memory in caches
        return double(times * lengths.size()) / std::max(all.count(), 1e-9);
    }

    // bytes_of returns the bytes that a sample of so many steps sends and receives.
    static std::size_t bytes_of(std::size_t steps) {
        std::size_t all = 0;
        for (std::size_t k = 0; k < network.streams_in; k++) all += words(network.sends[k].stream, network.input[network.sends[k].input].time ? steps : 1);
        for (std::size_t k = 0; k < network.streams_out; k++) all += words(network.receives[k].stream, network.receives[k].time ? steps : 1);
        return all;
    }

    static std::size_t at_least_one(const char* what, long long n) {
        if (n < 1) throw unfit(std::string(what) + " is " + std::to_string(n) + ", want an integer of at least 1");
        return std::size_t(n);
    }

    // sizes_of returns the sizes of the output frames for samples of the given lengths.
    static std::vector<sizes> sizes_of(const std::vector<std::size_t>& lengths) {
        std::vector<sizes> of(network.streams_out);
        for (std::size_t k = 0; k < network.streams_out; k++)
            for (std::size_t n : lengths) of[k].push_back(words(network.receives[k].stream, network.receives[k].time ? n : 1));
        return of;
    }

    // results_of implements run, for data that are integers of the network, or numbers of the model.
    std::vector<std::vector<double>> results_of(std::vector<std::vector<double>> x, const std::vector<std::size_t>& steps, bool integers) {
        const std::vector<std::size_t> lengths = lengths_of(x, steps);
        for (std::size_t k = 0; k < network.inputs && !integers; k++)
            for (double& v : x[k]) v = rounded(network.input[k], v);
        std::vector<std::size_t> at(network.streams_in, 0); // by stream: the place in its input
        std::vector<frames> all(network.streams_out);
        bool running = false;
        const auto finish = [&] {
            running = false;
            append(on.wait(), asked, all);
        };
        in.resize(network.streams_in);
        for (std::size_t first = 0, last = 0; first < lengths.size(); first = last) {
            for (std::size_t room = batch_bytes; last < lengths.size() && last - first < together; last++) {
                const std::size_t size = bytes_of(lengths[last]);
                if (size > room && last > first) break;
                room -= std::min(size, room);
            }
            const std::vector<std::size_t> some(lengths.begin() + std::ptrdiff_t(first), lengths.begin() + std::ptrdiff_t(last));
            try {
                for (frames& f : in) f.clear();
                for (std::size_t k = 0; k < network.streams_in; k++) at[k] = send(network.sends[k], x[network.sends[k].input], integers, at[k], some, in[k]);
            } catch (...) {
                if (running) on.wait(); // so that the device is idle afterwards
                throw;
            }
            if (running) finish();
            asked = sizes_of(some);
            on.start(in, asked);
            running = true;
        }
        finish();
        std::vector<std::vector<double>> y(network.outputs);
        for (std::size_t k = 0; k < network.outputs; k++) take(network.results[k], lengths, all, y[k]);
        return y;
    }

    // check throws unless the device gave frames of the sizes that it was asked for.
    static void check(const std::vector<frames>& given, const std::vector<sizes>& asked) {
        if (given.size() != asked.size()) {
            std::string ports;
            for (std::size_t k = 0; k < asked.size(); k++) ports += (k == 0 ? "" : ", ") + std::string(network.receives[k].stream.port);
            throw device_error("the device gave " + std::to_string(given.size()) + " streams, want frames of " + std::to_string(asked.size()) +
                               " streams: " + ports);
        }
        for (std::size_t k = 0; k < asked.size(); k++) {
            const std::string named = stream_named(network.receives[k].stream.port);
            const std::size_t all = sum(asked[k]);
            if (given[k].size.size() != asked[k].size())
                throw device_error(named + ": the device gave " + std::to_string(given[k].size.size()) + " frames, want " +
                                   std::to_string(asked[k].size()) + " of " + std::to_string(all) + " bytes");
            for (std::size_t f = 0; f < asked[k].size(); f++)
                if (given[k].size[f] != asked[k][f])
                    throw device_error(named + ", frame " + std::to_string(f) + ": the device gave " + std::to_string(given[k].size[f]) +
                                       " bytes, want " + std::to_string(asked[k][f]) + " bytes");
            if (given[k].data.size() != all)
                throw device_error(named + ": the device gave " + std::to_string(given[k].data.size()) + " bytes, want " + std::to_string(all) + " bytes");
        }
    }

    static void append(const std::vector<frames>& some, const std::vector<sizes>& asked, std::vector<frames>& to) {
        check(some, asked);
        for (std::size_t k = 0; k < to.size(); k++) {
            to[k].data.insert(to[k].data.end(), some[k].data.begin(), some[k].data.end());
            to[k].size.insert(to[k].size.end(), some[k].size.begin(), some[k].size.end());
        }
    }

    // rounded returns the number nearest to x that the input's type holds.
    static double rounded(const tensor& t, double x) {
        if (t.digits == 0 || x == 0) return x;
        int exponent;
        std::frexp(x, &exponent);
        const int unit = std::max(exponent - t.digits, t.least);
        const double y = t.digits == 24 ? double(float(x)) : std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
        if (!(std::fabs(y) <= t.most)) throw unfit(std::string("input \"") + t.name + "\" does not hold " + std::to_string(x));
        return y;
    }

    // whole returns x as an integer, for data that are integers. The accelerator must be built for integers.
    static std::int64_t whole(const sent& s, double x) {
        if (s.quantisers != nullptr) throw unfit(std::string("input \"") + network.input[s.input].name + "\" is real, the data are integers: build with --input-type");
        if (x >= double(s.lo) && x < double(s.hi) + 1 && x == std::floor(x)) return std::int64_t(x);
        throw unfit(no_integer(s, x));
    }

    static std::string no_integer(const sent& s, double x) {
        return std::string("input \"") + network.input[s.input].name + "\": " + std::to_string(x) + " is no integer from " + std::to_string(s.lo) +
               " to " + std::to_string(s.hi);
    }

    static std::size_t words(const stream& s, std::size_t steps) { return s.words * s.bytes * steps; }

    // lengths_of returns the steps of every sample, or 1 if samples have no steps.
    static std::vector<std::size_t> lengths_of(const std::vector<std::vector<double>>& x, const std::vector<std::size_t>& steps) {
        if (x.size() != network.inputs) throw unfit(std::to_string(x.size()) + " arrays for " + std::to_string(network.inputs) + " inputs");
        if (network.longest == 0 && !steps.empty()) throw unfit("lengths are given, but all sequences of the model have one length");
        std::vector<std::size_t> lengths = steps;
        if (network.longest == 0) lengths.assign(network.input[0].elements == 0 ? 0 : x[0].size() / network.input[0].elements, 1);
        if (lengths.empty()) throw unfit("there is no sample");
        for (std::size_t k = 0; k < lengths.size(); k++)
            if (network.longest > 0 && (lengths[k] < network.shortest || lengths[k] > network.longest))
                throw unfit("sample " + std::to_string(k) + " has the length " + std::to_string(lengths[k]) + ", want " +
                            std::to_string(network.shortest) + " to " + std::to_string(network.longest));
        for (std::size_t k = 0; k < network.inputs; k++) {
            std::size_t want = 0;
            for (std::size_t n : lengths) want += network.input[k].elements * (network.input[k].time ? n : 1);
            if (x[k].size() != want)
                throw unfit(std::string("input \"") + network.input[k].name + "\" has " + std::to_string(x[k].size()) + " elements, want " +
                            std::to_string(network.input[k].elements) + (network.input[k].time ? " a step" : " a sample"));
            for (std::size_t i = 0; i < x[k].size(); i++)
                if (!std::isfinite(x[k][i])) throw unfit(std::string("input \"") + network.input[k].name + "\", element " + std::to_string(i) + " is no number");
        }
        return lengths;
    }

    // place returns the index of element `rest` of a step in a sequence of n steps.
    static std::size_t place(const tensor& t, std::size_t step, std::size_t rest, std::size_t n) {
        return t.time ? (rest / t.inner * n + step) * t.inner + rest % t.inner : rest;
    }

    static std::int64_t code_of(const sent& s, std::size_t i, double x) {
        const std::size_t which = s.which == nullptr ? 0 : std::size_t(s.which[i]);
        if (s.quantisers == nullptr) return s.values == nullptr ? whole(s, x) : nearest(s, which, x);
        const quantiser& q = s.quantisers[which];
        return q.codes[std::upper_bound(q.thresholds, q.thresholds + q.steps, x) - q.thresholds];
    }

    // nearest returns the integer of a channel for the number x.
    static std::int64_t nearest(const sent& s, std::size_t channel, double x) {
        const std::size_t n = std::size_t(s.hi - s.lo + 1);
        const double* const values = s.values + channel * n; // in ascending order
        std::size_t at = std::min(std::size_t(std::lower_bound(values, values + n, x) - values), n - 1);
        if (at > 0 && x - values[at - 1] < values[at] - x) at--;
        if (std::fabs(values[at] - x) <= (s.within == nullptr ? 0 : s.within[channel])) return s.lo + std::int64_t(at);
        throw unfit(no_integer(s, x) + ", scaled");
    }

    // send encodes samples, which begin at `at` in x, as frames. It returns the place of the next sample.
    static std::size_t send(const sent& s, const std::vector<double>& x, bool integers, std::size_t at, const std::vector<std::size_t>& lengths, frames& into) {
        const tensor& t = network.input[s.input];
        const std::size_t elements = s.stream.words * s.stream.per_word;
        for (std::size_t n : lengths) {
            const std::size_t steps = t.time ? n : 1;
            const std::size_t begin = into.data.size();
            into.size.push_back(words(s.stream, steps));
            into.data.resize(begin + into.size.back(), 0);
            for (std::size_t step = 0; step < steps; step++)
                for (std::size_t i = 0; i < elements; i++) {
                    const double v = x[at + place(t, step, std::size_t(s.index[i]), n)];
                    const std::int64_t code = integers ? whole(s, v) : code_of(s, i, v);
                    std::uint8_t* word = into.data.data() + begin + (step * s.stream.words + i / s.stream.per_word) * s.stream.bytes;
                    put(word, i % s.stream.per_word * s.stream.bits, s.stream.bits, encode(s.stream, code));
                }
            at += t.elements * steps;
        }
        return at;
    }

    // mean returns the number for a code, which frame f of a stream has.
    static double mean(const meaning& m, std::int64_t code, bool single, const char* port, std::size_t f) {
        if (code < m.lo || code > m.hi)
            throw device_error(stream_named(port) + ", frame " + std::to_string(f) + ": the device gave the code " + std::to_string(code) + ", want " +
                               std::to_string(m.lo) + " to " + std::to_string(m.hi));
        if (m.values != nullptr) return m.values[code - m.lo];
        for (std::size_t k = 0; k < m.exceptions; k++)
            if (m.codes[k] == code) return m.means[k];
        const double v = double(code) * m.scale + m.bias; // a fused result is the same for every code
        return single ? double(float(v)) : v;
    }

    // mean_at returns the number of an element of a step, with meaning m, in frames that begin
    // at from; the index counts as in result::index.
    static double mean_at(const meaning& m, const result& r, std::size_t element, std::size_t step, std::size_t f, const std::vector<const std::uint8_t*>& from) {
        for (std::size_t k = 0;; k++) {
            const stream& s = network.receives[k].stream;
            if (network.receives[k].time != r.time) continue;
            if (element >= s.words * s.per_word) {
                element -= s.words * s.per_word;
                continue;
            }
            const std::uint8_t* word = from[k] + (step * s.words + element / s.per_word) * s.bytes;
            return mean(m, decode(s, get(word, element % s.per_word * s.bits, s.bits)), r.single, s.port, f);
        }
    }

    static void take(const result& r, const std::vector<std::size_t>& lengths, const std::vector<frames>& from, std::vector<double>& y) {
        std::size_t begin = 0;
        std::vector<const std::uint8_t*> at; // by stream
        for (const frames& stream : from) at.push_back(stream.data.data());
        for (std::size_t f = 0; f < lengths.size(); f++) {
            const std::size_t n = lengths[f], steps = r.time ? n : 1;
            y.resize(begin + r.of.elements * steps);
            for (std::size_t step = 0; step < steps; step++)
                for (std::size_t i = 0; i < r.of.elements; i++)
                    y[begin + place(r.of, step, i, n)] = mean_at(r.mean[r.which == nullptr ? 0 : r.which[i]], r, std::size_t(r.index[i]), step, f, at);
            begin += r.of.elements * steps;
            for (std::size_t k = 0; k < at.size(); k++) at[k] += from[k].size[f];
        }
    }
};

} // namespace hlsgen

#endif
