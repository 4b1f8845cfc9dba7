// For tests: what a kernel does in each iteration of its pipelined loop. The calls stand in copies of the generated
// files that the test makes (probe.go); the files themselves have none. Every frame of a layer is a line of probe.txt.
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

struct state {
    std::string layer; // the one that runs; empty where none does
    std::vector<const void*> in, out;
    std::vector<moves> trace; // by iteration
    std::string wrong;        // the first move that no loop can have
};

inline state& now() {
    static state s;
    return s;
}

inline void iteration() { now().trace.push_back(moves()); }

inline void moved(const std::vector<const void*>& ports, const void* stream, unsigned long long moves::*side, const char* what) {
    state& s = now();
    for (size_t p = 0; p < ports.size(); p++) {
        if (ports[p] != stream) continue;
        const unsigned long long bit = 1ULL << p;
        if (s.trace.empty() || s.trace.back().*side & bit) {
            if (s.wrong.empty())
                s.wrong = std::string(what) + std::to_string(p) + (s.trace.empty() ? "-before-the-loop" : "-twice-in-iteration-" + std::to_string(s.trace.size() - 1));
        } else {
            s.trace.back().*side |= bit;
        }
    }
}

inline void read(const void* stream) {
    if (!now().layer.empty()) moved(now().in, stream, &moves::read, "reads-port-");
}

inline void written(const void* stream) {
    if (!now().layer.empty()) moved(now().out, stream, &moves::write, "writes-port-");
}

// call is one frame of a layer.
struct call {
    call(const char* layer, std::initializer_list<const void*> in, std::initializer_list<const void*> out) {
        state& s = now();
        s = state();
        s.layer = layer;
        s.in = in;
        s.out = out;
    }
    ~call() {
        state& s = now();
        std::FILE* file = std::fopen("probe.txt", "a");
        if (!file) std::abort();
        std::fprintf(file, "%s %s", s.layer.c_str(), s.wrong.empty() ? "-" : s.wrong.c_str());
        for (size_t i = 0; i < s.trace.size();) {
            size_t n = 1;
            while (i + n < s.trace.size() && s.trace[i + n].read == s.trace[i].read && s.trace[i + n].write == s.trace[i].write) n++;
            std::fprintf(file, " %zu:%llx:%llx", n, s.trace[i].read, s.trace[i].write);
            i += n;
        }
        std::fprintf(file, "\n");
        std::fclose(file);
        s.layer.clear();
    }
};

} // namespace hlsgen_probe

#endif
