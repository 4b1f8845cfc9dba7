// The network as a library: make lib. A program passes bytes as AXI4-Streams carry them, and gets the bytes of the
// outputs.
#include "top.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

static std::string said;    // the reason why the last run failed
static bool broken = false; // a run failed with words left in the network, so further results would be wrong

template <class WORD> static void drain(hls::stream<WORD>& s) {
    while (!s.empty()) s.read();
}

template <int BITS> static ap_uint<BITS> word_of(const std::uint8_t* bytes) {
    ap_uint<BITS> word = 0;
    for (int i = 0; i < BITS / 8; i++) word.range(8 * i + 7, 8 * i) = ap_uint<8>(bytes[i]);
    return word;
}

template <int BITS> static void push(hls::stream<ap_uint<BITS> >& to, const std::uint8_t* bytes, bool) { to.write(word_of<BITS>(bytes)); }

template <int BITS> static void push(hls::stream<ap_axiu<BITS, 0, 0, 0> >& to, const std::uint8_t* bytes, bool last) {
    ap_axiu<BITS, 0, 0, 0> word;
    word.data = word_of<BITS>(bytes);
    word.keep = -1;
    word.strb = -1;
    word.last = last ? 1 : 0;
    to.write(word);
}

// send writes a frame to a stream. It fails if the frame has the wrong size.
template <int BITS, class WORD> static bool send(const char* port, hls::stream<WORD>& to, const std::uint8_t* bytes, std::size_t size) {
    const std::size_t wide = BITS / 8;
    if (size == 0 || size % wide != 0) {
        said = std::string("stream ") + port + ": a frame of " + std::to_string(size) + " bytes, want words of " + std::to_string(wide) + " bytes";
        return false;
    }
    for (std::size_t i = 0; i < size; i += wide) push(to, bytes + i, i + wide == size);
    return true;
}

// take reads the words of a frame that have arrived. It fails if the frame has another size.
template <int BITS> static bool take(const char* port, hls::stream<ap_axiu<BITS, 0, 0, 0> >& from, std::uint8_t* bytes, std::size_t size, std::size_t& at) {
    while (at < size && !from.empty()) {
        const ap_axiu<BITS, 0, 0, 0> word = from.read();
        for (int i = 0; i < BITS / 8; i++) {
            const ap_uint<8> byte = word.data.range(8 * i + 7, 8 * i);
            if (at < size) bytes[at++] = std::uint8_t(byte.to_uint());
        }
        if ((word.last == 1) != (at == size)) {
            said = std::string("stream ") + port + ": a frame ends after " + std::to_string(at) + " of " + std::to_string(size) + " bytes";
            return false;
        }
    }
    return true;
}

// hlsgen_design returns the hash of the host.json for this library.
extern "C" const char* hlsgen_design() { return "{{ v.Hash|req }}"; }

// hlsgen_said returns the reason why the last run failed.
extern "C" const char* hlsgen_said() { return said.c_str(); }

// hlsgen_run sends frames and receives as many. Frame f of stream k has number k * frames + f; streams are in the
// order of the ports of {{ v.Top|req }}. Sizes are in bytes. It returns 0 if all frames came.
extern "C" int hlsgen_run(std::size_t frames, const std::uint8_t* const* in, const std::size_t* in_bytes, std::uint8_t* const* out,
                          const std::size_t* out_bytes) {
    const long enough = {{ v.Calls|req }}; // calls that suffice for any frame
{%- for p in v.Ports %}
    {{ p.Kind|req }} {{ p.Name|req }}("{{ p.Name|req }}");
{%- endfor %}
    const auto fail = [&] {
{%- for p in v.Ports %}
        drain({{ p.Name|req }});
{%- endfor %}
        broken = true;
        return 1;
    };
    if (broken) {
        said = "a run has failed before, and left words behind: load the library again";
        return 1;
    }
    for (std::size_t f = 0; f < frames; f++) {
{%- for p in v.In %}
        if (!send<{{ p.TDATA|req }}>("{{ p.Name|req }}", {{ p.Name|req }}, in[{{ p.Number|req }} * frames + f], in_bytes[{{ p.Number|req }} * frames + f])) return fail();
{%- endfor %}
        std::size_t came[{{ v.Outputs|req }}] = {};
        bool done = false;
        for (long calls = 0; calls < enough && !(done && f + 1 < frames); calls++) {
            {{ v.Top|req }}({{ v.Args|req }});
            done = true;
{%- for p in v.Out %}
            if (!take<{{ p.TDATA|req }}>("{{ p.Name|req }}", {{ p.Name|req }}, out[{{ p.Number|req }} * frames + f], out_bytes[{{ p.Number|req }} * frames + f], came[{{ p.Number|req }}])) return fail();
            done = done && came[{{ p.Number|req }}] == out_bytes[{{ p.Number|req }} * frames + f];
{%- endfor %}
        }
        if (!done) {
            said = "frame " + std::to_string(f) + " is not through after " + std::to_string(enough) + " calls:";
{%- for p in v.Out %}
            said += " stream {{ p.Name|req }} gave " + std::to_string(came[{{ p.Number|req }}]) + " of " + std::to_string(out_bytes[{{ p.Number|req }} * frames + f]) + " bytes";
{%- endfor %}
            return fail();
        }
    }
    return 0;
}
