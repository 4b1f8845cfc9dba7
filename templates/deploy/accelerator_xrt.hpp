// A device on an Alveo card, or on any system with XRT. The movers are kernels of an xclbin.
//
//     g++ -std=c++17 -I/usr/include/xrt ... -lxrt_coreutil
//
//     xrt::device card(0);
//     hlsgen::xrt_device device(card, card.load_xclbin("net.xclbin"));
//     hlsgen::accelerator net(device);
#ifndef HLSGEN_ACCELERATOR_XRT_HPP
#define HLSGEN_ACCELERATOR_XRT_HPP

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "accelerator.hpp"

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

#if __has_include(<xrt/xrt_hw_context.h>)
#include <xrt/xrt_hw_context.h>
#if __has_include(<experimental/xrt_ip.h>)
#include <experimental/xrt_ip.h>
#include <experimental/xrt_xclbin.h>
#else
#include <xrt/experimental/xrt_ip.h>
#include <xrt/experimental/xrt_xclbin.h>
#endif
#define HLSGEN_HW_CONTEXT
#endif

namespace hlsgen {

using moment = std::chrono::steady_clock::time_point;

// xrt_mover is a mover of a card, which nobody else may use. Newer versions of XRT read the registers of an xrt::ip
// only, and older versions know no hw_context.
#ifdef HLSGEN_HW_CONTEXT
class xrt_mover {
public:
    using context = xrt::hw_context;

    static context opened(const xrt::device& card, const xrt::uuid& loaded) { return context(card, loaded, context::access_mode::exclusive); }

    xrt_mover(const xrt::device& card, const context& on, const std::string& name) : unit(on, "hlsgen_" + name + ":{" + name + "}") {
        const xrt::xclbin::ip described = on.get_xclbin().get_ip("hlsgen_" + name + ":" + name);
        for (const int argument : {0, 2}) {
            const auto memories = described.get_arg(argument).get_mems();
            if (memories.empty()) throw unfit("the xclbin has no memory for " + name);
            banks[argument / 2] = xrt::memory_group(memories[0].get_index());
        }
        of = card;
    }

    // memory returns a buffer that the mover reads or writes, or its table.
    xrt::bo memory(std::size_t size, bool table = false) const { return xrt::bo(of, size, banks[table]); }

    void go(const xrt::bo& data, const xrt::bo* table, std::uint32_t count) {
        put(registers::address, data.address());
        put(registers::table, table == nullptr ? 0 : table->address());
        unit.write_register(registers::frames, count);
        unit.write_register(registers::control, 1);
    }

    bool idle() const { return (unit.read_register(registers::control) & 4) != 0; }

    // waited returns nothing if the transfer ends in time, and else the reason.
    std::string waited(moment end, const std::string& longest) {
        for (std::chrono::microseconds nap(10); (unit.read_register(registers::control) & 2) == 0; nap = std::min(2 * nap, std::chrono::microseconds(1000))) {
            if (std::chrono::steady_clock::now() >= end) return " is not through after " + longest;
            std::this_thread::sleep_for(nap);
        }
        return "";
    }

    std::uint32_t read(unsigned at) const { return unit.read_register(at); }

private:
    xrt::ip unit;
    xrt::device of;
    xrt::memory_group banks[2] = {};

    void put(unsigned at, std::uint64_t value) {
        unit.write_register(at, std::uint32_t(value));
        unit.write_register(at + 4, std::uint32_t(value >> 32));
    }
};
#else
class xrt_mover {
public:
    using context = xrt::uuid;

    static context opened(const xrt::device&, const xrt::uuid& loaded) { return loaded; }

    xrt_mover(const xrt::device& card, const context& on, const std::string& name)
        : unit(card, on, "hlsgen_" + name + ":{" + name + "}", xrt::kernel::cu_access_mode::exclusive), of(card) {}

    xrt::bo memory(std::size_t size, bool table = false) const { return xrt::bo(of, size, unit.group_id(table ? 2 : 0)); }

    void go(const xrt::bo& data, const xrt::bo* table, std::uint32_t count) {
        run = xrt::run(unit);
        run.set_arg(0, data);
        run.set_arg(1, count);
        if (table != nullptr) run.set_arg(2, *table);
        else run.set_arg(2, std::uint64_t(0));
        run.start();
    }

    bool idle() const {
        if (!run) return true;
        const auto state = run.state();
        return state == ERT_CMD_STATE_COMPLETED || state == ERT_CMD_STATE_ERROR || state == ERT_CMD_STATE_ABORT;
    }

    // waited waits for the kernel's interrupt with XRT, where 0 means forever.
    std::string waited(moment end, const std::string& longest) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        const auto state = run.wait(std::max(left, std::chrono::milliseconds(1)));
        if (state == ERT_CMD_STATE_COMPLETED) return "";
        return idle() ? " ended in state " + std::to_string(int(state)) + " of XRT" : " is not through after " + longest;
    }

    std::uint32_t read(unsigned at) const { return unit.read_register(at); }

private:
    xrt::kernel unit;
    xrt::device of;
    xrt::run run;
};
#endif

// xrt_device waits at most `timeout` milliseconds for a batch, plus a second for each of its frames.
class xrt_device : public device {
public:
    xrt_device(const xrt::device& card, const xrt::uuid& loaded, std::chrono::milliseconds timeout = std::chrono::seconds(10))
        : on(card), at(xrt_mover::opened(card, loaded)), patience(timeout) {
        for (std::size_t k = 0; k < network.streams_in; k++) readers.push_back(mover(network.sends[k].stream.port, "read_"));
        for (std::size_t k = 0; k < network.streams_out; k++) writers.push_back(mover(network.receives[k].stream.port, "write_"));
    }

    // hash returns the hash in the first mover's registers.
    std::string hash() override {
        char text[17];
        std::snprintf(text, sizeof text, "%08x%08x", unsigned(readers[0].read(registers::hash + 4)), unsigned(readers[0].read(registers::hash)));
        return text;
    }

    // start throws a device_error if the movers are busy with a batch before.
    void start(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        const std::size_t count = count_frames(in, out);
        for (const transfer& t : running)
            if (!t.by->idle()) throw device_error("stream " + t.port + " is busy with a batch before: load the xclbin again");
        running.clear();
        std::vector<transfer> batch;
        for (std::size_t k = 0; k < out.size(); k++) batch.push_back(prepared(writers[k], network.receives[k].stream, out[k]));
        for (std::size_t k = 0; k < in.size(); k++) batch.push_back(prepared(readers[k], network.sends[k].stream, in[k]));
        for (auto& w : constant)
            batch.push_back({&w.second.by, w.first, w.second.data, xrt::bo(), false, counted(w.first.c_str(), count * w.second.passes), w.second.size});
        coming = out;
        running = std::move(batch);
        for (transfer& t : running) go(t);
    }

    // wait returns what came. The memory of a transfer that has ended is free. That of a mover that hangs is kept,
    // because the hardware may still use it.
    std::vector<frames> wait() override {
        std::vector<transfer> batch = std::move(running);
        running.clear();
        std::string failed;
        const std::chrono::milliseconds longest = patience + std::chrono::seconds(coming[0].size());
        const moment until = std::chrono::steady_clock::now() + longest;
        for (transfer& t : batch) {
            std::string why = end(t, until, longest, frames_of(t.count, t.size));
            if (failed.empty()) failed = std::move(why);
        }
        if (!failed.empty()) {
            for (transfer& t : batch)
                if (!t.by->idle()) running.push_back(std::move(t));
            throw device_error(failed);
        }
        std::vector<frames> came(coming.size());
        for (std::size_t k = 0; k < coming.size(); k++) {
            batch[k].data.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
            const std::uint8_t* from = batch[k].data.map<std::uint8_t*>();
            for (std::size_t size : coming[k]) came[k].emplace_back(from, from + size), from += size;
        }
        return came;
    }

    // load fills the accelerator's tables with the mover of weights, if there is one. A function for
    // hlsgen::stream_weights calls it.
    void load(const std::string& port, const std::uint32_t* words, std::size_t count) {
        auto by = loaders.find(port);
        if (by == loaders.end()) by = loaders.emplace(port, loader{mover(port, "read_"), {}}).first;
        const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(words);
        transfer t = prepared(by->second.by, stream{port.c_str(), kinds::natural, 32, 1, 4, 1}, frames{bytes(from, from + 4 * count)});
        go(t);
        by->second.hanging.clear();
        const std::string failed = end(t, std::chrono::steady_clock::now() + patience, patience, "weights of " + std::to_string(4 * count) + " bytes");
        if (failed.empty()) return;
        if (!t.by->idle()) by->second.hanging.push_back(std::move(t));
        throw device_error(failed);
    }

    // weights makes the mover of a layer's weights read these bytes with every frame from now on. A function for
    // hlsgen::give_weights calls it.
    void weights(const std::string& port, const std::uint8_t* data, std::size_t size, std::size_t passes) {
        auto at_port = constant.find(port);
        if (at_port == constant.end()) at_port = constant.emplace(port, feed{mover(port, "read_"), {}, 0, 0}).first;
        feed& w = at_port->second;
        w.data = w.by.memory(size);
        std::copy(data, data + size, w.data.map<std::uint8_t*>());
        w.data.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        w.size = size;
        w.passes = passes;
    }

private:
    xrt::device on;
    xrt_mover::context at;
    std::vector<xrt_mover> readers, writers;
    std::chrono::milliseconds patience;

    // transfer is what a mover does for a batch: frames of its stream, and their memory.
    struct transfer {
        xrt_mover* by;
        std::string port;
        xrt::bo data, table;
        bool tabled;
        std::size_t count, size;
    };

    struct feed {
        xrt_mover by;
        xrt::bo data;
        std::size_t size, passes;
    };

    struct loader {
        xrt_mover by;
        std::vector<transfer> hanging; // one that did not end
    };

    std::map<std::string, feed> constant; // by port: weights that are read with every frame
    std::map<std::string, loader> loaders;
    std::vector<transfer> running; // those of writing movers first; after an error, those that did not end
    std::vector<sizes> coming;

    xrt_mover mover(const std::string& port, const std::string& kind) { return xrt_mover(on, at, kind + port); }

    static std::size_t size_of(const bytes& frame) { return frame.size(); }
    static std::size_t size_of(std::size_t size) { return size; }
    static std::uint8_t* fill(const bytes& frame, std::uint8_t* at) { return std::copy(frame.begin(), frame.end(), at); }
    static std::uint8_t* fill(std::size_t size, std::uint8_t* at) { return at + size; }

    // prepared returns a transfer whose memory holds frames, or has room for frames of such sizes.
    template <class FRAME> static transfer prepared(xrt_mover& by, const stream& s, const std::vector<FRAME>& list) {
        transfer t{&by, s.port, xrt::bo(), xrt::bo(), false, counted(s.port, list.size()), 0};
        for (const FRAME& f : list) t.size += size_of(f), t.tabled = t.tabled || size_of(f) != s.words * s.bytes;
        t.data = by.memory(std::max<std::size_t>(t.size, 1));
        if constexpr (std::is_same_v<FRAME, bytes>) {
            std::uint8_t* to = t.data.map<std::uint8_t*>();
            for (const FRAME& f : list) to = fill(f, to);
            t.data.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        }
        if (!t.tabled) return t;
        t.table = by.memory((list.size() + 15) / 16 * 16 * sizeof(std::uint32_t), true);
        std::uint32_t* steps = t.table.map<std::uint32_t*>();
        for (const FRAME& f : list) *steps++ = std::uint32_t(size_of(f) / (s.words * s.bytes));
        t.table.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        return t;
    }

    static void go(transfer& t) { t.by->go(t.data, t.tabled ? &t.table : nullptr, std::uint32_t(t.count)); }

    // end waits for a transfer. It returns an error, or nothing.
    static std::string end(transfer& t, moment until, std::chrono::milliseconds longest, const std::string& what) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g s", std::chrono::duration<double>(longest).count());
        const std::string why = t.by->waited(until, seconds);
        if (!why.empty()) return "stream " + t.port + why + ": " + what;
        const std::uint32_t error = t.by->read(registers::error);
        return error == 0 ? "" : error_named(t.port.c_str(), error, what);
    }
};

} // namespace hlsgen

#endif
