// The memories of the kernels' arrays. For an array X, a layer's config has the members X_rows and X_width, with which
// the kernel declares the array, and X_memory, with which the kernel binds it to a kind of memory. The resource
// estimates use the same numbers.
#ifndef HLSGEN_CORE_MEMORY_HPP
#define HLSGEN_CORE_MEMORY_HPP

namespace hlsgen {

// storage names the kind of memory of an array. With shift, the kernel itself shifts the words.
enum class storage { registers, shift, lutram, bram, uram };

// partitioned reports whether every word of an array is a variable of its own.
constexpr bool partitioned(storage where) { return where == storage::registers || where == storage::shift; }

template <storage WHERE> struct memory {};

// bind_memory binds an array to its kind of memory. From words that a kernel shifts, synthesis makes shift registers
// in LUTs.
template <class T, int N> void bind_memory(T (&words)[N], const memory<storage::registers>&) {
#pragma HLS INLINE
#pragma HLS ARRAY_PARTITION variable=words complete dim=1
    (void)words;
}

template <class T, int N> void bind_memory(T (&words)[N], const memory<storage::shift>&) {
#pragma HLS INLINE
#pragma HLS ARRAY_PARTITION variable=words complete dim=1
    (void)words;
}

template <class T, int N> void bind_memory(T (&words)[N], const memory<storage::lutram>&) {
#pragma HLS INLINE
#pragma HLS BIND_STORAGE variable=words type=ram_s2p impl=lutram
    (void)words;
}

template <class T, int N> void bind_memory(T (&words)[N], const memory<storage::bram>&) {
#pragma HLS INLINE
#pragma HLS BIND_STORAGE variable=words type=ram_s2p impl=bram
    (void)words;
}

template <class T, int N> void bind_memory(T (&words)[N], const memory<storage::uram>&) {
#pragma HLS INLINE
#pragma HLS BIND_STORAGE variable=words type=ram_s2p impl=uram
    (void)words;
}

// restarts counts the restarts of all layers in C simulation. The test bench increments it, because states that are
// kept from frame to frame start anew only when the FPGA is configured.
#ifndef __SYNTHESIS__
inline unsigned& restarts() {
    static unsigned count = 0;
    return count;
}
#endif

} // namespace hlsgen

#endif
