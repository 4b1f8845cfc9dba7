#include "bench.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace bench {

std::vector<uint32_t> signal::get() const {
    if (bits <= 8) return {*static_cast<uint8_t*>(at)};
    if (bits <= 16) return {*static_cast<uint16_t*>(at)};
    if (bits <= 32) return {*static_cast<uint32_t*>(at)};
    if (bits <= 64) {
        const uint64_t word = *static_cast<uint64_t*>(at);
        return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
    }
    const uint32_t* words = static_cast<uint32_t*>(at);
    return std::vector<uint32_t>(words, words + (bits + 31) / 32);
}

void signal::set(const std::vector<uint32_t>& words) const {
    if (bits <= 8) *static_cast<uint8_t*>(at) = static_cast<uint8_t>(words[0]);
    else if (bits <= 16) *static_cast<uint16_t*>(at) = static_cast<uint16_t>(words[0]);
    else if (bits <= 32) *static_cast<uint32_t*>(at) = words[0];
    else if (bits <= 64)
        *static_cast<uint64_t*>(at) = words[0] | (words.size() > 1 ? static_cast<uint64_t>(words[1]) << 32 : 0);
    else
        for (int i = 0; i < (bits + 31) / 32; i++) static_cast<uint32_t*>(at)[i] = i < static_cast<int>(words.size()) ? words[i] : 0;
}

namespace {

// A recording has the words of a stream, and marks the last word of each frame.
struct recording {
    int                   chunks = 1;  // chunks of 32 bits per word
    std::vector<uint32_t> words;
    std::vector<bool>     last;

    std::vector<uint32_t> word(size_t n) const {
        return std::vector<uint32_t>(words.begin() + n * chunks, words.begin() + (n + 1) * chunks);
    }
};

bool load(const std::string& path, int bits, recording& r) {
    std::ifstream file(path);
    if (!file) return false;
    r.chunks = (bits + 31) / 32;
    std::string line;
    while (std::getline(file, line)) {
        const bool last = !line.empty() && line.back() == '.';
        if (last) line.pop_back();
        std::vector<uint32_t> word(r.chunks);
        for (size_t d = 0; d < line.size(); d++) {
            const char     c     = line[line.size() - 1 - d];
            const uint32_t digit = c <= '9' ? c - '0' : c - 'a' + 10;
            if (d / 8 < word.size()) word[d / 8] |= digit << (d % 8 * 4);
        }
        r.words.insert(r.words.end(), word.begin(), word.end());
        r.last.push_back(last);
    }
    return true;
}

std::string hex(const std::vector<uint32_t>& word, int bits) {
    std::string text;
    for (int d = (bits + 3) / 4 - 1; d >= 0; d--) text += "0123456789abcdef"[word[d / 8] >> (d % 8 * 4) & 15];
    return text;
}

// A digest summarises the clocks of events as one number.
struct digest {
    uint64_t count = 0, hash = 0;

    void add(int64_t clock) {
        count++;
        hash = (hash ^ static_cast<uint64_t>(clock)) * 0x100000001b3ull;
    }
};

// mix is the random number generator of hlsgen's simulator.
uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

struct pace {
    int64_t  every = 1, free = 0;
    uint64_t stall = 0, seed = 0;

    bool open(int64_t clock) const {
        return clock >= free && (stall == 0 || mix(seed ^ static_cast<uint64_t>(clock)) % 100 >= stall);
    }
    void moved(int64_t clock) { free = clock + every; }
};

std::string option(int argc, char** argv, const std::string& name, const std::string& otherwise) {
    for (int i = 1; i < argc; i++) {
        const std::string arg = argv[i];
        if (arg.rfind("+" + name + "=", 0) == 0) return arg.substr(name.size() + 2);
    }
    return otherwise;
}

pace paced(int argc, char** argv, const std::string& side, int index, int every) {
    pace p;
    p.every = std::max(static_cast<int64_t>(every), static_cast<int64_t>(atoll(option(argc, argv, side + "_every", "1").c_str())));
    p.stall = strtoull(option(argc, argv, side + "_stall", "0").c_str(), nullptr, 10);
    p.seed  = mix(strtoull(option(argc, argv, side + "_seed", "0").c_str(), nullptr, 10) + static_cast<uint64_t>(index));
    return p;
}

}  // namespace

int run(int argc, char** argv, const design& all, int reset, uint64_t patience, const std::function<void(bool)>& clock,
        const signal& reset_n) {
    const std::string      data = option(argc, argv, "data", "data") + "/";
    std::vector<recording> recorded(all.streams.size()), loops(all.layers.size());
    for (size_t i = 0; i < all.streams.size(); i++)
        if (!load(data + all.streams[i].name + ".dat", all.streams[i].word.bits, recorded[i])) {
            printf("FAIL %s: no recording in %s\n", all.streams[i].name.c_str(), data.c_str());
            return 1;
        }
    for (size_t i = 0; i < all.layers.size(); i++)
        if (!load(data + all.layers[i].name + ".dat", all.layers[i].moves.bits, loops[i]) || loops[i].last.empty()) {
            printf("FAIL %s: no moves in %s\n", all.layers[i].name.c_str(), data.c_str());
            return 1;
        }

    std::vector<size_t> next(all.streams.size()), given(all.inputs.size()), taken(all.outputs.size()), at(all.layers.size());
    std::vector<digest> reads(all.streams.size()), claims(all.streams.size());
    std::vector<pace>   in, out;
    for (const input& i : all.inputs) in.push_back(paced(argc, argv, "in", i.index, i.every));
    for (const output& o : all.outputs) out.push_back(paced(argc, argv, "out", o.index, o.every));
    std::vector<int64_t> first(all.outputs.size(), -1);

    reset_n.put(false);
    for (const input& i : all.inputs) i.valid.put(false);
    for (const output& o : all.outputs) o.ready.put(false);
    for (int i = 0; i < 4; i++) clock(false), clock(true);
    reset_n.put(true);
    for (int i = 0; i < reset; i++) clock(false), clock(true);

    uint64_t quiet = 0;
    bool     wrong = false;
    int64_t  now   = -1;
    for (;; now++) {
        // The host decides by the signals after the last clock edge.
        for (size_t k = 0; k < all.outputs.size(); k++) all.outputs[k].ready.put(out[k].open(now));
        clock(false);
        for (size_t k = 0; k < all.inputs.size(); k++) {
            const input&     i    = all.inputs[k];
            const recording& r    = recorded[i.stream];
            const int64_t    have = static_cast<int64_t>(i.taken.get()[0]) - all.streams[i.stream].read.on();
            const bool       give = given[k] < r.last.size() && have < i.depth && in[k].open(now + 1);
            i.valid.put(give);
            if (!give) continue;
            i.data.set(r.word(given[k]));
            if (i.last.at != nullptr) i.last.put(r.last[given[k]]);
            in[k].moved(now + 1);
            given[k]++;
        }
        clock(false);

        bool moved = false;
        for (size_t s = 0; s < all.streams.size(); s++) {
            const stream&    t = all.streams[s];
            const recording& r = recorded[s];
            if (t.claim.at != nullptr && t.claim.on() && claims[s].count < r.last.size()) claims[s].add(now);
            if (!t.read.on()) continue;
            moved = true;
            if (next[s] < r.last.size()) {
                reads[s].add(now);
                const std::vector<uint32_t> word = t.word.get(), want = r.word(next[s]);
                if (!wrong && word != want) {
                    wrong = true;
                    printf("FAIL %s: word %zu is %s, want %s\n", t.name.c_str(), next[s], hex(word, t.word.bits).c_str(),
                           hex(want, t.word.bits).c_str());
                }
            } else if (!wrong) {
                wrong = true;
                printf("FAIL %s: a word too many\n", t.name.c_str());
            }
            next[s]++;
        }
        for (size_t k = 0; k < all.outputs.size(); k++) {
            const output&    o = all.outputs[k];
            const recording& r = recorded[o.stream];
            if (!o.valid.on() || !o.ready.on()) continue;
            out[k].moved(now);
            if (taken[k] >= r.last.size()) continue;
            if (first[k] < 0) first[k] = now;
            std::vector<uint32_t> word = o.data.get(), want = r.word(taken[k]);
            want.resize(word.size());
            const bool last = r.last[taken[k]];
            if (!wrong && (word != want || o.last.on() != last)) {
                wrong = true;
                printf("FAIL output %zu: word %zu is %s with TLAST %d, want %s\n", k, taken[k], hex(word, o.data.bits).c_str(),
                       o.last.on(), hex(want, o.data.bits).c_str());
            }
            if (last) {
                printf("FRAME %zu %lld %lld\n", k, static_cast<long long>(first[k]), static_cast<long long>(now));
                first[k] = -1;
            }
            taken[k]++;
        }
        for (size_t i = 0; i < all.layers.size(); i++) {
            const layer& l = all.layers[i];
            if (!l.fire.on()) continue;
            const std::vector<uint32_t> moves = l.moves.get(), want = loops[i].word(at[i]);
            if (!wrong && moves != want) {
                wrong = true;
                printf("FAIL %s: iteration %zu moves %s, want %s\n", l.name.c_str(), at[i], hex(moves, l.moves.bits).c_str(),
                       hex(want, l.moves.bits).c_str());
            }
            at[i] = at[i] + 1 == loops[i].last.size() ? 0 : at[i] + 1;
        }
        clock(true);

        bool done = true, told = true;
        for (size_t s = 0; s < all.streams.size(); s++) {
            done = done && next[s] == recorded[s].last.size();
            told = told && (all.streams[s].claim.at == nullptr || claims[s].count == recorded[s].last.size());
        }
        quiet = moved ? 0 : quiet + 1;
        if (wrong) break;
        if (done && told && quiet > 100) break;
        if (quiet > patience) {
            for (size_t s = 0; s < all.streams.size(); s++)
                if (next[s] < recorded[s].last.size())
                    printf("FAIL %s: %zu of %zu words\n", all.streams[s].name.c_str(), next[s], recorded[s].last.size());
            wrong = true;
            break;
        }
    }
    for (size_t s = 0; s < all.streams.size(); s++) {
        const char* name = all.streams[s].name.c_str();
        if (all.streams[s].claim.at != nullptr)
            printf("EVENTS %s written %llu %016llx\n", name, static_cast<unsigned long long>(claims[s].count),
                   static_cast<unsigned long long>(claims[s].hash));
        printf("EVENTS %s read %llu %016llx\n", name, static_cast<unsigned long long>(reads[s].count),
               static_cast<unsigned long long>(reads[s].hash));
    }
    printf(wrong ? "FAIL after %lld clocks\n" : "PASS %lld clocks\n", static_cast<long long>(now));
    return wrong;
}

}  // namespace bench
