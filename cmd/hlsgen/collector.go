package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// garbage is the garbage collector's target, in per cent of the live heap: what GOGC sets. Go's default is 100. At 50
// large networks took 12 to 22 % less memory, and no more time that could be measured; at 33 they take another eighth
// less, and 3 % more time.
const garbage = 33

// ballast is a number of bytes that are allocated and never touched, so that they take no memory. The collector
// counts them as live: a small heap, which would be collected every few megabytes, grows by 85 MB between collections
// at least.
const ballast = 256 << 20

// streaming is the target while samples pass: what they leave is to stay below some 30 MB, at 10 % more time.
const streaming = 10

// A process takes at most bounded bytes, with the ballast, as long as its live heap is less than that by enough: there
// the collector runs more often than garbage has it. It takes a few more cycles of networks whose search needs 650 to
// 750 MB. Beyond that it would run all the time, so the bound is lifted.
const (
	bounded = ballast + 930<<20
	enough  = 170 << 20 // 85 MB of garbage, and what the runtime takes beside the heap
)

// collect sets the garbage collector, unless the environment does. It returns a function that has it hold less garbage,
// for commands that go through many samples.
func collect() (lean func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(bounded)
	lift()
	held := make([]byte, ballast)
	return func() {
		debug.SetGCPercent(streaming)
		runtime.KeepAlive(held)
	}
}

// lift takes the bound away after the first cycle that leaves a live heap too large for it.
func lift() {
	cycle := new([16]byte) // finalized once the cycle has found it unused
	runtime.SetFinalizer(cycle, func(*[16]byte) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		if metrics.Read(live); live[0].Value.Uint64() > bounded-enough {
			debug.SetMemoryLimit(math.MaxInt64)
			return
		}
		lift()
	})
}
