// A device without an operating system. The program supplies the addresses of the movers' registers, and the class
// bus, which accesses registers and flushes caches.
//
//     struct bus { // addresses as the logic sees them
//         static std::uint32_t read(std::uintptr_t at) { return *reinterpret_cast<volatile std::uint32_t*>(at); }
//         static void write(std::uintptr_t at, std::uint32_t value) { *reinterpret_cast<volatile std::uint32_t*>(at) = value; }
//         static void flush(const void* at, std::size_t size) { Xil_DCacheFlushRange(std::intptr_t(at), size); }
//         static void invalidate(void* at, std::size_t size) { Xil_DCacheInvalidateRange(std::intptr_t(at), size); }
//         static std::uint64_t address(const void* at) { return std::uintptr_t(at); }
//     };
//     hlsgen::bare_device<bus> device({0xa0000000}, {0xa0010000}); // per stream in, per stream out
//     hlsgen::accelerator net(device);
#ifndef HLSGEN_ACCELERATOR_BARE_HPP
#define HLSGEN_ACCELERATOR_BARE_HPP

#include <cstdio>
#include <map>

#include "accelerator.hpp"

namespace hlsgen {

template <class BUS> class bare_device : public device {
public:
    bare_device(std::vector<std::uintptr_t> read_movers, std::vector<std::uintptr_t> write_movers, long polls = 1000000000L)
        : readers(std::move(read_movers)), writers(std::move(write_movers)), patience(polls) {
        if (readers.size() != network.streams_in || writers.size() != network.streams_out)
            throw unfit(std::to_string(readers.size()) + " movers that read and " + std::to_string(writers.size()) + " that write, want " +
                        std::to_string(network.streams_in) + " and " + std::to_string(network.streams_out) + ": one for every stream");
    }

    std::string hash() override {
        char text[17];
        std::snprintf(text, sizeof text, "%08x%08x", unsigned(BUS::read(readers[0] + registers::hash + 4)), unsigned(BUS::read(readers[0] + registers::hash)));
        return text;
    }

    // prepare throws a device_error if the movers are busy with a batch before.
    void prepare(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        const std::size_t count = count_frames(in, out);
        for (std::size_t k = 0; k < writers.size(); k++) want_idle(writers[k], network.receives[k].stream.port);
        for (std::size_t k = 0; k < readers.size(); k++) want_idle(readers[k], network.sends[k].stream.port);
        for (auto& w : constant) {
            want_idle(w.first, of_weights.port);
            w.second.count = counted(of_weights.port, count * w.second.passes);
        }
        batch.resize(out.size() + in.size());
        for (std::size_t k = 0; k < out.size(); k++) batch[k].make(writers[k], network.receives[k].stream, out[k], nullptr);
        for (std::size_t k = 0; k < in.size(); k++) batch[out.size() + k].make(readers[k], network.sends[k].stream, in[k].size, &in[k].data);
        came.resize(out.size());
        for (std::size_t k = 0; k < out.size(); k++) came[k].size = out[k];
    }

    void begin() override {
        for (auto& w : constant) go(w.first, w.second.data, 0, w.second.count);
        for (transfer& t : batch) go(t);
    }

    // finish waits for the batch. After an error, the memory of a mover that hangs is kept, because the hardware may
    // still use it; the other memory is free.
    void finish() override {
        std::string failed;
        long left = patience;
        for (transfer& t : batch) {
            std::string why = end(t.mover, t.port, frames_of(t.count, t.size), left);
            if (failed.empty()) failed = std::move(why);
        }
        for (const auto& w : constant) {
            std::string why = end(w.first, of_weights.port, "weights", left);
            if (failed.empty()) failed = std::move(why);
        }
        if (failed.empty()) return;
        for (transfer& t : batch)
            if (idle(t.mover)) t.data = t.table = room();
        throw device_error(failed);
    }

    const std::vector<frames>& received() override {
        for (std::size_t k = 0; k < came.size(); k++) {
            const std::uint8_t* at = batch[k].data.at();
            BUS::invalidate(batch[k].data.at(), batch[k].size);
            came[k].data.assign(at, at + batch[k].size);
        }
        return came;
    }

    // load fills the accelerator's tables with the mover of weights, whose registers are at address loader. A function
    // for hlsgen::stream_weights calls it.
    void load(std::uintptr_t loader, const std::uint32_t* words, std::size_t count) {
        const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(words);
        const bytes data(from, from + 4 * count);
        want_idle(loader, of_weights.port);
        loading.make(loader, of_weights, {data.size()}, &data);
        go(loading);
        long left = patience;
        const std::string failed = end(loader, of_weights.port, "weights of " + std::to_string(4 * count) + " bytes", left);
        if (idle(loader)) loading = transfer(); // one that hangs still reads
        if (!failed.empty()) throw device_error(failed);
    }

    // weights makes the mover of a layer's weights read these bytes with every frame from now on. The mover's
    // registers are at address mover. A function for hlsgen::give_weights calls it.
    void weights(std::uintptr_t mover, const std::uint8_t* data, std::size_t size, std::size_t passes) {
        feed& w = constant[mover];
        w.data.take(size);
        std::copy(data, data + size, w.data.at());
        BUS::flush(w.data.at(), size);
        w.passes = passes;
    }

private:
    std::vector<std::uintptr_t> readers, writers;
    long patience;

    // room is memory that begins and ends at cache lines. Other data in these lines would be lost when the cache is
    // invalidated.
    class room {
    public:
        static constexpr std::size_t line = 64;
        void take(std::size_t size) { bytes_of.resize(std::max(bytes_of.size(), (size + 2 * line - 1) / line * line)); }
        std::uint8_t* at() { return bytes_of.data() + (line - std::uintptr_t(bytes_of.data()) % line) % line; }

    private:
        bytes bytes_of;
    };

    // transfer is what a mover does for a batch: frames of its stream, and their memory, which serves all batches.
    struct transfer {
        std::uintptr_t mover = 0;
        const char* port = nullptr;
        std::size_t count = 0, size = 0;
        room data, table;
        bool alike = true;

        // make has the memory hold given, or has room for frames of the given sizes.
        void make(std::uintptr_t by, const stream& s, const sizes& list, const bytes* given) {
            mover = by, port = s.port, count = counted(s.port, list.size()), size = sum(list), alike = true;
            for (std::size_t n : list) alike = alike && n == s.words * s.bytes;
            data.take(size);
            if (given != nullptr) std::copy(given->begin(), given->end(), data.at());
            BUS::flush(data.at(), size);
            if (alike) return;
            table.take(list.size() * sizeof(std::uint32_t));
            std::uint8_t* at = table.at();
            for (std::size_t n : list) {
                const std::uint32_t steps = std::uint32_t(n / (s.words * s.bytes));
                std::memcpy(at, &steps, sizeof steps);
                at += sizeof steps;
            }
            BUS::flush(table.at(), list.size() * sizeof(std::uint32_t));
        }
    };

    struct feed {
        room data;
        std::size_t passes = 0;
        std::uint32_t count = 0; // of the batch
    };

    const stream of_weights{"of weights", kinds::natural, 32, 1, 4, 1};
    std::map<std::uintptr_t, feed> constant; // by mover: weights that it reads with every frame
    std::vector<transfer> batch; // those of writing movers first
    transfer loading;            // of weights
    std::vector<frames> came;

    static void put(std::uintptr_t at, std::uint64_t value) {
        BUS::write(at, std::uint32_t(value));
        BUS::write(at + 4, std::uint32_t(value >> 32));
    }

    static void go(transfer& t) { go(t.mover, t.data, t.alike ? 0 : BUS::address(t.table.at()), std::uint32_t(t.count)); }

    static void go(std::uintptr_t mover, room& data, std::uint64_t table, std::uint32_t count) {
        put(mover + registers::address, BUS::address(data.at()));
        put(mover + registers::table, table);
        BUS::write(mover + registers::frames, count);
        BUS::write(mover + registers::control, 1);
    }

    // idle reports whether a mover may be started. The read also clears the flag that the last transfer is done.
    static bool idle(std::uintptr_t mover) { return (BUS::read(mover + registers::control) & 4) != 0; }

    static void want_idle(std::uintptr_t mover, const char* port) {
        if (!idle(mover)) throw device_error(stream_named(port) + " is busy with a batch before: reset the logic");
    }

    // end waits until a mover is done, for at most so many polls. It returns an error, or nothing.
    std::string end(std::uintptr_t mover, const char* port, const std::string& what, long& left) {
        while ((BUS::read(mover + registers::control) & 2) == 0)
            if (left-- <= 0) return stream_named(port) + " is not through after " + std::to_string(patience) + " polls: " + what;
        const std::uint32_t error = BUS::read(mover + registers::error);
        return error == 0 ? "" : error_named(port, error, what);
    }
};

} // namespace hlsgen

#endif
