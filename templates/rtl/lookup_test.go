package rtl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestLookups checks that the text of a table gives its bits, whichever operands it depends on.
func TestLookups(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 10))
	names := []string{"a", "b", "c", "d", "e", "f"}
	for i := range 2000 {
		n := 1 + i%len(names)
		bits := r.Uint64()
		if i%3 == 0 { // few bits, or few operands
			bits &= r.Uint64() & r.Uint64()
		} else if i%7 == 0 {
			bits = bits&0xffff*0x1_0001_0001_0001 | bits&1
		}
		text := looked(bits, names[:n])
		for x := range 1 << n {
			rest, got := chosen(text, x)
			if want := bits >> x & 1; rest != "" || got != want {
				t.Fatalf("table %x of %d: %s is %d for %b, want %d, and %q is left", bits, n, text, got, x, want, rest)
			}
		}
	}
}

// chosen is the value of choices, or of a chain of one kind of operation; operand a is bit 0 of x.
func chosen(text string, x int) (rest string, v uint64) {
	rest, v = operand(text, x)
	for len(rest) > 2 && strings.Contains("&|^", rest[1:2]) {
		op := rest[1]
		var w uint64
		rest, w = operand(rest[3:], x)
		switch op {
		case '&':
			v &= w
		case '|':
			v |= w
		default:
			v ^= w
		}
	}
	if strings.HasPrefix(rest, " ? ") {
		after, yes := chosen(rest[3:], x)
		after, no := chosen(strings.TrimPrefix(after, " : "), x)
		if rest = after; v == 0 {
			return rest, no
		}
		return rest, yes
	}
	return rest, v
}

func operand(text string, x int) (rest string, v uint64) {
	switch {
	case text[0] == '(':
		rest, v = chosen(text[1:], x)
		return rest[1:], v
	case text[0] == '~':
		rest, v = operand(text[1:], x)
		return rest, 1 - v
	case strings.HasPrefix(text, "1'd"):
		return text[4:], uint64(text[3] - '0')
	}
	return text[1:], uint64(x >> (text[0] - 'a') & 1)
}

// TestDefinitions checks that a table has one macro, with its bits in its name, for every tool.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	got := definitions([]table{{3, 0xca}, {6, 0x8117177e}})
	for _, want := range []string{
		"`ifdef VERILATOR\n`define hlsgen_lut3_ca(a, b, c) 1'(8'hca >> {c, b, a})\n",
		"`else\n`define hlsgen_lut3_ca(a, b, c) (" + looked(0xca, []string{"a", "b", "c"}) + ")\n",
		fmt.Sprintf("`define hlsgen_lut6_%016x(a, b, c, d, e, f) ", 0x8117177e),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
