// A device on an Alveo card, or on any system with XRT. The movers are kernels of an xclbin.
//
//     g++ -std=c++17 -I/usr/include/xrt ... -lxrt_coreutil
//
//     xrt::device card(0);
//     hlsgen::xrt_device device(card, card.load_xclbin("net.xclbin"));
//     hlsgen::accelerator net(device);
#ifndef HLSGEN_ACCELERATOR_XRT_HPP
#define HLSGEN_ACCELERATOR_XRT_HPP

#include <chrono>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "accelerator.hpp"

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

namespace hlsgen {

// xrt_device waits at most `timeout` milliseconds for a batch, plus a second for each of its frames.
class xrt_device : public device {
public:
    xrt_device(const xrt::device& card, const xrt::uuid& loaded, std::chrono::milliseconds timeout = std::chrono::seconds(10))
        : on(card), at(loaded), patience(timeout) {
        for (std::size_t k = 0; k < network.streams_in; k++) readers.push_back(mover(loaded, "read_", network.sends[k].stream));
        for (std::size_t k = 0; k < network.streams_out; k++) writers.push_back(mover(loaded, "write_", network.receives[k].stream));
    }

    // hash returns the hash in the first mover's registers.
    std::string hash() override {
        char text[17];
        std::snprintf(text, sizeof text, "%08x%08x", unsigned(readers[0].read_register(0x38)), unsigned(readers[0].read_register(0x34)));
        return text;
    }

    void start(const std::vector<frames>& in, const std::vector<sizes>& out) override {
        coming = out;
        parts.clear();
        for (auto& w : constant) w.second.go(in[0].size());
        for (std::size_t k = 0; k < out.size(); k++) {
            frames list;
            for (std::size_t size : out[k]) list.emplace_back(size);
            parts.push_back(start(writers[k], network.receives[k].stream, list, false));
        }
        for (std::size_t k = 0; k < in.size(); k++) parts.push_back(start(readers[k], network.sends[k].stream, in[k], true));
    }

    std::vector<frames> wait() override {
        for (std::size_t k = 0; k < parts.size(); k++) {
            const bool writes = k < writers.size();
            const std::size_t of = writes ? k : k - writers.size();
            end(parts[k], writes ? writers[of] : readers[of], writes ? network.receives[of].stream : network.sends[of].stream);
        }
        for (auto& w : constant) end(w.second.sent, w.second.mover, stream{w.first.c_str(), kinds::natural, 8, 1, 1, 1});
        std::vector<frames> came(coming.size());
        for (std::size_t k = 0; k < coming.size(); k++) {
            parts[k].data.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
            const std::uint8_t* from = parts[k].data.map<std::uint8_t*>();
            for (std::size_t size : coming[k]) came[k].emplace_back(from, from + size), from += size;
        }
        return came;
    }

    // load fills the accelerator's tables with the mover of weights, if there is one. A function for
    // hlsgen::stream_weights calls it.
    void load(const std::string& port, const std::uint32_t* words, std::size_t count) {
        const stream s{port.c_str(), kinds::natural, 32, 1, 4, 1};
        const std::uint8_t* from = reinterpret_cast<const std::uint8_t*>(words);
        xrt::kernel loader = mover(at, "read_", s);
        sending p = start(loader, s, {bytes(from, from + 4 * count)}, true);
        end(p, loader, s);
    }

    // weights makes the mover of a layer's weights read these bytes with every frame from now on. A function for
    // hlsgen::give_weights calls it.
    void weights(const std::string& port, const std::uint8_t* data, std::size_t size, std::size_t passes) {
        auto at_port = constant.find(port);
        if (at_port == constant.end()) {
            const stream s{port.c_str(), kinds::natural, 8, 1, 1, 1};
            at_port = constant.emplace(port, feed{mover(at, "read_", s), {}, 0}).first;
        }
        feed& w = at_port->second;
        w.sent.data = xrt::bo(on, size, w.mover.group_id(0));
        std::copy(data, data + size, w.sent.data.map<std::uint8_t*>());
        w.sent.data.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        w.passes = passes;
    }

private:
    xrt::device on;
    xrt::uuid at;
    std::vector<xrt::kernel> readers, writers;
    std::chrono::milliseconds patience;

    struct sending {
        xrt::bo data, table;
        xrt::run run;
        std::size_t frames = 0;
    };

    struct feed {
        xrt::kernel mover;
        sending sent;
        std::size_t passes;

        void go(std::size_t frames) {
            if (std::uint64_t(frames * passes) >> 32) throw unfit("more frames at a time than a mover counts: take a smaller batch");
            sent.frames = frames;
            sent.run = xrt::run(mover);
            sent.run.set_arg(0, sent.data);
            sent.run.set_arg(1, unsigned(frames * passes));
            sent.run.set_arg(2, std::uint64_t(0));
            sent.run.start();
        }
    };

    std::map<std::string, feed> constant; // by port: weights that are read with every frame
    std::vector<sending> parts; // transfers of the running batch, those of writing movers first
    std::vector<sizes> coming;

    // end waits for a kernel's interrupt with XRT.
    void end(sending& p, xrt::kernel& mover, const stream& s) {
        const std::chrono::milliseconds longest = patience + std::chrono::seconds(p.frames);
        if (const auto state = p.run.wait(longest); state != ERT_CMD_STATE_COMPLETED)
            throw std::runtime_error(std::string("stream ") + s.port + " is not through after " + std::to_string(longest.count()) + " ms: state " +
                                     std::to_string(int(state)));
        if (const unsigned error = mover.read_register(0x30)) throw std::runtime_error(std::string("stream ") + s.port + " ended with error " + std::to_string(error));
    }

    // mover opens its kernel exclusively, because registers are read.
    xrt::kernel mover(const xrt::uuid& loaded, const std::string& kind, const stream& s) {
        const std::string name = kind + s.port;
        return xrt::kernel(on, loaded, "hlsgen_" + name + ":{" + name + "}", xrt::kernel::cu_access_mode::exclusive);
    }

    sending start(xrt::kernel& mover, const stream& s, const frames& list, bool sends) {
        std::size_t size = 0;
        bool alike = true;
        for (const bytes& f : list) size += f.size(), alike = alike && f.size() == s.words * s.bytes;
        sending p;
        p.frames = list.size();
        p.data = xrt::bo(on, std::max<std::size_t>(size, 1), mover.group_id(0));
        if (sends) {
            std::uint8_t* at = p.data.map<std::uint8_t*>();
            for (const bytes& f : list) at = std::copy(f.begin(), f.end(), at);
            p.data.sync(XCL_BO_SYNC_BO_TO_DEVICE);
        }
        p.run = xrt::run(mover);
        p.run.set_arg(0, p.data);
        p.run.set_arg(1, unsigned(list.size()));
        if (!alike) {
            p.table = xrt::bo(on, (list.size() + 15) / 16 * 16 * sizeof(std::uint32_t), mover.group_id(2));
            std::uint32_t* steps = p.table.map<std::uint32_t*>();
            for (const bytes& f : list) *steps++ = std::uint32_t(f.size() / (s.words * s.bytes));
            p.table.sync(XCL_BO_SYNC_BO_TO_DEVICE);
            p.run.set_arg(2, p.table);
        } else {
            p.run.set_arg(2, std::uint64_t(0));
        }
        p.run.start();
        return p;
    }
};

} // namespace hlsgen

#endif
