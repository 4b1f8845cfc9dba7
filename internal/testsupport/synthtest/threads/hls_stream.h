// hls::stream of which a read waits for a word and a write for room, for processes that are threads: what synthesis makes
// of a network, with pauses anywhere.
#ifndef HLSGEN_THREADS_STREAM_H
#define HLSGEN_THREADS_STREAM_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace hls {

struct ended {};

// process calls a function again and again, until it ends.
class process {
public:
    template <class F> explicit process(F call) : ending(false), runs([this, call] { run(call); }) {}
    ~process() {
        ending = true;
        runs.join();
    }
    static process*& now() {
        static thread_local process* here = nullptr; // in the bench
        return here;
    }
    std::atomic<bool> ending;

private:
    std::thread runs;

    template <class F> void run(F call) {
        now() = this;
        try {
            while (!ending) call();
        } catch (const ended&) {
        }
    }
};

inline void sleep(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

// until_ended waits for the end of the process that it is called in.
inline void until_ended() {
    while (!process::now()->ending) sleep(100);
}

// fail ends the test.
[[noreturn]] inline void fail(const char* name, const char* what) {
    std::printf("FAIL %s: %s\n", name, what);
    std::fflush(stdout);
    std::_Exit(1);
}

// pause comes anywhere.
inline void pause() {
    static std::atomic<unsigned> threads(0);
    static thread_local unsigned seed = 1 + 977 * threads++;
    seed = seed * 1664525 + 1013904223;
    if (seed >> 24 == 0) sleep(seed >> 16 & 63);
    else if (seed >> 28 == 0) std::this_thread::yield();
}

// patience is whether the bench waits still.
inline bool patience() {
    static const auto start = std::chrono::steady_clock::now();
    static const char* const seconds = std::getenv("PATIENCE");
    return std::chrono::steady_clock::now() - start < std::chrono::seconds(seconds ? std::atoi(seconds) : 120);
}

// breathe is for who looks again and again whether all is there.
inline void breathe() {
    if (!patience()) fail("bench", "nothing comes");
    sleep(50);
}

template <class T, int DEPTH = 0> class stream {
public:
    stream() : stream("(unnamed)") {}
    explicit stream(const char* n) : name(n) {}
    stream(const stream&) = delete;
    ~stream() {
        if (!words.empty() && (std::strstr(name, ".out") || std::strstr(name, "m_axis"))) fail(name, "words too many");
    }

    // holds says how many words there is room for, which else is any number.
    void holds(size_t n) { most = n; }

    T read() {
        pause();
        std::unique_lock<std::mutex> alone(mutex);
        wait(alone, [this] { return !words.empty(); }, "no word comes");
        const T word = words.front();
        words.pop_front();
        changed.notify_all();
        return word;
    }
    void read(T& word) { word = read(); }
    void write(const T& word) {
        pause();
        std::unique_lock<std::mutex> alone(mutex);
        wait(alone, [this] { return words.size() < most; }, "no word goes");
        words.push_back(word);
        changed.notify_all();
    }

    // empty is never, to a process, where all reads wait.
    bool empty() {
        static const bool all = std::getenv("ALL_WAIT") != nullptr;
        if (process::now() && std::strncmp(name, "s_axis", 6) == 0) fail(name, "a port is asked whether it is empty");
        if (all && process::now()) return false;
        std::unique_lock<std::mutex> alone(mutex);
        if (words.empty() && process::now()) {
            if (process::now()->ending) throw ended();
            changed.wait_for(alone, std::chrono::microseconds(200));
        }
        return words.empty();
    }

private:
    const char* const name;
    std::deque<T> words;
    size_t most = size_t(-1);
    std::mutex mutex;
    std::condition_variable changed;

    template <class OK> void wait(std::unique_lock<std::mutex>& alone, OK ok, const char* what) {
        while (!ok()) {
            if (process::now() && process::now()->ending) throw ended();
            if (!process::now() && !patience()) fail(name, what);
            changed.wait_for(alone, std::chrono::milliseconds(1));
        }
    }
};

} // namespace hls

#endif
