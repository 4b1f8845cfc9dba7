// A bench of one mover: transfer after transfer, each compared byte by byte. Besides what the monitor tells, it tells
//
//   data, last    bytes, or TLAST, that are not those of the transfer
//   greedy        a word too many moved
//   error         the error register is not as it should be
//   done          the control register, the interrupt or another register is not as it should be
//   stuck         nothing ends
#pragma once
#include "memory.hpp"
#include "monitor.hpp"
#include "registers.hpp"
#include "transfer.hpp"

class mover {
  public:
    // Plain transfers of many bytes without stalls, or any.
    mover(const setup& s, const pins& p, uint64_t seed, unsigned transfers, bool fast, bool wrong_rlast)
        : s(s), p(p), c(seed), left(transfers), fast(fast), make(s, c), mem(s, p, c, wrong_rlast),
          host(p, c), watch(s, p, told) {
        identify();
    }

    bool over() const { return stopped; }

    void drive() {
        if (stopped) return;
        p.fall();
        mem.drive();
        host.drive();
        if (s.writes) {
            if (!*p.tvalid && !c.in(speed.stream)) offer();
        } else {
            *p.tready = !c.in(speed.stream);
        }
    }

    void sample() {
        if (stopped) return;
        watch.sample();
        if (*p.tvalid && *p.tready) s.writes ? taken() : given();
        mem.sample();
        host.sample();
        if (!interrupts && *p.interrupt) told.tell("done");
        if (host.idle()) going ? poll() : begin();
        if (!told.all().empty() && ++after > 400) stopped = true;
        if (++quiet > 20000) told.tell("stuck"), stopped = true;
    }

    void print() const {
        std::printf("%s moved %u beats %llu clocks %llu faults", s.name, moved, (unsigned long long)mem.used.beats,
                    (unsigned long long)(mem.used.last - mem.used.first + 1));
        for (const std::string& f : told.all()) std::printf(" [%s]", f.c_str());
        std::printf("\n");
    }

  private:
    static constexpr uint8_t CONTROL = 0x00, GLOBAL = 0x04, ENABLE = 0x08, STATUS = 0x0c, ADDRESS = 0x10, FRAMES = 0x1c,
                             TABLE = 0x24, ERROR = 0x30, HASH = 0x34;
    static constexpr unsigned room = 8192;  // of memory on both sides of the data

    void expect(uint8_t at, uint32_t want, const char* fault) {
        host.read(at, [=](uint32_t got) {
            if (got != want) told.tell(fault);
        });
    }
    void identify() {
        expect(HASH, uint32_t(s.hash), "done");
        expect(HASH + 4, uint32_t(s.hash >> 32), "done");
        expect(CONTROL, 4, "done");
    }

    void begin() {
        if (left == 0) {
            stopped = true;
            return;
        }
        left--;
        if (s.writes) p.drop(p.tvalid);
        now = fast ? make.plain(1 << 16) : make.any();
        at = 0;
        mem.forget();
        place();
        speed = fast ? pace{} : any_pace();
        mem.hold(speed, !fast && c.in(4));
        interrupts = c.in(50);
        host.set(GLOBAL, interrupts);
        host.set(ENABLE, interrupts ? 1 : c.below(2));
        two(ADDRESS, now.address);
        host.set(FRAMES, uint32_t(now.lengths.size()));
        two(TABLE, now.table_address);
        expect(TABLE, uint32_t(now.table_address), "done");
        host.write(CONTROL, 1);
        going = true;
        if (c.in(50)) two(ADDRESS, c.draw());  // of the next start
    }
    void two(uint8_t reg, uint64_t v) {
        host.set(reg, uint32_t(v));
        host.set(reg + 4, uint32_t(v >> 32));
    }

    pace any_pace() {
        static const unsigned some[] = {0, 0, 20, 50, 90};
        pace w;
        w.address = some[c.below(5)], w.data = some[c.below(5)], w.stream = some[c.below(5)];
        w.least = c.below(4), w.most = w.least + c.below(60);
        return w;
    }

    // place puts the transfer into memory, and what is to be in memory afterwards aside.
    void place() {
        const uint64_t from = now.address - std::min<uint64_t>(room, now.address), size = now.kept();
        std::vector<uint8_t> bytes(now.address - from + size + room);
        for (uint8_t& b : bytes) b = uint8_t(c.draw() >> 30);
        const std::vector<uint8_t> data = now.bytes();
        const auto there = bytes.begin() + long(now.address - from);
        if (!s.writes) std::copy(data.begin(), data.end(), there);
        after_it = bytes;
        if (s.writes && now.moves) std::copy(data.begin(), data.end(), after_it.begin() + (there - bytes.begin()));
        if (now.reports) {
            for (unsigned i = 0; i < s.bytes; i++) {
                after_it[now.address - from + i] = i < 8 ? uint8_t(s.hash >> 8 * i) : i == 8 ? uint8_t(error) : 0;
            }
        }
        range lines;
        std::vector<uint8_t> table = now.table();
        if (now.table_address != 0 && !s.writes) lines = {now.table_address, now.table_address + table.size()};
        mem.place(from, std::move(bytes), now.table_address, lines.to != 0 ? std::move(table) : std::vector<uint8_t>{});
        const uint64_t used = now.moves ? size : now.reports ? s.bytes : 0;
        watch.begin(used > 0 ? range{now.address, now.address + used} : range{}, now.moves ? lines : range{});
        if (!now.moves) now.words.clear();
    }

    void poll() {
        if (interrupts && !*p.interrupt) return;
        if (interrupts) host.write(STATUS, 1);
        host.read(CONTROL, [this](uint32_t got) {
            if (got & 2) {
                if (got != 14) told.tell("done");
                watch.done();
                finish();
            } else if (interrupts || got != 1) {
                told.tell("done");
            }
        });
    }

    // finish is after the mover has said that it is done.
    void finish() {
        going = false;
        moved++;
        quiet = 0;
        if (at != now.words.size()) told.tell("data");
        if (mem.data() != after_it) told.tell("data");
        error = (s.reports && now.lengths.empty() ? error : 0) | now.errors | (mem.failed() ? 1 : 0);
        expect(ERROR, error, "error");
        expect(CONTROL, 4, "done");
        if (interrupts) {
            expect(STATUS, 0, "done");
        } else {
            host.read(STATUS, [this](uint32_t got) { host.write(STATUS, got); });
        }
    }

    // given looks at a word of a mover that reads.
    void given() {
        if (at == now.words.size()) return told.tell("greedy");
        const word& w = now.words[at++];
        if (std::memcmp(bytes_of(p.tdata), w.bytes.data(), s.stream) != 0) told.tell("data");
        if (w.last != bool(*p.tlast)) told.tell("last");
        quiet = 0;
    }

    // offer shows the next word to a mover that writes; behind the last one there is one that it must not take.
    void offer() {
        if (!going) return;
        *p.tvalid = 1;
        if (at == now.words.size()) return;
        std::memcpy(bytes_of(p.tdata), now.words[at].bytes.data(), s.stream);
        *p.tlast = now.words[at].last;
    }
    void taken() {
        p.drop(p.tvalid);
        if (at == now.words.size()) return told.tell("greedy");
        at++;
        quiet = 0;
    }

    const setup& s;
    const pins& p;
    chance c;
    faults told;
    unsigned left, moved = 0, after = 0, quiet = 0;
    bool fast;
    maker make;
    memory mem;
    registers host;
    monitor watch;
    transfer now;
    size_t at = 0;  // the next word
    uint32_t error = 0;  // what the register has
    std::vector<uint8_t> after_it;
    pace speed;
    bool going = false, stopped = false, interrupts = false;
};
