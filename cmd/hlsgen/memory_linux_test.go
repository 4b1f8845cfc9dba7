package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// largest returns a network that computes little: the largest pixel of an image, by pools of the given sides.
func largest(pools ...int) (model string, side int) {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Init("s", graph.DTypeFloat32, nil, 0.5).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32, nil,
		4)
	m.Init("w", graph.DTypeFloat32, []int{1, 2}, 1, -1)
	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("pool0")
	side = 1
	for i, n := range pools {
		side *= n
		m.Node("MaxPool", fmt.Sprint("pool", i)).Ints("kernel_shape", int64(n), int64(n)).
			Ints("strides", int64(n), int64(n)).Out(fmt.Sprint("pool", i+1))
	}
	m.Node("Flatten", fmt.Sprint("pool", len(pools))).Int("axis", 1).Out("f")
	m.Node("MatMul", "f", "w").Out("y")
	m.Input("x", graph.DTypeFloat32, 1, 1, side, side).Output("y", graph.DTypeFloat32, 1, 2)
	return string(m.Bytes()), side
}

// TestSamplesTakeNoMemory runs commands on a file of zeros with one sample, and with many, in both orders: all in as
// much memory, but for 100 MB. In the long tier the file has 3 GB. Of samples of 4 million numbers each of two threads
// may take 100 MB.
func TestSamplesTakeNoMemory(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, c := range []struct {
		pools       []int
		most, bytes int64
		long        bool
	}{
		{[]int{64}, 100_000_000, 300 << 20, false},
		{[]int{64}, 100_000_000, 3 << 30, true},
		{[]int{64, 32}, 2 * 100_000_000, 600 << 20, true},
	} {
		if c.long && !tier.Long() {
			continue
		}
		text, side := largest(c.pools...)
		model := fmt.Sprint("largest", side, ".onnx")
		write(t, filepath.Join(dir, model), text)
		many := int(c.bytes / 4 / int64(side*side))
		one := zeroFile(t, "float32", false, 1, 1, side, side)
		commands := [][]string{
			{"simulate", model, "--labels", "LABELS", "--output", "y.npy", "--input"},
			{"check", model, "--input"},
			{"stats", model, "--data"},
			{"simulate", model, "--compare", "OUTPUTS", "--input"},
			{"simulate", model, "--engine", "eval", "--input"},
			{"simulate", model, "--input-type", "UINT8", "--input"},
		}
		if !tier.Long() {
			commands = commands[:2]
		}
		for _, command := range commands {
			took := func(samples int, path string) int64 {
				t.Helper()
				args := append(append([]string{}, command...), path)
				for i, a := range args {
					switch a {
					case "LABELS":
						args[i] = zeroFile(t, "int64", false, samples)
					case "OUTPUTS":
						args[i] = zeroFile(t, "float32", false, samples, 2)
					case "y.npy":
						args[i] = filepath.Join(t.TempDir(), a)
					}
				}
				cmd, _ := process(t, dir, []string{"GOMAXPROCS=2"}, args...)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				kib, err := peak(t, cmd)
				if err != nil {
					t.Fatalf("%v: %v: %s", args, err, out.String())
				}
				return int64(kib) << 10
			}
			least := took(1, one)
			for _, fortran := range []bool{false, true} {
				path := zeroFile(t, "float32", fortran, many, 1, side, side)
				got := took(many, path)
				t.Logf("%v, Fortran order %t: %d MB for %d samples, %d MB for one", command, fortran, got/1e6, many,
					least/1e6)
				if os.Remove(path); got > least+c.most {
					t.Errorf("%v, Fortran order %t: %d bytes of memory, of one sample %d", command, fortran, got, least)
				}
			}
		}
	}
}

// zeroFile is a file of zeros that takes no room on a disk.
func zeroFile(t *testing.T, dtype string, fortran bool, shape ...int) string {
	t.Helper()
	b, err := npy.EncodeNPYHeader(dtype, shape)
	if err != nil {
		t.Fatal(err)
	}
	if fortran {
		b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
	}
	size := npy.ElementBytes(dtype)
	for _, n := range shape {
		size *= n
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(b)+size)); err != nil {
		t.Fatal(err)
	}
	return path
}
