// The memory behind a mover: an AXI4 slave that lets everything wait as long as its pace says. Where RLAST is planted
// wrong, it comes with a burst's first beat.
#pragma once
#include "bench.hpp"

// How often things wait: of a hundred clocks so many, and how many clocks pass at least and at most before an answer.
struct pace {
    unsigned address = 0, data = 0, stream = 0, least = 20, most = 20;
};

class memory {
  public:
    memory(const setup& s, const pins& p, chance& c, bool wrong_rlast) : s(s), p(p), c(c), wrong_rlast(wrong_rlast) {}

    // What lies where: the data with room on both sides, and the table.
    void place(uint64_t at, std::vector<uint8_t> d, uint64_t table_at, std::vector<uint8_t> t) {
        parts[0] = {at, std::move(d)};
        parts[1] = {table_at, std::move(t)};
    }
    const std::vector<uint8_t>& data() const { return parts[0].bytes; }

    void hold(pace how, bool fails) { speed = how, failing = fails; }
    bool failed() const { return told; }
    void forget() { told = false; }

    void drive() {
        *p.aready = !c.in(speed.address);
        if (s.writes) {
            *p.dready = !c.in(speed.data);
            if (!*p.bvalid && !answers.empty() && answers.front() <= now) *p.bvalid = 1, *p.resp = fails();
        } else if (!*p.dvalid && !bursts.empty() && bursts.front().ready <= now && !c.in(speed.data)) {
            present();
        }
    }

    void sample() {
        now++;
        if (s.writes) {
            if (*p.dvalid && *p.dready) store();
            if (*p.bvalid && *p.bready) p.drop(p.bvalid), answers.pop_front();
        } else if (*p.dvalid && *p.dready) {
            count();
            p.drop(p.dvalid);
            burst& b = bursts.front();
            b.at += s.bytes;
            b.fresh = false;
            if (--b.beats == 0) bursts.pop_front();
        }
        if (*p.avalid && *p.aready) bursts.push_back({*p.addr, *p.len + 1u, now + wait(), true});
    }

    // Beats since they were counted last, and the clocks from the first to the last of them.
    struct usage {
        uint64_t beats = 0, first = 0, last = 0;
    };
    usage used;

  private:
    struct part {
        uint64_t at = 0;
        std::vector<uint8_t> bytes;
    };
    struct burst {
        uint64_t at;
        unsigned beats;
        uint64_t ready;
        bool fresh;
    };

    uint8_t* byte(uint64_t at) {
        for (part& x : parts) {
            if (at - x.at < x.bytes.size()) return &x.bytes[at - x.at];
        }
        return nullptr;
    }
    uint64_t wait() { return speed.least + c.below(speed.most - speed.least + 1); }
    uint8_t fails() {
        const bool wrong = failing && c.in(30);
        told |= wrong;
        return wrong ? 2 + c.below(2) : 0;
    }
    void count() {
        if (used.beats++ == 0) used.first = now;
        used.last = now;
    }
    void present() {
        const burst& b = bursts.front();
        for (unsigned i = 0; i < s.bytes; i++) {
            const uint8_t* x = byte(b.at + i);
            bytes_of(p.data)[i] = x ? *x : 0xee;
        }
        *p.resp = fails();
        *p.last = wrong_rlast ? b.fresh : b.beats == 1;
        *p.dvalid = 1;
    }
    void store() {
        count();
        if (bursts.empty()) return;
        burst& b = bursts.front();
        for (unsigned i = 0; i < s.bytes; i++) {
            uint8_t* x = byte(b.at + i);
            if (x && (*p.strb >> i & 1)) *x = bytes_of(p.data)[i];
        }
        b.at += s.bytes;
        if (--b.beats != 0) return;
        bursts.pop_front();
        answers.push_back(now + wait());
    }

    const setup& s;
    const pins& p;
    chance& c;
    bool wrong_rlast;
    part parts[2];
    pace speed;
    bool failing = false, told = false;
    uint64_t now = 0;
    std::deque<burst> bursts;
    std::deque<uint64_t> answers;  // when they come
};
