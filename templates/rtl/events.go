package rtl

import (
	"fmt"
	"strings"
)

// A Digest is so many clocks as one number, as hlsgen_events has it.
type Digest struct {
	Count int
	Hash  uint64
}

// Hash is the digest of clocks.
func Hash(clocks []int) Digest {
	d := Digest{Count: len(clocks)}
	for _, c := range clocks {
		d.Hash = (d.Hash ^ uint64(c)) * 0x100000001b3
	}
	return d
}

// Events are those that a bench has told of, by name.
func Events(said string) map[string]Digest {
	list := map[string]Digest{}
	for _, line := range strings.Split(said, "\n") {
		rest, ok := strings.CutPrefix(line, "EVENTS ")
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if n := len(words); n > 2 {
			var d Digest
			if _, err := fmt.Sscanf(words[n-2]+" "+words[n-1], "%d %x", &d.Count, &d.Hash); err == nil {
				list[strings.Join(words[:n-2], " ")] = d
			}
		}
	}
	return list
}

// Passed reports whether a bench has said so.
func Passed(said string) bool {
	return strings.Contains(said, "PASS ") && !strings.Contains(said, "FAIL")
}

// A Frame is the clocks in which the first and the last word of a frame came out, of all outputs.
type Frame struct{ First, Last int }

// Frames are those that a bench has told of.
func Frames(said string) (list []Frame) {
	next := map[int]int{} // frame, by output
	for _, line := range strings.Split(said, "\n") {
		var output, first, last int
		if n, _ := fmt.Sscanf(line, "FRAME %d %d %d", &output, &first, &last); n != 3 {
			continue
		}
		f := next[output]
		next[output]++
		if f == len(list) {
			list = append(list, Frame{first, last})
		}
		list[f] = Frame{min(list[f].First, first), max(list[f].Last, last)}
	}
	return list
}
