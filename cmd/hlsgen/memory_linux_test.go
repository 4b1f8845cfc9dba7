package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// TestSamplesTakeNoMemory simulates a file of zeros with one sample, and with many, in both orders: all in as much
// memory, but for 100 MB. In the long tier the file has 3 GB.
func TestSamplesTakeNoMemory(t *testing.T) {
	t.Parallel()
	bytesOf := int64(300 << 20)
	if tier.Long() {
		bytesOf = 3 << 30
	}
	dir := folder(t, nil)
	model := filepath.Join(examples.Digits, "model.onnx")
	const pixels = 64
	took := func(samples int, fortran bool) int64 {
		b, err := npy.Header("float32", []int{samples, pixels})
		if err != nil {
			t.Fatal(err)
		}
		if fortran {
			b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(b)+4*pixels*samples)); err != nil {
			t.Fatal(err)
		}
		cmd, _ := process(t, dir, []string{"GOMAXPROCS=2"}, "simulate", model, "--input", path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	one := took(1, false)
	for _, fortran := range []bool{false, true} {
		if many := took(int(bytesOf/4/pixels), fortran); many > one+100_000_000 {
			t.Errorf("Fortran order %t: %d bytes of memory, of one sample %d", fortran, many, one)
		}
	}
}
