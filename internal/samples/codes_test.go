package samples

import (
	"math"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
)

// TestCodes has numbers of float32 be the codes whose values they are, or are near to, in both orders and part by part;
// numbers that are near to none, and no numbers, are none.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		of          num.Type
		channels    int
		scale, bias float64
		within      float64 // in scales
		coded       bool
	}{
		{"themselves", num.Type{Kind: num.KindUInt, Width: 8}, 1, 1, 0, 0, true},
		{"255ths", num.Type{Kind: num.KindUInt, Width: 8}, 1, 1.0 / 255, 0, 1e-4, true},
		{"signed", num.Type{Kind: num.KindInt, Width: 8}, 1, 0.3, -7, 1e-4, true},
		{"channels", num.Type{Kind: num.KindUInt, Width: 8}, 3, 1.0 / 57, -2, 1e-4, true},
		{"four bits", num.Type{Kind: num.KindInt, Width: 4}, 3, 0.25, 0, 0, true},
		{"one bit", num.Type{Kind: num.KindUInt, Width: 1}, 1, 3, 1, 0.1, true},
		{"too near", num.Type{Kind: num.KindUInt, Width: 8}, 1, 1, 0, 0.4, false},
		{"nine bits", num.Type{Kind: num.KindUInt, Width: 9}, 1, 1, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := dataflow.RealTensorInfo{Name: "x", Shape: []int{1, 2, 3}, DType: "float32", Batch: true}
			value := func(channel int, k int64) float64 {
				return float64(float32(c.scale*float64(channel+1)*float64(k) + c.bias))
			}
			a := &dataflow.IntegerInputMeaning{Type: c.of, Channels: c.channels, Value: value,
				Of: func(shape []int, i int) int { return i % shape[len(shape)-1] % c.channels }}
			for channel := range c.channels {
				a.Within = append(a.Within, c.scale*float64(channel+1)*c.within)
			}
			in.Arrives = a
			m := &dataflow.Model{In: []dataflow.RealTensorInfo{in}}
			r := c.of.Range()
			n := int(r.Hi-r.Lo) + 1
			x := &npy.Array{DType: "float32", Shape: []int{n, 2, 3}, Data: make([]float64, 6*n)}
			for i := range x.Data {
				channel := i % 3 % c.channels
				off := a.Within[channel] * []float64{0, 0.9, -0.9}[i/6%3]
				x.Data[i] = value(channel, r.Lo+int64(i%n)) + off
			}
			for _, fortran := range []bool{false, true} {
				s, err := OpenSampleSource(m, inFile(t, x, fortran), nil)
				if err != nil {
					t.Fatal(err)
				}
				if s.HasInputCodes() != c.coded {
					t.Fatalf("coded: %t", s.HasInputCodes())
				}
				for from := 0; c.coded && from < n; from += n/2 + 1 {
					var p StoredPart
					if err := s.ReadStoredPart(&p, from, min(n, from+n/2+1)); err != nil {
						t.Fatal(err)
					}
					codes, ok := p.InputCodes(0)
					if !ok {
						t.Fatal("some number stands for none")
					}
					for i, code := range codes {
						if want := uint8(r.Lo + int64((from*6+i)%n)); code != want {
							t.Fatalf("Fortran order %t: code %d is %d, want %d", fortran, from*6+i, code, want)
						}
					}
				}
			}
			g := gridOf(in)
			for _, v := range []float64{value(0, r.Hi) + c.scale, value(0, r.Lo) - c.scale, math.NaN(), math.Inf(1),
				math.Inf(-1), value(0, r.Lo) + c.scale/2, math.MaxFloat32} {
				x := []float32{float32(v), 0, 0, 0, 0, 0}
				if g != nil && g.codes(make([]uint8, 6), x[:max(1, len(g.channels))]) {
					t.Errorf("%v stands for a code", v)
				}
			}
		})
	}
}
