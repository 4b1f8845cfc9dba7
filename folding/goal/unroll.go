package goal

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// ParseUnrollLimits reads the value of --max-unroll, the most products that a process computes in a clock. It is one
// number, or three: for factors of more than 4 bits, of 2 to 4 bits, and of 1 bit.
func ParseUnrollLimits(s string) (dataflow.UnrollLimits, error) {
	var n []int
	for part := range strings.SplitSeq(s, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < 1 || k > dataflow.MaxUnrollLimit {
			return dataflow.UnrollLimits{}, fmt.Errorf("%q is not a number from 1 to %d", part, dataflow.MaxUnrollLimit)
		}
		n = append(n, k)
	}
	if len(n) == 1 {
		n = append(n, n[0], n[0])
	}
	if len(n) != 3 {
		return dataflow.UnrollLimits{},
			fmt.Errorf("want a number of products, or three, such as %s: of more than 4 bits, "+
				"of 2 to 4, of 1", dataflow.DefaultUnrollLimits)
	}
	return dataflow.UnrollLimits{Wide: n[0], Few: n[1], One: n[2]}, nil
}
