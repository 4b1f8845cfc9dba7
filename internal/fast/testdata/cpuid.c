// Answers the cpuid instructions that avx2.py has replaced by breakpoints: as this processor does, but without AVX-512.
// It is loaded before the program that is to be kept from AVX-512 (LD_PRELOAD).

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
	// Leaf 7, subleaf 0: F, DQ, IFMA, PF, ER, CD, BW, VL in ebx; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ in ecx; 4VNNIW,
	// 4FMAPS, VP2INTERSECT, AMX and FP16 in edx (Intel, Software Developer's Manual, CPUID).
	EBX = 3 << 16 | 1 << 21 | 7 << 26,
	ECX = 1 << 1 | 1 << 6 | 3 << 11 | 1 << 14,
	EDX = 3 << 2 | 1 << 8 | 15 << 22,
	// Subleaf 1: AVX-VNNI and AVX512_BF16 in eax.
	EAX_1 = 3 << 4,
};

static void answer(int signal, siginfo_t *info, void *context) {
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint32_t leaf = g[REG_RAX], subleaf = g[REG_RCX];
	uint32_t a = leaf, b, c = subleaf, d;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (leaf == 7 && subleaf == 0) {
		b &= ~((uint32_t)EBX | 3u << 30);
		c &= ~(uint32_t)ECX;
		d &= ~(uint32_t)EDX;
	} else if (leaf == 7 && subleaf == 1) {
		a &= ~(uint32_t)EAX_1;
	}
	g[REG_RAX] = a, g[REG_RBX] = b, g[REG_RCX] = c, g[REG_RDX] = d;
	g[REG_RIP]++; // the second byte of cpuid, which is a nop now
}

__attribute__((constructor)) static void listen(void) {
	struct sigaction s;
	memset(&s, 0, sizeof s);
	s.sa_sigaction = answer;
	s.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
	sigaction(SIGTRAP, &s, 0);
}
