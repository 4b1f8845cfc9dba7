package layer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

type params struct {
	Width int `json:"width"`
}

func (p params) Verify() error {
	if p.Width < 1 {
		return errors.New("no width")
	}
	return nil
}

// op has the folds of a stream of a given width. These tests use nothing else of it.
type op struct {
	layer.Base[params]
	dataflow.LayerSchedule
	layer.MoveSchedule
}

func (o *op) Eval([]dataflow.Tensor) []dataflow.Tensor                        { return nil }
func (o *op) Folds() dataflow.FoldIterator                                    { return o.MoveSchedule.Folds() }
func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port)                 { return o.MoveSchedule.Ports(f) }
func (o *op) Loop(dataflow.Fold, dataflow.Target) (l dataflow.Loop)           { return l }
func (o *op) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel           { return nil }
func (o *op) Cost(dataflow.Fold, dataflow.Target) dataflow.Cost               { return nil }
func (o *op) Emit(dataflow.Fold, dataflow.Target) (i dataflow.KernelInstance) { return i }
func typ(width int, shape ...int) dataflow.StreamType {
	elem := num.Type{Kind: num.KindInt, Width: width}
	return dataflow.StreamType{Shape: shape, Range: []num.Range{elem.Range()}, Elem: elem}
}

func TestDefine(t *testing.T) {
	t.Parallel()
	row, create := layer.DefineKind(layer.KindDefinition[params]{
		Name: "Moved", Doc: "what it is",
		Bind: func(b layer.Base[params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
			return &op{Base: b, MoveSchedule: layer.MoveSchedule{In: in, Out: in, SIMD: []int{b.P.Width}}}, in, nil
		},
	})
	if o, err := row.Decode([]byte(`{"width":3}`)); err != nil || o.Kind() != "Moved" || o.Params() != (params{3}) {
		t.Errorf("%v, %v", o, err)
	}
	for _, text := range []string{``, `{}`, `{"width":0}`} {
		if o, err := row.Decode([]byte(text)); err == nil || o != nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, tt := range []struct {
		width int
		in    []dataflow.StreamType
		want  string
	}{
		{0, []dataflow.StreamType{typ(8, 6)}, "no width"},
		{3, nil, "0 inputs, want 1"},
		{3, []dataflow.StreamType{typ(8, 6), typ(8, 6)}, "2 inputs, want 1"},
		{600, []dataflow.StreamType{typ(8, 600)}, "no fold keeps a word within 4096 bits"},
		{3, []dataflow.StreamType{typ(8, 6)}, ""},
	} {
		o, out, err := create(params{tt.width}).Bind(tt.in)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v, want %q", tt, err, tt.want)
			}
			continue
		}
		if err != nil || o.Kind() != "Moved" || len(out) != 1 {
			t.Errorf("%+v: %v, %v, %v", tt, o, out, err)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	one, two := []dataflow.StreamType{typ(4, 5, 3)}, []dataflow.StreamType{typ(4, 5, 3), typ(4, 5, 3)}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{layer.CheckImageInput(one), "an input of shape [5 3], want rows, columns and channels"},
		{layer.CheckImageInput([]dataflow.StreamType{typ(4, 2, 5, 3)}), ""},
		{layer.CheckPerChannelLength("biases", 3, one), ""},
		{layer.CheckPerChannelLength("biases", 1, one), ""},
		{layer.CheckPerChannelLength("biases", 2, one), "2 biases for an input of shape [5 3], want one or 3"},
		{layer.CheckPerChannelLength("biases", 2, two), "2 biases for inputs of shape [5 3], want none, one or 3"},
		{layer.PoolingMax.Verify(), ""},
		{layer.Pooling("mean").Verify(), `pooling by "mean", want "max" or "sum"`},
	} {
		if got := tt.err; (got == nil) != (tt.want == "") || got != nil && got.Error() != tt.want {
			t.Errorf("%v, want %q", got, tt.want)
		}
	}
}

// TestFolds checks the order of folds: PE is outermost, then SIMD, the memory, and the multiplier.
func TestFolds(t *testing.T) {
	t.Parallel()
	got := slices.Collect(layer.FoldChoices{
		PE: []int{1, 2}, SIMD: []int{1, 3}, Compute: layer.MultiplierChoices(true),
		Fits: func(f dataflow.Fold) bool { return f.PE*f.SIMD < 6 },
		Memory: func(f dataflow.Fold) []dataflow.Memory {
			return []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}[:f.PE]
		},
	}.AllFolds())
	var want []dataflow.Fold
	for _, f := range []dataflow.Fold{{PE: 1, SIMD: 1}, {PE: 1, SIMD: 3}, {PE: 2, SIMD: 1}} {
		for _, f.Memory = range []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}[:f.PE] {
			for _, f.Compute = range []dataflow.MultiplierKind{dataflow.MultiplierInLUTs, dataflow.MultiplierInDSPs} {
				want = append(want, f)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
