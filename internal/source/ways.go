package source

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/pass"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/templates"
)

// A way is a flag that can make a model without quantised layers map to hardware.
type way struct {
	flag  string // the flag and its value
	means string
	// change sets the flag in the options; nil if the flag changes the model itself
	change func(opt *frontend.Options)
}

// ways lists the flags in the order in which a hint names them.
var ways = []way{
	{"--input-type UINT8", "where the inputs are integers, such as pixels", func(opt *frontend.Options) {
		opt.InputType = &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: big.NewRat(1,
			1)}
	}},
	{"--input-quant INT8:0.0625", "which puts a quantiser in front of real inputs", func(opt *frontend.Options) {
		opt.InputQuant = &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: 0.0625}
	}},
	{"--calibrate SAMPLES.npy", "which quantises the whole network on samples", nil},
}

// maps reports whether the model maps to hardware with the flag.
func (w *way) maps(o options.Source, src *ModelSource, opt frontend.Options) bool {
	if w.change == nil {
		return calibrates(o, src.File, src.ONNX, opt)
	}
	w.change(&opt)
	return mapsWith(src.File, src.ONNX, opt)
}

// namesFlags sets the hint of the error that nothing in a model is quantised. The hint names the flags with which this
// model maps, after trying them. It reads the file again, because ImportModel dropped its bytes.
func namesFlags(o options.Source, opt frontend.Options, d *diag.List) {
	at := -1
	for i, x := range d.Diags {
		switch {
		case x.Severity != diag.SeverityError:
		case x.Code != diag.NothingQuantised || at >= 0:
			return
		default:
			at = i
		}
	}
	if at < 0 || opt.InputType != nil || opt.InputQuant != nil || o.Calibrate != "" {
		return
	}
	src := again(o)
	if src == nil {
		return
	}
	opt.Pass = pass.Options[*canon.PassState]{}
	var found []string
	for _, w := range ways {
		if w.maps(o, src, opt) {
			found = append(found, w.flag+", "+w.means)
		}
	}
	if len(found) > 0 {
		d.Diags[at].Hint = "the model maps with " + strings.Join(found, ". Or with ")
	}
}

// maxCuts is the largest number of times that AddCutHint cuts a model. After a cut, another node in front of it may
// turn out not to map.
const maxCuts = 3

// AddCutHint extends the hint of the first error in d, about a node that does not map. The hint names the tensors at
// which the model can be cut in front of the node, after trying the cut. It adds no hint if that would cut off most of
// the model, or with --outputs or --calibrate.
func AddCutHint(o options.Source, fates []frontend.NodeFate, opt frontend.Options, d *diag.List) {
	at := slices.IndexFunc(d.Diags, func(x diag.Diag) bool { return x.Severity == diag.SeverityError })
	if at < 0 || d.Diags[at].Code == diag.NothingQuantised || len(opt.Outputs) > 0 || o.Calibrate != "" {
		return
	}
	src := again(o)
	if src == nil {
		return
	}
	opt.Pass = pass.Options[*canon.PassState]{}
	gone := 0
	for range maxCuts {
		c := frontend.FindModelCut(src.File, src.ONNX, opt, fates)
		if c == nil {
			return
		}
		opt.Outputs = c.Outputs
		if gone += c.Gone; gone > c.Left {
			return
		}
		var told diag.List
		im, err := frontend.Import(src.File, src.ONNX, opt, &told)
		if err != nil || im == nil {
			return
		}
		if im.Model != nil && !told.HasErrors() {
			flag := templates.QuoteShellCommand([]string{"--outputs", strings.Join(c.Outputs, ",")})
			hint := fmt.Sprintf("the model maps with %s, which leaves %d of %d nodes to you", flag, gone, gone+c.Left)
			if d.Diags[at].Hint != "" {
				hint = d.Diags[at].Hint + ". Or cut it off: " + hint
			}
			d.Diags[at].Hint = hint
			return
		}
		fates = im.Fates
	}
}

// mapsWith reports whether a model in the form of bytes maps to hardware with the given options.
func mapsWith(file string, onnx []byte, opt frontend.Options) bool {
	var told diag.List
	im, err := frontend.Import(file, onnx, opt, &told)
	return err == nil && im != nil && im.Model != nil && !told.HasErrors()
}

// maxTried is the largest sample, in elements, for which calibrates quantises a model.
const maxTried = 1 << 16

// calibrates reports whether a model maps to hardware after it is quantised on a random sample. The sample influences
// only the scales. It returns false without a try for samples of more than maxTried elements.
func calibrates(o options.Source, file string, onnx []byte, opt frontend.Options) bool {
	var told diag.List
	q := frontend.NewQuantisationSession(file, onnx, opt, false, &told)
	if q == nil {
		return false
	}
	elements := 0
	for _, in := range q.Model.In {
		elements += dataflow.Shape(in.Shape).ElementCount()
	}
	if elements > maxTried {
		return false
	}
	for _, in := range samples.MakeRandomRuns(q.Model, 1).In {
		if _, err := q.RunAndRecord(in); err != nil {
			return false
		}
	}
	made, _ := q.QuantisedONNXFile(o.CompleteRecipe(), &told)
	return made != nil && mapsWith(file, made, frontend.Options{Dims: opt.Dims, Shapes: opt.Shapes})
}
