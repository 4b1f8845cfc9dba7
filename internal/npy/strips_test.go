package npy

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// TestStrips reads parts of arrays in column-major order. The parts' pieces lie close together, or far apart.
func TestStrips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, inner int }{{1100, 3}, {37, 3000}, {1024, 5}, {1025, 5}, {1, 7}} {
		b, err := EncodeNPYHeader("float32", []int{c.n, c.inner})
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
		for i := range c.n * c.inner {
			b = binary.LittleEndian.AppendUint32(b, uint32(i))
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		arrays, done, err := OpenArrays(path)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		a := arrays[""]
		for from := 0; from < c.n; from += 11 {
			to := min(from+11, c.n)
			raw, err := a.ReadRawAlongAxis(nil, 0, from, to)
			if err != nil {
				t.Fatal(err)
			}
			for i := range (to - from) * c.inner {
				want := uint32(i/(to-from)*c.n + from + i%(to-from))
				if got := binary.LittleEndian.Uint32(raw[4*i:]); got != want {
					t.Fatalf("%d by %d: element %d from %d on is %d, want %d", c.n, c.inner, i, from, got, want)
				}
			}
		}
	}
}
