// The monitor looks at the pins of a mover once a clock and tells what is against the protocol of AXI4, or outside of
// what the transfer is about. It shares nothing with the model of the memory. What it tells:
//
//   stable AR, AW, W, T, B, R   what waits for READY went away or changed; T is the stream, B and R the registers'
//   size         beats are not as wide as the bus, not aligned, or the burst is not INCR
//   length       a burst has too many beats
//   4KB          a burst crosses a border
//   range        a burst leaves the data and the table
//   outstanding  too many bursts wait for their end
//   orphan       a beat is written before its address has been taken
//   wlast        WLAST is not at a burst's last beat
//   strobe       strobes are not the bytes of the data
//   response     a response comes without a burst, or the mover is done before the last one
//   rlast        RLAST is not at a burst's last beat, or there is no burst
#pragma once
#include "bench.hpp"

class monitor {
  public:
    monitor(const setup& s, const pins& p, faults& f) : s(s), p(p), f(f) {}

    // A transfer begins: these bytes, and lines of the table.
    void begin(range d, range t) { data = d, table = t; }

    // The host sees that it is done.
    void done() {
        if (open != 0) f.tell("response");
    }

    void sample() {
        registers();
        address();
        if (s.writes) {
            const uint64_t side = *p.strb ^ (*p.last ? 1ull << 63 : 0);
            watch(beat, "stable W", *p.dvalid, *p.dready, bytes_of(p.data), s.bytes, side);
        }
        if (*p.dvalid) s.writes ? written() : read();
        if (s.writes && *p.bvalid && *p.bready) answered();
        if (!s.writes) watch(stream, "stable T", *p.tvalid, *p.tready, bytes_of(p.tdata), s.stream, *p.tlast);
        if (*p.avalid && *p.aready) {
            bursts.push_back({*p.addr, *p.len + 1u});
            if (++open > s.outstanding) f.tell("outstanding");
        }
    }

  private:
    struct burst {
        uint64_t at;
        unsigned beats;
    };
    struct held {
        bool waits = false;
        uint64_t side = 0;
        uint8_t bytes[128] = {};
    };

    void watch(held& h, const char* name, bool valid, bool ready, const void* bytes, size_t n, uint64_t side) {
        if (h.waits && (!valid || side != h.side || std::memcmp(bytes, h.bytes, n) != 0)) f.tell(name);
        h.waits = valid && !ready;
        if (!h.waits) return;
        h.side = side;
        std::memcpy(h.bytes, bytes, n);
    }

    void registers() {
        watch(response, "stable B", *p.ctl_bvalid, *p.ctl_bready, p.ctl_bresp, 1, 0);
        watch(answer, "stable R", *p.ctl_rvalid, *p.ctl_rready, p.ctl_rdata, 4, *p.ctl_rresp);
    }

    void address() {
        const uint64_t side = *p.len | *p.size << 8 | *p.burst << 16;
        watch(asks, s.writes ? "stable AW" : "stable AR", *p.avalid, *p.aready, p.addr, 8, side);
        if (!*p.avalid) return;
        const uint64_t at = *p.addr, beats = *p.len + 1u, all = beats * s.bytes;
        if (1u << *p.size != s.bytes || *p.burst != 1 || at % s.bytes != 0) f.tell("size");
        if (beats > s.max_beats) f.tell("length");
        if (at / 4096 != (at + all - 1) / 4096) f.tell("4KB");
        const range beats_of{data.from, (data.to + s.bytes - 1) / s.bytes * s.bytes};
        if (!beats_of.has(at, all) && !table.has(at, all)) f.tell("range");
    }

    void read() {
        if (bursts.empty() || *p.last != (bursts.front().beats == 1)) f.tell("rlast");
        if (!*p.dready || bursts.empty()) return;
        if (--bursts.front().beats == 0) {
            bursts.pop_front();
            open--;
        }
    }

    void written() {
        if (bursts.empty()) return f.tell("orphan");
        burst& b = bursts.front();
        if (*p.last != (b.beats == 1)) f.tell("wlast");
        for (unsigned i = 0; i < s.bytes; i++) {
            if ((*p.strb >> i & 1) != data.has(b.at + i, 1)) f.tell("strobe");
        }
        if (!*p.dready) return;
        b.at += s.bytes;
        if (--b.beats == 0) {
            bursts.pop_front();
            ended++;
        }
    }

    void answered() {
        if (ended == 0) return f.tell("response");
        ended--;
        open--;
    }

    const setup& s;
    const pins& p;
    faults& f;
    range data, table;
    std::deque<burst> bursts;  // that have not had their last beat
    unsigned open = 0;         // bursts that have not ended, or have no response
    unsigned ended = 0;        // that have been written, and have no response
    held response, answer, asks, beat, stream;
};
