// What a mover is asked for: some frames at some address, as bytes and as words of a stream.
#pragma once
#include "bench.hpp"

// A word of a stream.
struct word {
    std::vector<uint8_t> bytes;
    bool last;
};

struct transfer {
    uint64_t address = 0, table_address = 0;
    std::vector<uint32_t> lengths;  // steps per frame; ones where there is no table
    std::vector<word> words;
    unsigned errors = 0;  // bits of the error register, but for those of responses
    bool moves = true;    // else it is refused, or there are no frames
    bool reports = false; // there are no frames, and a mover that writes is to report

    uint64_t period = 0;  // bytes after which they are the first ones again; 0: never

    uint64_t size() const {
        uint64_t n = 0;
        for (const word& w : words) n += w.bytes.size();
        return n;
    }
    // kept is how many of them lie in memory.
    uint64_t kept() const { return period > 0 ? std::min(period, size()) : size(); }
    std::vector<uint8_t> bytes() const {
        std::vector<uint8_t> all;
        for (const word& w : words) all.insert(all.end(), w.bytes.begin(), w.bytes.end());
        all.resize(kept());
        return all;
    }
    std::vector<uint8_t> table() const {
        std::vector<uint8_t> all;
        for (const uint32_t n : lengths) {
            for (unsigned i = 0; i < 4; i++) all.push_back(uint8_t(n >> 8 * i));
        }
        all.resize((all.size() + 63) / 64 * 64, 0xdd);
        return all;
    }
};

// A maker draws transfers.
class maker {
  public:
    maker(const setup& s, chance& c) : s(s), c(c) {}

    // plain is a transfer of so many bytes at least, of frames of one length, without anything wrong, from a border of
    // 4 KB on.
    transfer plain(uint64_t bytes) {
        transfer t;
        t.period = s.period;
        t.address = 1ull << 32;
        t.lengths.assign((bytes + s.frame - 1) / s.frame, 1);
        for (size_t i = 0; i < t.lengths.size(); i++) frame(t, 1, false);
        return t;
    }

    transfer any() {
        transfer t;
        t.period = s.period;
        t.address = (c.draw() >> c.below(40)) / s.bytes * s.bytes;
        if (c.in(50)) t.address = t.address / 4096 * 4096 + (4096 - s.bytes * c.below(64));  // a border is near
        if (t.address > ~0ull - (1 << 20)) t.address -= 1 << 20;
        const bool sequences = c.in(50);
        if (sequences) t.table_address = ((t.address ^ 1ull << 40) & ~63ull) + 64 * (1 + c.below(64));
        const bool none = s.reports && c.in(10);
        const uint64_t budget = 1 + c.below(c.in(10) ? 12000 : 1500);
        while (!none && !c.in(2) && (t.lengths.empty() || t.size() < budget)) {
            uint32_t n = sequences ? 1 + c.below(s.steps) : 1;
            if (sequences && !s.writes && c.in(2)) n = 0;
            if (n == 0) t.errors |= 4;
            t.lengths.push_back(n);
            frame(t, n, sequences);
        }
        if (c.in(3)) {
            (!sequences || c.in(50) ? t.address : t.table_address) += 4 * (1 + c.below(s.bytes / 4));
            const bool off = t.address % s.bytes != 0 || t.table_address % 64 != 0;
            if (off) t.errors = 4, t.moves = false;
        }
        if (t.lengths.empty()) t.reports = s.reports && t.moves, t.moves = false;
        return t;
    }

  private:
    // frame adds a frame of n steps. To one that is written something may be wrong with TLAST.
    void frame(transfer& t, uint32_t n, bool sequence) {
        const unsigned of_step = s.frame / s.stream;
        uint64_t words = uint64_t(n) * of_step;
        bool last = true, early = false;
        if (s.writes && wrongs && c.in(3)) {
            if (c.in(50) && of_step > 1) {
                early = true;
            } else if (!sequence || n == s.steps) {
                last = false;
            }
            if (early || !last) t.errors |= 2;
        }
        const uint64_t at = early ? (n - 1) * uint64_t(of_step) + c.below(of_step - 1) : words;
        if (early && sequence) words = at + 1;
        for (uint64_t i = 0; i < words; i++) {
            word w;
            const uint64_t before = s.period / s.stream;
            for (unsigned k = 0; k < s.stream; k++) w.bytes.push_back(uint8_t(c.draw() >> 20));
            if (before > 0 && t.words.size() >= before) w.bytes = t.words[t.words.size() - before].bytes;
            w.last = i == at || (last && i == words - 1);
            t.words.push_back(std::move(w));
        }
    }

    const setup& s;
    chance& c;

  public:
    bool wrongs = true;
};
