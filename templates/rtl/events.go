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
