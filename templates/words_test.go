package templates

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var elemTypes = []num.Type{
	{Kind: num.KindUInt, Width: 1}, {Kind: num.KindBipolar, Width: 1}, {Kind: num.KindTernary, Width: 2},
	{Kind: num.KindInt, Width: 3},
	{Kind: num.KindUInt, Width: 7},
	{Kind: num.KindInt, Width: 8}, {Kind: num.KindInt, Width: 33}, {Kind: num.KindUInt, Width: 63}, {Kind: num.KindInt,
		Width: 64},
}

// random is a value of t.
func random(r *rand.Rand, t num.Type) int64 {
	if t.Kind == num.KindTernary {
		return r.Int64N(3) - 1
	}
	return t.DecodeBits(r.Uint64())
}

// TestWords packs words by big integers and compares, and reads them back.
func TestWords(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range elemTypes {
		for _, n := range []int{1, 2, 3, 9, 64, 65} {
			elems := make([]int64, n)
			want := new(big.Int)
			for i := range elems {
				elems[i] = random(r, typ)
				if typ.Kind == num.KindUInt && typ.Width == 63 && elems[i] < 0 {
					t.Fatal(elems[i])
				}
				code := new(big.Int).SetUint64(typ.EncodeBits(elems[i]))
				want.Or(want, code.Lsh(code, uint(i*typ.Width)))
			}
			word, err := pack(nil, typ, elems)
			if err != nil {
				t.Fatal(err)
			}
			text := string(appendHex(nil, word, n*typ.Width))
			if got := string(AppendHexWord(nil, typ, elems)); got != text {
				t.Errorf("%d of %s: got %s, want %s", n, typ, got, text)
			}
			if full := fmt.Sprintf("%0*x", (n*typ.Width+3)/4, want); text != full {
				t.Errorf("%d of %s: got %s, want %s", n, typ, text, full)
			}
			for _, padding := range []string{"", "0", "00"} {
				back, err := parseHex(padding+text, n*typ.Width)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]int64, n)
				if unpack(back, typ, got); !reflect.DeepEqual(got, elems) {
					t.Errorf("%d of %s: got %v, want %v", n, typ, got, elems)
				}
			}
		}
	}
	if _, err := pack(nil, num.Type{Kind: num.KindInt, Width: 3}, []int64{1, 4}); err == nil ||
		err.Error() != "element 1 is 4, which INT3 does not hold" {
		t.Errorf("got %v", err)
	}
}

func TestParseHex(t *testing.T) {
	t.Parallel()
	for text, width := range map[string]int{"": 1, "2": 1, "10": 4, "g": 4, "000a": 4, "-1": 5, "40": 6, "1ff": 8,
		"010000000000000000": 64} {
		if b, err := parseHex(text, width); err == nil {
			t.Errorf("%q of %d bits: got %x", text, width, b)
		}
	}
}

func TestRecording(t *testing.T) {
	t.Parallel()
	p := dataflow.Port{Elem: num.Type{Kind: num.KindInt, Width: 3}, PerWord: 2, Words: 2}
	frame := dataflow.Tensor{Data: []int64{1, -1, -4, 3}}
	got, err := new(recorder).text(p, []dataflow.Tensor{frame, frame}, false)
	if want := "39\n1c\n39\n1c\n"; string(got) != want || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for want, frames := range map[string][]dataflow.Tensor{
		"frame 1 has 3 elements, the stream carries 2 words of 2":   {frame, {Data: []int64{0, 0, 0}}},
		"frame 0, word 1: element 0 is 9, which INT3 does not hold": {{Data: []int64{0, 0, 9, 0}}},
	} {
		if _, err := new(recorder).text(p, frames, false); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLimbs checks every layout against its definition.
func TestLimbs(t *testing.T) {
	t.Parallel()
	for width := 1; width <= 64; width++ {
		for n := 1; n <= 300; n++ {
			k, count := dataflow.ChooseLimbLayout(n, width)
			fewest := (n + 64/width - 1) / (64 / width)
			if k < 1 || k*width > 64 || k*count < n || k*(count-1) >= n || count > 2*fewest {
				t.Fatalf("%d elements of %d bits: %d in each of %d limbs, %d limbs would do", n, width, k, count,
					fewest)
			}
			for other := (64/width + 1) / 2; other <= min(64/width, n); other++ {
				if c := (n + other - 1) / other; c <= 2*fewest &&
					(c*other < count*k || c*other == count*k && c < count) {
					t.Fatalf("%d elements of %d bits: %d in each of %d limbs, better are %d in %d", n, width, k, count,
						other, c)
				}
			}
		}
	}
	for _, c := range []struct{ n, width, perLimb, count int }{
		{1, 1, 1, 1}, {49, 1, 49, 1}, {784, 1, 56, 14}, {67, 1, 34, 2}, {16, 4, 16, 1}, {17, 4, 9, 2}, {3, 64, 1, 3},
		{5, 33, 1, 5},
	} {
		if k, count := dataflow.ChooseLimbLayout(c.n, c.width); k != c.perLimb || count != c.count {
			t.Errorf("%d elements of %d bits: got %d in %d limbs, want %d in %d", c.n, c.width, k, count, c.perLimb,
				c.count)
		}
	}
}

// TestTable reads the C++ of tables back.
func TestTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	cell := regexp.MustCompile(`0x([0-9a-f]+)`)
	for _, typ := range elemTypes {
		for _, shape := range [][2]int{{1, 1}, {5, 3}, {40, 1}, {3, 200}, {2, 1000}} {
			table := dataflow.Table{Name: "weights", Elem: typ, Rows: make([][]int64, shape[0])}
			for i := range table.Rows {
				for range shape[1] {
					table.Rows[i] = append(table.Rows[i], random(r, typ))
				}
			}
			text, err := tableText("MVAU_0_weights", "MVAU_0", table)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if len(line) > 121 {
					t.Errorf("%s %v: a line of %d characters", typ, shape, len(line))
				}
			}
			_, body, _ := strings.Cut(string(text), "{\n")
			cells := cell.FindAllStringSubmatch(body, -1)
			k, count := dataflow.ChooseLimbLayout(shape[1], typ.Width)
			if len(cells) != shape[0]*count {
				t.Fatalf("%s %v: %d words, want %d rows of %d", typ, shape, len(cells), shape[0], count)
			}
			for i, row := range table.Rows {
				for j, want := range row {
					word, err := strconv.ParseUint(cells[i*count+j/k][1], 16, 64)
					if err != nil {
						t.Fatal(err)
					}
					if got := typ.DecodeBits(word >> (j % k * typ.Width)); got != want {
						t.Fatalf("%s %v: element %d of row %d is %d, want %d", typ, shape, j, i, got, want)
					}
				}
			}
			if problems := LintProject(ProjectFiles{{"hls/tables/MVAU_0_weights.hpp", text}}); len(problems) > 0 {
				t.Errorf("%s %v: %v", typ, shape, problems)
			}
		}
	}
	uneven := dataflow.Table{Name: "weights", Elem: elemTypes[0], Rows: [][]int64{{0, 1}, {1}}}
	if _, err := tableText("t", "l", uneven); err == nil || err.Error() != "row 1 has 1 elements, row 0 has 2" {
		t.Errorf("got %v", err)
	}
}
