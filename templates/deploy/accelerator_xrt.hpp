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
#include <optional>
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
        try {
            wired.emplace(unit.create_interrupt_notify());
        } catch (const std::exception&) {
            wired.reset(); // XRT has none
        }
    }

    // memory returns a buffer that the mover reads or writes, or its table.
    xrt::bo memory(std::size_t size, bool table = false) const { return xrt::bo(of, size, banks[table]); }

    // forget drops what the last transfer has of buffers.
    void forget() {}

    void go(const xrt::bo& data, const xrt::bo* table, std::uint32_t count) {
        if (wired) {
            acknowledge();
            unit.write_register(registers::events, 1); // the mover is done
            unit.write_register(registers::enabled, 1);
        }
        put(registers::address, data.address());
        put(registers::table, table == nullptr ? 0 : table->address());
        unit.write_register(registers::frames, count);
        unit.write_register(registers::control, 1);
    }

    bool idle() const { return (unit.read_register(registers::control) & 4) != 0; }

    // waited returns nothing if the transfer ends in time, and else the reason. It waits for the mover's interrupt; one
    // that is lost costs a tenth of a second. Without interrupts it asks, and sleeps in between.
    std::string waited(moment end, const std::string& longest) {
        constexpr std::chrono::milliseconds least(1), most(100);
        for (std::chrono::microseconds nap(10); (unit.read_register(registers::control) & 2) == 0; nap = std::min(2 * nap, std::chrono::microseconds(1000))) {
            const moment now = std::chrono::steady_clock::now();
            if (now >= end) return " is not through after " + longest;
            if (wired) wired->wait(std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(end - now), least, most));
            else std::this_thread::sleep_for(nap);
        }
        if (wired) acknowledge();
        return "";
    }

    std::uint32_t read(unsigned at) const { return unit.read_register(at); }

private:
    xrt::ip unit;
    std::optional<xrt::ip::interrupt> wired; // where XRT has the mover's interrupt
    xrt::device of;
    xrt::memory_group banks[2] = {};

    void acknowledge() {
        if (const std::uint32_t happened = unit.read_register(registers::happened)) unit.write_register(registers::happened, happened);
    }

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

    void forget() { run = xrt::run(); }

    void go(const xrt::bo& data, const xrt::bo* table, std::uint32_t count) {
        if (!run) run = xrt::run(unit);
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

    // prepare throws a device_error if the movers are busy with a batch before.
    void prepare(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        const std::size_t count = count_frames(in, out);
        for (const transfer& t : batch)
            if (t.by != nullptr && !t.by->idle()) throw device_error("stream " + t.port + " is busy with a batch before: load the xclbin again");
        batch.resize(out.size() + in.size());
        for (std::size_t k = 0; k < out.size(); k++) batch[k].make(writers[k], network.receives[k].stream, out[k], nullptr);
        for (std::size_t k = 0; k < in.size(); k++) batch[out.size() + k].make(readers[k], network.sends[k].stream, in[k].size, in[k].data.data());
        for (auto& w : constant) {
            transfer t;
            t.by = &w.second.by, t.port = w.first, t.data = w.second.data, t.size = w.second.size;
            t.count = counted(w.first.c_str(), count * w.second.passes);
            batch.push_back(std::move(t));
        }
        came.resize(out.size());
        for (std::size_t k = 0; k < out.size(); k++) came[k].size = out[k];
    }

    void begin() override {
        for (transfer& t : batch) t.go();
    }

    // finish waits for the batch. After an error, the memory of a mover that hangs is kept, because the hardware may
    // still use it; the other memory is free.
    void finish() override {
        std::string failed;
        const std::chrono::milliseconds longest = patience + std::chrono::seconds(came[0].size.size());
        const moment until = std::chrono::steady_clock::now() + longest;
        for (transfer& t : batch) {
            std::string why = t.end(until, longest, frames_of(t.count, t.size));
            if (failed.empty()) failed = std::move(why);
        }
        if (failed.empty()) return;
        for (transfer& t : batch) t.release();
        throw device_error(failed);
    }

    const std::vector<frames>& received() override {
        for (std::size_t k = 0; k < came.size(); k++) {
            batch[k].data.sync(XCL_BO_SYNC_BO_FROM_DEVICE, batch[k].size, 0);
            const std::uint8_t* from = batch[k].data.map<std::uint8_t*>();
            came[k].data.assign(from, from + batch[k].size);
        }
        return came;
    }

    // load fills the accelerator's tables with the mover of weights, if there is one. A function for
    // hlsgen::stream_weights calls it.
    void load(const std::string& port, const std::uint32_t* words, std::size_t count) {
        auto by = loaders.find(port);
        if (by == loaders.end()) by = loaders.emplace(port, loader{mover(port, "read_"), {}}).first;
        transfer& t = by->second.last;
        if (!by->second.by.idle()) throw device_error("stream " + port + " is busy: load the xclbin again");
        t.make(by->second.by, stream{port.c_str(), kinds::natural, 32, 1, 4, 1}, {4 * count}, reinterpret_cast<const std::uint8_t*>(words));
        t.go();
        const std::string failed = t.end(std::chrono::steady_clock::now() + patience, patience, "weights of " + std::to_string(4 * count) + " bytes");
        t.release();
        if (!failed.empty()) throw device_error(failed);
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

    // transfer is what a mover does for a batch: frames of its stream, and their memory, which serves all batches.
    struct transfer {
        xrt_mover* by = nullptr;
        std::string port;
        xrt::bo data, table;
        bool tabled = false;
        std::size_t count = 0, size = 0, room = 0, lines = 0; // bytes of the memory

        // make has the memory hold given, or has room for frames of the given sizes.
        void make(xrt_mover& mover, const stream& s, const sizes& list, const std::uint8_t* given) {
            by = &mover, port = s.port, count = counted(s.port, list.size()), size = sum(list), tabled = false;
            for (std::size_t n : list) tabled = tabled || n != s.words * s.bytes;
            take(data, room, std::max<std::size_t>(size, 1), false);
            if (given != nullptr) {
                std::copy(given, given + size, data.map<std::uint8_t*>());
                data.sync(XCL_BO_SYNC_BO_TO_DEVICE, size, 0);
            }
            if (!tabled) return;
            const std::size_t bytes = (list.size() + 15) / 16 * 16 * sizeof(std::uint32_t); // it is read by 64
            take(table, lines, bytes, true);
            std::uint32_t* steps = table.map<std::uint32_t*>();
            for (std::size_t n : list) *steps++ = std::uint32_t(n / (s.words * s.bytes));
            table.sync(XCL_BO_SYNC_BO_TO_DEVICE, bytes, 0);
        }

        void take(xrt::bo& memory, std::size_t& has, std::size_t wants, bool steps) {
            if (has >= wants) return;
            memory = xrt::bo();
            by->forget();
            memory = by->memory(wants, steps);
            has = wants;
        }

        // release frees the memory, unless the mover still uses it.
        void release() {
            if (!by->idle()) return;
            by->forget();
            data = table = xrt::bo();
            room = lines = 0;
        }

        void go() { by->go(data, tabled ? &table : nullptr, std::uint32_t(count)); }

        // end waits for the transfer. It returns an error, or nothing.
        std::string end(moment until, std::chrono::milliseconds longest, const std::string& what) {
            char seconds[32];
            std::snprintf(seconds, sizeof seconds, "%g s", std::chrono::duration<double>(longest).count());
            const std::string why = by->waited(until, seconds);
            if (!why.empty()) return "stream " + port + why + ": " + what;
            const std::uint32_t error = by->read(registers::error);
            return error == 0 ? "" : error_named(port.c_str(), error, what);
        }
    };

    struct feed {
        xrt_mover by;
        xrt::bo data;
        std::size_t size, passes;
    };

    struct loader {
        xrt_mover by;
        transfer last;
    };

    std::map<std::string, feed> constant; // by port: weights that are read with every frame
    std::map<std::string, loader> loaders;
    std::vector<transfer> batch;              // those of writing movers first
    std::vector<frames> came;

    xrt_mover mover(const std::string& port, const std::string& kind) { return xrt_mover(on, at, kind + port); }
};

} // namespace hlsgen

#endif
