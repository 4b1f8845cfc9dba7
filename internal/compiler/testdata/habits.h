// hls::stream with the habits of the vendor's: it warns where a word is missing, and where words stay.
#ifndef HLSGEN_HABITS_STREAM_H
#define HLSGEN_HABITS_STREAM_H

#ifndef ALLOW_EMPTY_HLS_STREAM_READS
#error "the stream blocks: a test is to see that, not to wait"
#endif

#include <cstdio>
#include <deque>
#include <string>

namespace hls {

template <class T, int DEPTH = 0> class stream {
public:
    stream() {}
    explicit stream(const char* n) : name(n) {}
    explicit stream(const std::string& n) : name(n) {}
    stream(const stream&) = delete;
    ~stream() {
        if (!words.empty()) std::printf("WARNING: stream %s keeps %u words\n", name.c_str(), unsigned(words.size()));
    }
    T read() {
        T word;
        if (words.empty()) {
            std::printf("WARNING: stream %s is read empty\n", name.c_str());
            return word;
        }
        word = words.front();
        words.pop_front();
        return word;
    }
    void write(const T& word) { words.push_back(word); }
    bool empty() const { return words.empty(); }
    unsigned size() const { return unsigned(words.size()); }

private:
    std::string name;
    std::deque<T> words;
};

} // namespace hls

#endif
