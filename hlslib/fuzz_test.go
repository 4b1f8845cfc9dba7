package hlslib_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// FuzzDecode gives every kind parameters from anywhere, and binds accepted ones to types of several forms. The layer
// must have a fold, and tables that hold their elements.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"weights":[[1,-1],[3,2]],"steps":[{"at":[-5,9223372036854775807],"value":[0,1,7]}]}`,
		`{"weights":[[1,-1]]}`, `{"weights":[[1],[3]],"groups":2}`, `{"weights":[[1099511627776,-1099511627776]]}`,
		`{"steps":[{"at":[-9223372036854775808,0,1],"value":[5,-5,9223372036854775807,-9223372036854775808]}]}`,
		`{"steps":[{"at":null,"value":[1]},{"at":[2],"value":[3,4]}]}`, `{"in":2,"out":3}`, `{"in":4096,"out":1}`,
		`{"weights":null}`,
		`{"labels":3,"k":2,"first":"smallest","ties":"higher index"}`,
		`{"labels":4194304,"k":16,"first":"largest","ties":"lower index"}`,
		`{"channels":[1,1],"before":[1,0],"between":[2,1],"code":-3,"stop":[2,1],"step":[1,1],"scale":[3,2]}`,
		`{"before":[1000,1000],"scale":[1048576,64]}`,
		`{"block":3,"chunk":2,"order":[2,0,0],"shape":[6]}`, `{"table":[[1,-1],[1,1]]}`,
		`{"table":[[9223372036854775807],[-9223372036854775808]]}`,
		`{"cells":[{"recurrent":[[[1]],[[2]],[[-3]],[[0]]],"gates":[{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]},{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]},{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]},{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]}],"forget":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},"input":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},"cell_factors":[1,1],"cell":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},"tanh":[{"at":[0],"value":[0,3]}],"hidden":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7}}],"states":true}`, `{"kernel":[2,3],"stride":[2,1],"dilation":[1,2],"before":[1,2],"after":[0,4],"pad":-2,"groups":3}`,
		`{"op":"sum"}`, `{"copies":64}`,
		`{"multiplier":[3,-5],"bias":[4611686018427387904],"shift":62,"lo":-9223372036854775808,"hi":9223372036854775807}`, `{"factors":[[-9223372036854775808,3],[0]],"steps":[{"at":[0],"value":[5,-5]}]}`,
		`{"offset":[-2147483648,2147483647],"requant":{"multiplier":-5,"shift":3,"mode":"half-even","lo":-9,"hi":9223372036854775807}}`, `{"offset":[1,0],"steps":[{"at":[0,1],"value":[5,-5,2]}]}`} {
		f.Add([]byte(s))
	}
	for _, k := range hlslib.LayerKinds {
		f.Add([]byte(k.Example))
	}
	var types []dataflow.StreamType
	for _, elem := range []num.Type{{Kind: num.KindBipolar, Width: 1}, {Kind: num.KindTernary, Width: 2},
		{Kind: num.KindUInt, Width: 4}, {Kind: num.KindUInt, Width: 63}, {Kind: num.KindInt, Width: 8},
		{Kind: num.KindInt, Width: 64}} {
		for _, shape := range []dataflow.Shape{{}, {1}, {2}, {3, 2}, {2, 3}, {12}, {2, 1, 3}} {
			types = append(types, dataflow.StreamType{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem})
		}
	}
	types = append(types, dataflow.StreamType{Shape: dataflow.Shape{1 << 20, 2},
		Range: []num.Range{{Lo: 0, Hi: 3}, {Lo: math.MinInt64, Hi: math.MaxInt64}},
		Elem:  num.Type{Kind: num.KindInt, Width: 64}})
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, k := range hlslib.LayerKinds {
			op, err := k.Decode(params)
			if err != nil {
				continue
			}
			for i := range 2 * len(types) {
				typ := types[i/2]
				in := slices.Repeat([]dataflow.StreamType{typ}, 1+i%2)
				bound, out, err := op.Bind(in)
				if err != nil {
					continue
				}
				for fold := range bound.Folds() {
					for _, table := range bound.Emit(fold, dataflow.Target{}).Tables {
						for _, row := range table.Rows {
							for _, v := range row {
								table.Elem.EncodeBits(v) // panics where it does not fit
							}
						}
					}
				}
				if typ.Shape.ElementCount() > 100 || out[0].Shape.ElementCount() > 10000 {
					continue
				}
				for _, v := range []int64{typ.Range[0].Lo, typ.Range[0].Hi} {
					frame := dataflow.Tensor{Shape: typ.Shape, Data: make([]int64, typ.Shape.ElementCount())}
					for i := range frame.Data {
						frame.Data[i] = v
					}
					if err := out[0].CheckFrame(bound.Eval(slices.Repeat([]dataflow.Tensor{frame},
						len(in)))[0]); err != nil {
						t.Errorf("%s %s on %v: %v", k.Name, params, typ, err)
					}
				}
			}
		}
	})
}
