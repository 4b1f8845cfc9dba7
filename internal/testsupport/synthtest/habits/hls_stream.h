// hls::stream with the habits of the vendor's: it warns where a word is missing, and where words stay.
#ifndef HLSGEN_HABITS_STREAM_H
#define HLSGEN_HABITS_STREAM_H

#ifndef ALLOW_EMPTY_HLS_STREAM_READS
#error "the stream blocks: a test is to see that, not to wait"
#endif

#include <cstdio>
#include <vector>

namespace hls {

template <class T, int DEPTH = 0> class stream {
public:
    stream() {}
    explicit stream(const char* n) : name(n) {}
    stream(const stream&) = delete;
    ~stream() {
        if (!empty()) std::printf("WARNING: Hls::stream '%s' contains leftover data, which may result in RTL simulation hanging.\n", name);
    }
    T read() {
        T word;
        if (empty()) {
            std::printf("WARNING: Hls::stream '%s' is read while empty, which may result in RTL simulation hanging.\n", name);
            return word;
        }
        word = words[first++];
        if (empty()) {
            words.clear();
            first = 0;
        }
        return word;
    }
    void write(const T& word) { words.push_back(word); }
    bool empty() const { return first == words.size(); }
    unsigned size() const { return unsigned(words.size() - first); }

private:
    const char* name = "";
    std::vector<T> words; // of which those before the first were read; a deque takes a compiler longer
    size_t first = 0;
};

} // namespace hls

#endif
