// For tests: what a kernel computes and moves in each iteration, which is a call of it. The calls of what stands here are in
// copies of the generated files that the test makes (probe.go); the files themselves have none. Every frame of a layer is a line of
// probe.txt.
#ifndef HLSGEN_PROBE_HPP
#define HLSGEN_PROBE_HPP

#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

namespace hlsgen_probe {

// moves is the ports of which an iteration moves a word: bit p is port p.
struct moves {
    unsigned long long read, write;
};

// work is the bits of what an iteration computes: of a product those of one factor times those of the other, of a sum or
// a comparison those of the wider side. A side of 32 bits is a C integer, mostly a constant, and a sum's sides of more were
// mostly made of one: they do not count. Nor does a comparison with a C integer, which drives a loop.
struct work {
    unsigned long products, sums, comparisons, operations;
    unsigned long multiplications; // products that are counted, whatever their bits
};

struct state {
    bool running = false; // a kernel does
    std::vector<const void*> in, out;
    std::vector<moves> trace; // by iteration
    work done, most;          // in this iteration, and of each kind the most in one
    std::string wrong;        // the first move that no loop can have
};

inline state& now() {
    static state s;
    return s;
}

inline void keep(unsigned long& most, unsigned long& done) {
    if (done > most) most = done;
    done = 0;
}

// settle takes what has been done as an iteration's.
inline void settle() {
    work &done = now().done, &most = now().most;
    keep(most.products, done.products);
    keep(most.sums, done.sums);
    keep(most.comparisons, done.comparisons);
    keep(most.operations, done.operations);
    keep(most.multiplications, done.multiplications);
}

inline int wider(int a, int b) {
    if ((a >= 32) != (b >= 32)) return a < b ? a : b;
    return a > b ? a : b;
}

inline void multiply(int a, int b) {
    now().done.operations++;
    if (a == 32 || b == 32) return;
    now().done.products += static_cast<unsigned long>(a) * b;
    now().done.multiplications++;
}

inline void add(int a, int b) {
    now().done.operations++;
    if (a < 32 || b < 32) now().done.sums += wider(a, b);
}

inline void subtract(int a, int b) { add(a, b); }

// What is done bit by bit does not count.
inline void conjunction(int, int) {}
inline void disjunction(int, int) {}
inline void difference(int, int) {}

inline void comparison(int a, int b) {
    now().done.operations++;
    if ((a == 32) == (b == 32)) now().done.comparisons += wider(a, b);
}

inline void moved(const std::vector<const void*>& ports, const void* stream, unsigned long long moves::*side, const char* what) {
    state& s = now();
    for (size_t p = 0; p < ports.size(); p++) {
        if (ports[p] != stream) continue;
        const unsigned long long bit = 1ULL << p;
        if (s.trace.back().*side & bit) {
            if (s.wrong.empty()) s.wrong = std::string(what) + std::to_string(p) + "-twice-in-iteration-" + std::to_string(s.trace.size() - 1);
        } else {
            s.trace.back().*side |= bit;
        }
    }
}

inline void read(const void* stream) {
    if (now().running) moved(now().in, stream, &moves::read, "reads-port-");
}

inline void written(const void* stream) {
    if (now().running) moved(now().out, stream, &moves::write, "writes-port-");
}

// iteration is one call of a kernel.
struct iteration {
    iteration(std::initializer_list<const void*> in, std::initializer_list<const void*> out) {
        state& s = now();
        s.running = true;
        s.in = in;
        s.out = out;
        s.done = work();
        s.trace.push_back(moves());
    }
    ~iteration() {
        settle();
        now().running = false;
    }
};

// frame ends one of a layer.
inline void frame(const char* layer) {
    state& s = now();
    std::FILE* file = std::fopen("probe.txt", "a");
    if (!file) std::abort();
    std::fprintf(file, "%s %s %lu:%lu:%lu:%lu:%lu", layer, s.wrong.empty() ? "-" : s.wrong.c_str(), s.most.products, s.most.sums,
                 s.most.comparisons, s.most.operations, s.most.multiplications);
    for (size_t i = 0; i < s.trace.size();) {
        size_t n = 1;
        while (i + n < s.trace.size() && s.trace[i + n].read == s.trace[i].read && s.trace[i + n].write == s.trace[i].write) n++;
        std::fprintf(file, " %zu:%llx:%llx", n, s.trace[i].read, s.trace[i].write);
        i += n;
    }
    std::fprintf(file, "\n");
    std::fclose(file);
    s = state();
}

} // namespace hlsgen_probe

#endif
