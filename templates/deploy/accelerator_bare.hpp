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
        if (readers.size() != network.streams_in || writers.size() != network.streams_out) throw unfit("there is a mover for every stream");
    }

    std::string hash() override {
        char text[17];
        std::snprintf(text, sizeof text, "%08x%08x", unsigned(BUS::read(readers[0] + 0x38)), unsigned(BUS::read(readers[0] + 0x34)));
        return text;
    }

    void start(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        for (std::size_t k = 0; k < writers.size(); k++) idle(writers[k], network.receives[k].stream);
        for (std::size_t k = 0; k < readers.size(); k++) idle(readers[k], network.sends[k].stream);
        for (auto& w : constant) idle(w.first, of_weights);
        for (auto& w : constant) go(w.first, w.second.data, 0, in[0].size() * w.second.passes);
        coming = out;
        pieces.assign(out.size() + in.size(), piece());
        for (std::size_t k = 0; k < out.size(); k++) {
            frames list;
            for (std::size_t size : out[k]) list.emplace_back(size);
            start(writers[k], network.receives[k].stream, list, pieces[k]);
        }
        for (std::size_t k = 0; k < in.size(); k++) start(readers[k], network.sends[k].stream, in[k], pieces[out.size() + k]);
    }

    std::vector<frames> wait() override {
        for (std::size_t k = 0; k < writers.size(); k++) end(writers[k], network.receives[k].stream);
        for (std::size_t k = 0; k < readers.size(); k++) end(readers[k], network.sends[k].stream);
        for (auto& w : constant) end(w.first, of_weights);
        std::vector<frames> came(coming.size());
        for (std::size_t k = 0; k < coming.size(); k++) {
            const std::uint8_t* at = pieces[k].data.at();
            BUS::invalidate(pieces[k].data.at(), pieces[k].size);
            for (std::size_t size : coming[k]) came[k].emplace_back(at, at + size), at += size;
        }
        return came;
    }

    // load fills the accelerator's tables with the mover of weights, whose registers are at address loader. A function
    // for hlsgen::stream_weights calls it.
    void load(std::uintptr_t loader, const std::uint32_t* words, std::size_t count) {
        const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(words);
        piece p;
        start(loader, of_weights, {bytes(from, from + 4 * count)}, p);
        end(loader, of_weights);
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
        void take(std::size_t size) { bytes_of.assign((size + 2 * line - 1) / line * line, 0); }
        std::uint8_t* at() { return bytes_of.data() + (line - std::uintptr_t(bytes_of.data()) % line) % line; }

    private:
        bytes bytes_of;
    };

    struct piece {
        room data, table;
        std::size_t size = 0;
    };

    struct feed {
        room data;
        std::size_t passes = 0;
    };

    const stream of_weights{"of weights", kinds::natural, 32, 1, 4, 1};
    std::map<std::uintptr_t, feed> constant; // by mover: weights that it reads with every frame
    std::vector<piece> pieces; // transfers of the running batch, those of writing movers first
    std::vector<sizes> coming;

    static void put(std::uintptr_t at, std::uint64_t value) {
        BUS::write(at, std::uint32_t(value));
        BUS::write(at + 4, std::uint32_t(value >> 32));
    }

    void start(std::uintptr_t mover, const stream& s, const frames& list, piece& p) {
        bool alike = true;
        for (const bytes& f : list) p.size += f.size(), alike = alike && f.size() == s.words * s.bytes;
        p.data.take(p.size);
        std::uint8_t* at = p.data.at();
        for (const bytes& f : list) at = std::copy(f.begin(), f.end(), at);
        BUS::flush(p.data.at(), p.size);
        std::uint64_t table = 0;
        if (!alike) {
            p.table.take(list.size() * sizeof(std::uint32_t));
            for (std::size_t f = 0; f < list.size(); f++) {
                const std::uint32_t steps = std::uint32_t(list[f].size() / (s.words * s.bytes));
                std::memcpy(p.table.at() + f * sizeof steps, &steps, sizeof steps);
            }
            BUS::flush(p.table.at(), list.size() * sizeof(std::uint32_t));
            table = BUS::address(p.table.at());
        }
        go(mover, p.data, table, list.size());
    }

    static void go(std::uintptr_t mover, room& data, std::uint64_t table, std::size_t count) {
        if (std::uint64_t(count) >> 32) throw unfit("more frames at a time than a mover counts: take a smaller batch");
        put(mover + 0x10, BUS::address(data.at()));
        put(mover + 0x24, table);
        BUS::write(mover + 0x1c, std::uint32_t(count));
        BUS::write(mover, 1);
    }

    // idle reports whether a mover may be started. The read also clears the flag that the last transfer is done.
    static void idle(std::uintptr_t mover, const stream& s) {
        if ((BUS::read(mover) & 4) == 0) throw std::runtime_error(std::string("stream ") + s.port + " is busy with a batch before: reset the logic");
    }

    void end(std::uintptr_t mover, const stream& s) {
        for (long polls = 0; (BUS::read(mover) & 2) == 0; polls++)
            if (polls >= patience) throw std::runtime_error(std::string("stream ") + s.port + " is not through after " + std::to_string(patience) + " polls");
        const std::uint32_t error = BUS::read(mover + 0x30);
        if (error != 0) throw std::runtime_error(std::string("stream ") + s.port + " ended with error " + std::to_string(error));
    }
};

} // namespace hlsgen

#endif
