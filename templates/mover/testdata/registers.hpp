// The host's end of a mover's registers: an AXI4-Lite master that does one thing after the other.
#pragma once
#include "bench.hpp"

class registers {
  public:
    registers(const pins& p, chance& c) : p(p), c(c) {}

    using then = std::function<void(uint32_t)>;
    void write(uint8_t at, uint32_t word) { jobs.push_back({true, at, word, 15, nullptr}); }
    void read(uint8_t at, then t) { jobs.push_back({false, at, 0, 0, std::move(t)}); }

    // set is write, perhaps some of the bytes first and then the others, with anything where no strobe is.
    void set(uint8_t at, uint32_t word) {
        const unsigned first = c.in(10) ? c.below(16) : 15;
        for (const unsigned strobes : {first, 15 - first}) {
            uint32_t with = uint32_t(c.draw());
            for (unsigned i = 0; i < 4; i++) {
                if (strobes >> i & 1) with = (with & ~(255u << 8 * i)) | (word & 255u << 8 * i);
            }
            if (strobes != 0) jobs.push_back({true, at, with, strobes, nullptr});
        }
    }
    bool idle() const { return jobs.empty(); }

    void drive() {
        if (jobs.empty()) return;
        const job& j = jobs.front();
        if (!j.writes) {
            if (!asked && !*p.ctl_arvalid && !c.in(slow)) *p.ctl_arvalid = 1, *p.ctl_araddr = j.at;
            *p.ctl_rready = asked && !c.in(slow);
            return;
        }
        if (!asked && !*p.ctl_awvalid && !c.in(slow)) *p.ctl_awvalid = 1, *p.ctl_awaddr = j.at;
        if (!given && !*p.ctl_wvalid && !c.in(slow)) *p.ctl_wvalid = 1, *p.ctl_wdata = j.word, *p.ctl_wstrb = j.strobes;
        *p.ctl_bready = asked && given && !c.in(slow);
    }

    void sample() {
        if (*p.ctl_arvalid && *p.ctl_arready) p.drop(p.ctl_arvalid), asked = true;
        if (*p.ctl_awvalid && *p.ctl_awready) p.drop(p.ctl_awvalid), asked = true;
        if (*p.ctl_wvalid && *p.ctl_wready) p.drop(p.ctl_wvalid), given = true;
        const bool read = *p.ctl_rvalid && *p.ctl_rready, written = *p.ctl_bvalid && *p.ctl_bready;
        if (!read && !written) return;
        p.drop(p.ctl_rready);
        p.drop(p.ctl_bready);
        asked = given = false;
        const then t = std::move(jobs.front().t);
        jobs.pop_front();
        if (t) t(*p.ctl_rdata);
    }

  private:
    static constexpr unsigned slow = 30;
    struct job {
        bool writes;
        uint8_t at;
        uint32_t word;
        unsigned strobes;
        then t;
    };
    const pins& p;
    chance& c;
    std::deque<job> jobs;
    bool asked = false, given = false;
};
