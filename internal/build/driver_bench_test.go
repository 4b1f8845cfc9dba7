package build

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// BenchmarkDriver measures the drivers of the first example, built for samples of uint8, on stand-ins of the device:
// samples a CPU second on one that takes no time, the drivers' own time of a start, and how far throughput is off where
// a start takes 10 ms. The last two want a machine that does nothing else.
func BenchmarkDriver(b *testing.B) {
	tools := tier.Needs(b, "g++", "numpy")
	o := Options{Source: options.Source{Model: filepath.Join("../examples", examples.DigitsName,
		"model.onnx")}, Hardware: options.Hardware{Board: "zcu104"},
		Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(b.TempDir(), "out")}}
	o.InputType = &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: big.NewRat(1, 16),
		Offset: big.NewRat(-1, 2)}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil || r.NoDriver != "" {
		b.Fatal(err, d.Diags, r)
	}
	deploy, program := filepath.Join(o.Out, "deploy"), filepath.Join(b.TempDir(), "figures")
	if said, err := exec.Command(tools[0], "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O2", "-I", deploy,
		"testdata/figures.cpp", "-o", program).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, said)
	}
	for _, c := range []struct {
		name string
		args []string
	}{{"Python", []string{tools[1], "testdata/figures.py", deploy}}, {"C++", []string{program}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				said, err := exec.Command(c.args[0], c.args[1:]...).CombinedOutput()
				if err != nil {
					b.Fatalf("%v\n%s", err, said)
				}
				for s := bufio.NewScanner(bytes.NewReader(said)); s.Scan(); {
					var value float64
					var unit string
					if _, err := fmt.Sscanf(s.Text(), "FIGURE %g %s", &value, &unit); err != nil {
						b.Fatal(s.Text())
					}
					b.ReportMetric(value, strings.TrimSuffix(unit, "/C++"))
				}
			}
		})
	}
}
