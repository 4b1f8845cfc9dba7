package synthtest

import (
	"maps"
	"math/bits"
	"strconv"
	"strings"
)

// measure finds the bits in use of values, because machine words often hold small numbers. The width of a value is
// the least of three: the width of its type, the width that its operands allow, and the number of bits that its users
// read. A variable holds the values that are stored in it.
func (k *Kernel) measure() {
	b := k.body
	k.widths = map[string]int{}
	stored := map[string]int{}
	for _, s := range b.stores {
		stored[s.target] = 1
	}
	for range 70 { // until no width grows any more
		before := stored
		for _, name := range b.order {
			k.widths[name] = k.made(name, b.values[name], stored)
		}
		stored = map[string]int{}
		for _, s := range b.stores {
			w := constantWidth(s.text)
			if len(s.args) == 1 {
				w = k.width(s.args[0])
			}
			stored[s.target] = max(stored[s.target], w)
		}
		if maps.Equal(before, stored) {
			break
		}
	}
	seen := map[string]int{}
	for _, s := range b.stores {
		for _, a := range s.args {
			seen[a] = 64
		}
	}
	for _, x := range b.blocks {
		for _, a := range x.conditions {
			seen[a] = 64
		}
	}
	for i := len(b.order) - 1; i >= 0; i-- {
		name := b.order[i]
		v := b.values[name]
		if most, ok := seen[name]; ok {
			k.widths[name] = min(k.widths[name], most)
		}
		for _, a := range v.args {
			seen[a] = max(seen[a], k.looks(v, k.widths[name]))
		}
	}
}

// width returns the bits in use of an argument.
func (k *Kernel) width(arg string) int {
	if w, ok := k.widths[arg]; ok {
		return w
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64); err == nil {
		if n < 0 {
			return bits.Len64(uint64(^n)) + 1
		}
		return max(1, bits.Len64(uint64(n)))
	}
	return 64
}

// constantWidth returns the number of bits that a stored constant needs.
func constantWidth(store string) int {
	fields := strings.Fields(store)
	if len(fields) > 2 {
		if n, err := strconv.ParseInt(strings.TrimSuffix(fields[2], ","), 10, 64); err == nil {
			if n < 0 {
				return bits.Len64(uint64(^n)) + 1
			}
			return max(1, bits.Len64(uint64(n)))
		}
	}
	return 1
}

// made returns the width of a value that its operands allow.
func (k *Kernel) made(_ string, v *value, stored map[string]int) int {
	args := func(list ...string) (w int) {
		for _, a := range list {
			w = max(w, k.width(a))
		}
		return w
	}
	w := v.width
	switch v.op {
	case "load":
		if n, ok := stored[v.state]; ok && v.state != "" {
			w = min(w, n)
		}
	case "add", "sub":
		w = args(v.args...) + 1
	case "phi", "or", "xor", "umax", "smax", "umin", "smin":
		w = args(v.args...)
	case "select":
		w = args(v.args[1:]...)
	case "and":
		w = args(v.args...)
		for _, a := range v.args {
			if !strings.HasPrefix(strings.TrimSpace(a), "-") {
				w = min(w, k.width(a))
			}
		}
	case "zext", "trunc", "sext":
		w = args(v.args[len(v.args)-1:]...)
		if len(v.args) > 0 {
			w = args(v.args[0])
		}
	case "icmp":
		return 1
	case "lshr", "ashr":
		if n, err := strconv.Atoi(strings.TrimSpace(v.args[1])); err == nil {
			w = k.width(v.args[0]) - n
			if v.op == "ashr" || k.width(v.args[0]) > v.width {
				w = v.width - n
			}
		}
	case "shl":
		if n, err := strconv.Atoi(strings.TrimSpace(v.args[1])); err == nil {
			w = k.width(v.args[0]) + n
		}
	}
	return max(1, min(w, v.width))
}

// looks returns how many of the lowest bits of its arguments matter to the lowest width bits of a value.
func (k *Kernel) looks(v *value, width int) int {
	switch v.op {
	case "add", "sub", "mul", "phi", "or", "xor", "select", "trunc":
		return width
	case "and":
		if isNumber(v.args[1]) && !strings.HasPrefix(strings.TrimSpace(v.args[1]), "-") {
			return min(width, k.width(v.args[1]))
		}
		return width
	case "zext":
		return width
	case "shl":
		if n, err := strconv.Atoi(strings.TrimSpace(v.args[1])); err == nil {
			return max(1, v.width-n)
		}
	}
	return 64
}

// zeros returns the number of lowest bits that are zero in all of the arguments.
func (k *Kernel) zeros(args ...string) int {
	least := 64
	for _, a := range args {
		n := 0
		if v := k.body.values[a]; v != nil && v.op == "shl" {
			n, _ = strconv.Atoi(strings.TrimSpace(v.args[1]))
		} else if c, err := strconv.ParseInt(strings.TrimSpace(a), 10, 64); err == nil {
			n = bits.TrailingZeros64(uint64(c))
		}
		least = min(least, n)
	}
	return least
}

// bits returns a mask of the bits of a number that may be set.
func (k *Kernel) bits(arg string) uint64 {
	if n, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64); err == nil {
		return uint64(n)
	}
	all := ^uint64(0)
	v := k.body.values[arg]
	if v == nil || v.width > 64 {
		return all
	}
	if n := k.widths[arg]; n < 64 {
		all = 1<<n - 1
	}
	constant := func() int { n, _ := strconv.Atoi(strings.TrimSpace(v.args[1])); return n }
	switch {
	case v.op == "and":
		return all & k.bits(v.args[0]) & k.bits(v.args[1])
	case v.op == "or":
		return k.bits(v.args[0]) | k.bits(v.args[1])
	case v.op == "zext":
		return all & k.bits(v.args[0])
	case v.op == "shl" && isNumber(v.args[1]):
		return k.bits(v.args[0]) << constant()
	case v.op == "lshr" && isNumber(v.args[1]):
		return all & (k.bits(v.args[0]) >> constant())
	case v.op == "select":
		return k.bits(v.args[1]) | k.bits(v.args[2])
	case v.op == "phi":
		return all
	}
	return all
}
