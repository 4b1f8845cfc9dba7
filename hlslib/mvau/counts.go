package mvau

import "fmt"

// Counts gives multiply-accumulates by input and weight type, and parameters by type.
func (o *op) Counts() map[string]int64 {
	weights := int64(o.mh) * int64(o.mw)
	c := map[string]int64{
		fmt.Sprintf("op_mac_%s_%s", o.in.Elem, o.weight): weights * int64(o.vectors),
		fmt.Sprintf("param_weight_%s", o.weight):         weights,
	}
	if n := len(o.compare.Over); n > 0 {
		c[fmt.Sprintf("param_threshold_%s", o.acc)] = int64(o.mh) * int64(len(o.compare.Over[0]))
	}
	return c
}
