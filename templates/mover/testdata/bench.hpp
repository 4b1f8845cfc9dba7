// What the parts of the bench share: the pins of a mover, what it is, chance, and where faults go.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "verilated.h"

// The pins of a mover. Those of its memory have one name each: a is AR or AW, data is R or W.
struct pins {
    CData *interrupt;
    CData *ctl_awaddr, *ctl_awvalid, *ctl_awready, *ctl_wstrb, *ctl_wvalid, *ctl_wready;
    CData *ctl_bresp, *ctl_bvalid, *ctl_bready;
    CData *ctl_araddr, *ctl_arvalid, *ctl_arready, *ctl_rresp, *ctl_rvalid, *ctl_rready;
    IData *ctl_wdata, *ctl_rdata;
    QData* addr;
    CData *len, *size, *burst, *avalid, *aready, *last, *dvalid, *dready, *resp, *bvalid, *bready;
    QData* strb;
    VlWide<16>* data;
    CData *tlast, *tvalid, *tready;
    VlWide<32>* tdata;

    // What has been taken goes away behind the edge of the clock: drop says which pin is to be low then, fall makes it
    // so.
    mutable std::vector<CData*> dropped{};
    void drop(CData* pin) const { dropped.push_back(pin); }
    void fall() const {
        for (CData* pin : dropped) *pin = 0;
        dropped.clear();
    }

    // rest is before the first clock: the bench gives and takes nothing.
    void rest() const {
        for (CData* pin : {ctl_awvalid, ctl_wvalid, ctl_bready, ctl_arvalid, ctl_rready, aready}) *pin = 0;
        if (bvalid) {
            *dready = *bvalid = *tvalid = 0;
        } else {
            *dvalid = *tready = 0;
        }
    }
};

// What a mover is: its parameters.
struct setup {
    const char* name;
    bool writes;
    unsigned bytes, stream, max_beats, outstanding, frame, steps, period;
    uint64_t hash;
    bool reports;
};

// Chance is a generator of numbers, the same ones for the same seed (xorshift64*).
class chance {
  public:
    explicit chance(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
    uint64_t draw() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545f4914f6cdd1du;
    }
    uint64_t below(uint64_t n) { return draw() % n; }
    bool in(unsigned percent) { return below(100) < percent; }

  private:
    uint64_t state;
};

// Faults are told by name, each once.
class faults {
  public:
    void tell(const std::string& name) {
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
    const std::vector<std::string>& all() const { return list; }

  private:
    std::vector<std::string> list;
};

// Bytes [from, to) of memory.
struct range {
    uint64_t from = 0, to = 0;
    bool has(uint64_t a, uint64_t bytes) const { return a >= from && a < to && bytes <= to - a; }
};

template <class wide>
uint8_t* bytes_of(wide* w) {
    return reinterpret_cast<uint8_t*>(w->data());
}
