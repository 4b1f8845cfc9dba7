package hlslib_test

import (
	"math"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range hlslib.Kinds {
		if seen[k.Name] || k.Name == "" || k.Doc == "" || k.Decode == nil {
			t.Errorf("row %+v", k)
		}
		seen[k.Name] = true
	}
	for name, params := range map[string]string{
		"MVAU":                        `{"weights":[[1,-1]]}`,
		"Thresholding":                `{"steps":[{"at":[1],"value":[0,1]}]}`,
		"LabelSelect":                 `{"labels":3,"k":1,"first":"largest","ties":"lower index"}`,
		"StreamingDataWidthConverter": `{"in":1,"out":2}`,
	} {
		for _, k := range hlslib.Kinds {
			if k.Name != name {
				continue
			}
			delete(seen, name)
			op, err := k.Decode([]byte(params))
			if err != nil || op.Kind() != name {
				t.Errorf("%s: %v, %v", name, op, err)
			}
		}
	}
	if len(seen) > 0 {
		t.Errorf("kinds that no parameters were tried on: %v", seen)
	}
}

// FuzzDecode gives every kind parameters from anywhere, and binds what it takes to types of several forms. Whatever
// comes of it must have a fold, and tables that hold their elements.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"weights":[[1,-1],[3,2]],"steps":[{"at":[-5,9223372036854775807],"value":[0,1,7]}]}`, `{"weights":[[1,-1]]}`,
		`{"weights":[[1099511627776,-1099511627776]]}`, `{"steps":[{"at":[-9223372036854775808,0,1],"value":[5,-5,9223372036854775807,-9223372036854775808]}]}`,
		`{"steps":[{"at":null,"value":[1]},{"at":[2],"value":[3,4]}]}`, `{"in":2,"out":3}`, `{"in":4096,"out":1}`, `{"weights":null}`,
		`{"labels":3,"k":2,"first":"smallest","ties":"higher index"}`, `{"labels":4194304,"k":16,"first":"largest","ties":"lower index"}`} {
		f.Add([]byte(s))
	}
	var types []dataflow.Type
	for _, elem := range []num.Type{{Kind: num.Bipolar, Width: 1}, {Kind: num.Ternary, Width: 2}, {Kind: num.UInt, Width: 4}, {Kind: num.UInt, Width: 63}, {Kind: num.Int, Width: 8}, {Kind: num.Int, Width: 64}} {
		for _, shape := range []dataflow.Shape{{}, {1}, {2}, {3, 2}, {2, 3}, {12}} {
			types = append(types, dataflow.Type{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem})
		}
	}
	types = append(types, dataflow.Type{Shape: dataflow.Shape{1 << 20, 2}, Range: []num.Range{{Lo: 0, Hi: 3}, {Lo: math.MinInt64, Hi: math.MaxInt64}}, Elem: num.Type{Kind: num.Int, Width: 64}})
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, k := range hlslib.Kinds {
			op, err := k.Decode(params)
			if err != nil {
				continue
			}
			for _, typ := range types {
				bound, out, err := op.Bind([]dataflow.Type{typ})
				if err != nil {
					continue
				}
				for fold := range bound.Folds() {
					for _, table := range bound.Emit(fold, dataflow.Target{}).Tables {
						for _, row := range table.Rows {
							for _, v := range row {
								table.Elem.Encode(v) // panics where it does not fit
							}
						}
					}
				}
				if typ.Shape.Size() > 100 {
					continue
				}
				for _, v := range []int64{typ.Range[0].Lo, typ.Range[0].Hi} {
					frame := dataflow.Tensor{Shape: typ.Shape, Data: make([]int64, typ.Shape.Size())}
					for i := range frame.Data {
						frame.Data[i] = v
					}
					if err := out[0].Check(bound.Eval([]dataflow.Tensor{frame})[0]); err != nil {
						t.Errorf("%s %s on %v: %v", k.Name, params, typ, err)
					}
				}
			}
		}
	})
}
