package rtl

import (
	"fmt"
	"iter"
	"strings"

	"hlsgen/internal/dataflow"
)

// A ClockDigest identifies a list of clocks by its length and a hash. The module hlsgen_events of a bench computes the
// same hash.
type ClockDigest struct {
	Count int
	Hash  uint64
}

// digestClocks returns the digest of a list of clocks in increasing order.
func digestClocks(clocks []int) ClockDigest {
	d := ClockDigest{Count: len(clocks)}
	for _, c := range clocks {
		d.Hash = (d.Hash ^ uint64(c)) * 0x100000001b3
	}
	return d
}

// ParseClockDigests returns the digests in the output of a bench, by name, such as "T0_s1 read". It ignores all other
// lines.
func ParseClockDigests(said string) map[string]ClockDigest {
	list := map[string]ClockDigest{}
	for _, line := range strings.Split(said, "\n") {
		rest, ok := strings.CutPrefix(line, "EVENTS ")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if n := len(words); n > 2 {
			var d ClockDigest
			if _, err := fmt.Sscanf(words[n-2]+" "+words[n-1], "%d %x", &d.Count, &d.Hash); err == nil {
				list[strings.Join(words[:n-2], " ")] = d
			}
		}
	}
	return list
}

// FindStreamsWithWrongClocks yields the streams whose words the bench read or wrote in wrong clocks, in order, with a
// description of the difference; twice if both are wrong. should returns the expected clocks. events holds the digests
// that the bench printed, and run is the network's index in GenerateBench. A stream without a digest is yielded too.
func FindStreamsWithWrongClocks(g *dataflow.Graph, should func(stream int) (written, read []int),
	events map[string]ClockDigest,
	run int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for s := range g.Streams {
			written, read := should(s)
			ways := []way{{"read", read}}
			if node, _ := g.WriterOfStream(s); node >= 0 {
				ways = append(ways, way{"written", written})
			}
			for _, w := range ways {
				got, told := events[fmt.Sprintf("T%d_s%d %s", run, s, w.name)]
				what := ""
				switch want := digestClocks(w.clocks); {
				case !told:
					what = fmt.Sprintf("the bench does not say when words are %s", w.name)
				case got.Count != want.Count:
					what = fmt.Sprintf("%d words are %s, want %d", got.Count, w.name, want.Count)
				case got != want:
					what = fmt.Sprintf("words are %s in other clocks", w.name)
				}
				if what != "" && !yield(s, what) {
					return
				}
			}
		}
	}
}

// A way is one end of a stream: its name in the bench, and the clocks in which it should move words.
type way struct {
	name   string
	clocks []int
}

// HasBenchPassed reports whether the output of a bench says that it passed.
func HasBenchPassed(said string) bool {
	return strings.Contains(said, "PASS ") && !strings.Contains(said, "FAIL")
}

// A BenchFrameClocks holds the clocks in which the first and the last word of a frame left a network, over all outputs.
type BenchFrameClocks struct{ First, Last int }

// ParseFrameClocks returns the clocks of frames in the output of a bench, in order.
func ParseFrameClocks(said string) (list []BenchFrameClocks) {
	next := map[int]int{} // by output: the number of its next frame
	for _, line := range strings.Split(said, "\n") {
		var output, first, last int
		if n, _ := fmt.Sscanf(line, "FRAME %d %d %d", &output, &first, &last); n != 3 {
			continue
		}
		f := next[output]
		next[output]++
		if f == len(list) {
			list = append(list, BenchFrameClocks{first, last})
		}
		list[f] = BenchFrameClocks{min(list[f].First, first), max(list[f].Last, last)}
	}
	return list
}
