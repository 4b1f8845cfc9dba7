// Where the arrays of kernels lie. Of an array X a layer's config has X_rows and X_width, with which the kernel declares
// it, and X_memory, with which it binds it. What a layer takes is counted by the same figures.
#ifndef HLSGEN_CORE_MEMORY_HPP
#define HLSGEN_CORE_MEMORY_HPP

namespace hlsgen {

// storage is where an array lies. The words of a shift register are shifted by the kernel.
enum class storage { registers, shift, lutram, bram, uram };

// partitioned reports whether every word of an array is a variable of its own.
constexpr bool partitioned(storage where) { return where == storage::registers || where == storage::shift; }

template <storage WHERE> struct memory {};

// bind_memory puts an array where it is to lie. Of words that are shifted, synthesis makes shift registers in LUTs.
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

// restarts is how often everything has begun anew, in C simulation, where a test bench says when: what is kept from frame to
// frame begins with the FPGA's configuration.
#ifndef __SYNTHESIS__
inline unsigned& restarts() {
    static unsigned count = 0;
    return count;
}
#endif

} // namespace hlsgen

#endif
