package hlslib_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/circuittest"
	"hlsgen/internal/testsupport/tier"
)

// A kernelDrawing is a random C++ program of numbers of up to 128 bits, as kernels compute them, beside the values of
// its variables in math/big.
type kernelDrawing struct {
	*rand.Rand
	text   strings.Builder
	types  []num.Type
	values []*big.Int
}

// cType returns the type of a variable in C++.
func cType(t num.Type) string {
	if t.IsSigned() {
		return fmt.Sprintf("ap_int<%d>", t.Width)
	}
	return fmt.Sprintf("ap_uint<%d>", t.Width)
}

// add adds a variable of type t that takes the low bits of an expression, whose exact value is v.
func (d *kernelDrawing) add(t num.Type, expression string, v *big.Int) {
	n := len(d.values)
	d.types, d.values = append(d.types, t), append(d.values, circuittest.Wrapped(v, t))
	fmt.Fprintf(&d.text, "    const %s v%d = %s;\n    print(v%d);\n", cType(t), n, expression, n)
}

// widths lists the widths of variables. Few of them keep the time low that compilers need.
var widths = []int{1, 37, 64, 65, 100, 127, 128}

// any returns a random type, and the greater one of two is more likely.
func (d *kernelDrawing) any() num.Type {
	t := num.Type{Kind: num.KindInt, Width: widths[max(d.IntN(len(widths)), d.IntN(len(widths)))]}
	if d.IntN(3) == 0 && t.Width < num.MaxNumberBits {
		t.Kind = num.KindUInt
	}
	return t
}

// constant adds a random constant, of two words of 64 bits.
func (d *kernelDrawing) constant() {
	hi, lo := d.Uint64()>>d.IntN(64), d.Uint64()
	v := new(big.Int).Or(new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64), new(big.Int).SetUint64(lo))
	d.add(d.any(), fmt.Sprintf("(ap_uint<128>(0x%xULL) << 64) | ap_uint<128>(0x%xULL)", hi, lo), v)
}

// step adds a variable computed from two others.
func (d *kernelDrawing) step() {
	i, j := d.IntN(len(d.values)), d.IntN(len(d.values))
	x, y, t := d.values[i], d.values[j], d.any()
	of := d.types[i]
	truth := func(holds bool) *big.Int {
		if holds {
			return big.NewInt(1)
		}
		return new(big.Int)
	}
	both := func(op string) string { return fmt.Sprintf("v%d %s v%d", i, op, j) }
	switch bit := (num.Type{Kind: num.KindUInt, Width: 1}); min(d.IntN(14), 10) {
	case 0:
		d.add(t, both("+"), new(big.Int).Add(x, y))
	case 1:
		d.add(t, both("-"), new(big.Int).Sub(x, y))
	case 2:
		d.add(t, both("*"), new(big.Int).Mul(x, y))
	case 3:
		d.add(t, both("&"), new(big.Int).And(x, y))
	case 4:
		d.add(t, both("^"), new(big.Int).Xor(x, y))
	case 5:
		n := d.IntN(of.Width)
		d.add(t, fmt.Sprintf("v%d >> %d", i, n), new(big.Int).Rsh(x, uint(n)))
	case 6: // a shift keeps the type of what is shifted
		n := d.IntN(of.Width)
		d.add(t, fmt.Sprintf("v%d << %d", i, n), circuittest.Wrapped(new(big.Int).Lsh(x, uint(n)), of))
	case 7: // operands of a comparison have one type
		d.add(bit, fmt.Sprintf("ap_int<129>(v%d) < ap_int<129>(v%d)", i, j), truth(x.Cmp(y) < 0))
	case 8:
		d.add(bit, fmt.Sprintf("ap_int<129>(v%d) == ap_int<129>(v%d)", i, j), truth(x.Cmp(y) == 0))
	case 9:
		low := d.IntN(of.Width)
		high := low + d.IntN(of.Width-low)
		bits := num.Type{Kind: num.KindUInt, Width: high - low + 1}
		d.add(t, fmt.Sprintf("ap_uint<128>(v%d.range(%d, %d))", i, high, low),
			circuittest.Wrapped(new(big.Int).Rsh(x, uint(low)), bits))
	case 10:
		shift, mode := 1+d.IntN(126), d.IntN(len(num.Roundings))
		if d.IntN(2) == 0 { // a number between two results
			half := new(big.Int).Lsh(big.NewInt(1), uint(shift-1))
			v := new(big.Int).Rsh(x, uint(shift))
			v.Lsh(v, uint(shift))
			d.add(num.Type{Kind: num.KindInt, Width: 128}, fmt.Sprintf("((ap_int<128>(v%d) >> %d) << %d) | "+
				"(ap_uint<128>(1) << %d)", i, shift, shift, shift-1), v.Or(v, half))
			i, x = len(d.values)-1, d.values[len(d.values)-1]
		}
		d.add(t, fmt.Sprintf("(hlsgen::requant_round<%d, %d>(ap_int<128>(v%d)))", shift, mode, i),
			circuittest.Rounded(x, shift, num.Roundings[mode]))
	}
}

// wideProgram is the program around the statements of a drawing. It prints each variable as two words.
const wideProgram = `#include <cstdio>
#include <ap_int.h>
#include "hlsgen/core/requant.hpp"

template <class T> void print(const T& v) {
    const ap_int<128> all = v;
    std::printf("%%016llx%%016llx\n", static_cast<unsigned long long>(ap_uint<64>(all.range(127, 64)).to_uint64()),
                static_cast<unsigned long long>(ap_uint<64>(all.range(63, 0)).to_uint64()));
}

int main() {
%s}
`

// TestWideNumbers compares numbers of up to 128 bits in C++ with math/big: sums, products, shifts, comparisons, parts
// and roundings.
func TestWideNumbers(t *testing.T) {
	t.Parallel()
	programs := tier.CasesToRun(2)
	if tier.Long() {
		programs = 10
	}
	for seed := range uint64(programs) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := &kernelDrawing{Rand: rand.New(rand.NewPCG(seed, 128))}
			for range 6 {
				d.constant()
			}
			for range 120 {
				d.step()
			}
			source := filepath.Join(t.TempDir(), "wide.cpp")
			if err := os.WriteFile(source, fmt.Appendf(nil, wideProgram, d.text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			bin := compile(t, source, "-O0", "-DAP_INT_MAX_W=256", "-Wno-unknown-pragmas",
				"-fsanitize=undefined,address", "-fno-sanitize-recover=all")
			out, err := exec.Command(bin).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%.4000s", err, out)
			}
			lines := strings.Fields(string(out))
			if len(lines) != len(d.values) {
				t.Fatalf("%d lines, want %d", len(lines), len(d.values))
			}
			statements := strings.Split(d.text.String(), "\n")
			for i, v := range d.values {
				want := circuittest.Wrapped(v, num.Type{Kind: num.KindUInt, Width: 128})
				if got, ok := new(big.Int).SetString(lines[i], 16); !ok || got.Cmp(want) != 0 {
					t.Fatalf("%s\nis %x, want %x", statements[2*i], got, want)
				}
			}
		})
	}
}
