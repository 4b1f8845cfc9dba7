package ask

import (
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// mostUnrolled bounds what --max-unroll takes.
const mostUnrolled = 1 << 20

// ParseMaxUnroll reads --max-unroll: a number of products, for factors of any width, or three of them, for those of
// more than 4 bits, of 2 to 4, and of 1 bit. What is the default is the zero Envelope.
func ParseMaxUnroll(s string) (dataflow.Envelope, error) {
	var n []int
	for part := range strings.SplitSeq(s, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < 1 || k > mostUnrolled {
			return dataflow.Envelope{}, fmt.Errorf("%q is not a number from 1 to %d", part, mostUnrolled)
		}
		n = append(n, k)
	}
	if len(n) == 1 {
		n = append(n, n[0], n[0])
	}
	if len(n) != 3 {
		return dataflow.Envelope{}, fmt.Errorf("want a number of products, or three, such as %s: of more than 4 bits, "+
			"of 2 to 4, of 1", dataflow.DefaultEnvelope)
	}
	e := dataflow.Envelope{Wide: n[0], Few: n[1], One: n[2]}
	if e == dataflow.DefaultEnvelope {
		e = dataflow.Envelope{}
	}
	return e, nil
}
