package mvau_test

import (
	"testing"

	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// TestMutants has the C++ of weights that lie as codes in their tables, and of minifloats, be wrong in one place each.
func TestMutants(t *testing.T) {
	t.Parallel()
	in := func(path string, texts ...[2]string) (list []layertest.Mutant) {
		for _, x := range texts {
			list = append(list, layertest.Mutant{Path: path, From: x[0], To: x[1]})
		}
		return list
	}
	t.Run("codes", func(t *testing.T) {
		t.Parallel()
		of := func(name string, values ...int64) layertest.Case { // in a table so long that codes save memory
			weights := make([][]int64, 4)
			for c := range weights {
				for i := range 96 {
					weights[c] = append(weights[c], values[(i*(c+1)+c)%len(values)])
				}
			}
			return layertest.Case{Name: name, Op: mvau.New(mvau.Params{Weights: weights}),
				In:   []dataflow.StreamType{typ(intN(4), 2, 96)},
				Only: func(f dataflow.Fold) bool { return f.PE*f.SIMD == 1 && f.Compute == dataflow.MultiplierInLUTs }}
		}
		layertest.CheckMutants(t, in("core/mac.hpp",
			[2]string{"value[BIT] = mac_look", "value[0] = mac_look"},
			[2]string{"mac_decode<LIST, BITS, BIT - 1>::of", "mac_decode<LIST, BITS, -1>::of"},
			[2]string{"(unsigned long long)(V) >> BIT & 1", "(unsigned long long)(V) >> BIT & 0"},
			[2]string{"mac_function<numbers<REST...>, BIT>::table << 1", "mac_function<numbers<REST...>, BIT>::table"},
			[2]string{"return ap_uint<1>(turned == 0)", "return ap_uint<1>(turned != 0)"},
			[2]string{"ap_uint<1>(code[bit % BITS])", "ap_uint<1>(code[0])"},
			[2]string{"ap_uint<1>(~ap_uint<1>(code[other % BITS]))", "ap_uint<1>(code[other % BITS])"},
			[2]string{"ap_uint<1 << BITS>(TABLE) >> code", "ap_uint<1 << BITS>(TABLE) >> BITS"},
		), of("odd", -3, -1, 1, 3), of("steps apart", -5, -2, 1, 4), of("powers of two", -8, -4, -2, -1, 1, 2, 4, 8),
			of("any", -90, -31, 0, 17, 64))
	})
	t.Run("minifloats", func(t *testing.T) {
		t.Parallel()
		e4m3, err := num.ParseType("E4M3")
		if err != nil {
			t.Fatal(err)
		}
		weights := make([][]int64, 4)
		for c := range weights {
			for i := range 16 {
				v := e4m3.ValueOfCode(int64(3 + (37*i+c*11)%110))
				if i%3 == 0 {
					v = -v
				}
				weights[c] = append(weights[c], v)
			}
		}
		of := func(name string, in num.Type) layertest.Case {
			return layertest.Case{Name: name, Op: mvau.New(mvau.Params{Weights: weights}),
				In: []dataflow.StreamType{typ(in, 2, 16)}}
		}
		mutants := in("core/mac.hpp",
			[2]string{"mac_factor<W>::shift(w) + mac_factor<X>::shift(x)", "mac_factor<W>::shift(w)"},
			[2]string{"mac_factor<W>::shift(w) + mac_factor<X>::shift(x)", "mac_factor<X>::shift(x)"},
			[2]string{"mac_factor<W>::negative(w) != mac_factor<X>::negative(x)", "mac_factor<W>::negative(w)"},
			[2]string{"shifted = -shifted", "shifted = ~shifted"},
		)
		mutants = append(mutants, in("core/word.hpp",
			[2]string{"if (negative()) m = ~m;", ""},
			[2]string{"s[MANTISSA] = power() != 0;", "s[MANTISSA] = 1;"},
			[2]string{"if (s != 0) s -= 1;", ""},
			[2]string{"magnitude() >> MANTISSA", "magnitude() >> (MANTISSA - 1)"},
		)...)
		layertest.CheckMutants(t, mutants, of("by minifloats", e4m3), of("by integers", intN(4)))
	})
}
