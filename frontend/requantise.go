package frontend

import (
	"errors"
	"fmt"
	"runtime"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/float"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A QuantisationRecipe says to which formats a network is quantised, and how.
type QuantisationRecipe = quantise.Recipe

// ParseQuantisationRecipe parses the name of a recipe, such as w4a8: the formats of weights and activations.
func ParseQuantisationRecipe(s string) (QuantisationRecipe, error) { return quantise.ParseRecipe(s) }

// A QuantisationSession is a model that is being quantised. It first runs on samples and records values; then it can be
// written with any recipe.
type QuantisationSession struct {
	Model   *dataflow.Model // describes the inputs and outputs of samples; it has no layers
	Dynamic int             // the number of quantisers whose scales come from the data
	Noted   int             // the number of samples recorded
	Fixed   int             // the number of fixed transforms, products that stay on the host

	file    string
	net     *quantise.QuantisableNetwork
	float   *quantise.CalibrationRunner
	dynamic *operators.DynamicQuantisers
	as      *program.Program       // the model before quantisation
	asFloat dataflow.ReferenceFunc // runs it in float64; nil if it rounds or sorts data
	single  bool                   // RunAndRecord returns the same as RunOriginalModel
	bind    operators.Options      // the axes and formats that the file leaves open
}

// NewQuantisationSession reads a model to be quantised. With replace, its own quantisers change, too; otherwise only
// missing ones are added. It returns nil after adding errors to d.
func NewQuantisationSession(name string, onnx []byte, opt Options, replace bool, d *diag.List) *QuantisationSession {
	refuse := func(msg, hint string) *QuantisationSession {
		d.AddError(diag.ModelNotQuantisable, name, msg, hint)
		return nil
	}
	g := opt.graph(name, onnx, d)
	switch {
	case g == nil:
		return nil
	case opt.Stateful || opt.lengthsOf(g) != nil:
		return refuse("quantisers are chosen on samples of one length, each from the beginning",
			"quantise the model first, with one --dim and --save-model, and then use what was written")
	case opt.InputType != nil || opt.InputQuant != nil:
		return refuse("--input-type and --input-quant describe the inputs of a quantised model",
			"quantise the model first, with --save-model, and then use what was written")
	}
	opt.settle(g, name)
	q := &QuantisationSession{file: name, dynamic: operators.RemoveDynamicQuantisers(g)}
	if q.dynamic != nil && len(opt.Initial) > 0 {
		return refuse("--initial-state changes a model whose scales come from the data of each run",
			"quantise the model first, with --save-model, and then use what was written")
	}
	operators.DecomposeOperators(g)
	if _, ok := opt.begin(g, name, d); !ok {
		return nil
	}
	bind := opt.bind(g, name, d)
	p, batch := sample(g, name, &bind, d)
	if p == nil {
		return nil
	}
	q.as, q.bind = p, bind
	if q.dynamic != nil {
		if batch != nil && batch.Sample != nil {
			return refuse("the file fixes a number of samples, over which its scales follow from the data",
				"export the model with a batch of 1 or a dynamic one")
		}
		q.Dynamic = q.dynamic.Count()
		as := q.dynamic.OriginalGraph(func(tensor string) []int { return p.Known[tensor].Shape })
		if q.as = prepared(as, name, bind, d); q.as == nil {
			return nil
		}
	}
	var told diag.List
	loops := pass.Options[*canon.PassState]{Until: canon.NumberOfPassesUntilScans}
	if !replace {
		loops.Until = canon.NumberOfPassesUntilRolledUp
	}
	program, err := canon.NormaliseGraph(&canon.PassState{Program: p}, loops, &told)
	if err != nil || program == nil {
		return refuse("its loops cannot be unrolled", "")
	}
	if q.net, err = quantise.NewQuantisableNetwork(program, replace, opt.Lookup); err == nil {
		q.float, err = q.net.NewCalibrationRunner()
	}
	if err != nil {
		q.fail(err, d)
		return nil
	}
	q.Fixed = len(q.net.HostInputTransforms())
	if q.dynamic == nil {
		q.asFloat = floating(q.as)
		q.single = q.asFloat != nil && !replace
	}
	q.Model = &dataflow.Model{Name: g.Name, Meta: g.Meta}
	q.Model.In, q.Model.Out = signature(p)
	if q.Model.Feedback = opt.feedback(p, d); d.HasErrors() {
		return nil
	}
	whole(q.Model, batch)
	return q
}

func (q *QuantisationSession) fail(err error, d *diag.List) {
	r := new(quantise.RefusalError)
	if !errors.As(err, &r) {
		d.AddError(diag.ModelNotQuantisable, q.file, err.Error(), "")
		return
	}
	d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.ModelNotQuantisable, Node: r.Node.Label(),
		Op:    r.Node.QualifiedOpName(),
		Where: operators.NodePositionText(q.file, r.Node), Msg: r.Msg, Hint: r.Hint})
}

// SkipRecordingByChannel declares that no recipe will equalise activations, so that RunAndRecord need not keep their
// values by channel. Weights keep a scale for each output channel. Call it before the first run.
func (q *QuantisationSession) SkipRecordingByChannel() { q.net.SkipRecordingByChannel() }

// RunAndRecord runs a sample and records the values at the places of quantisers. It returns the outputs of the float
// model, in which quantisers that will be replaced only clip.
func (q *QuantisationSession) RunAndRecord(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
	q.Noted++
	return q.run(in, true)
}

// RunFloatModel runs a sample through the float model without recording values.
func (q *QuantisationSession) RunFloatModel(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
	return q.run(in, false)
}

func (q *QuantisationSession) run(in []dataflow.RealTensor, note bool) ([]dataflow.RealTensor, error) {
	if err := checkFinite(in); err != nil {
		return nil, err
	}
	out, err := q.float.RunSample(dataOf(in), note)
	return q.outputs(out), err
}

// IsRecordingSameAsOriginal reports whether RunAndRecord returns the same as RunOriginalModel, so that one run serves
// both.
func (q *QuantisationSession) IsRecordingSameAsOriginal() bool { return q.single }

// RunOriginalModel runs a sample through the model before quantisation: in float64 if the model neither rounds to
// integers nor sorts, otherwise exactly.
func (q *QuantisationSession) RunOriginalModel(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
	if err := checkFinite(in); err != nil {
		return nil, err
	}
	if q.dynamic != nil {
		out, err := q.dynamic.RunOriginal(q.as, reals(in))
		return q.outputs(out), err
	}
	if q.asFloat != nil {
		return q.asFloat(in)
	}
	return reference(q.as)(in)
}

func (q *QuantisationSession) outputs(data [][]float64) (out []dataflow.RealTensor) {
	for k := range data {
		out = append(out, dataflow.RealTensor{Shape: q.Model.Out[k].Shape, Data: data[k]})
	}
	return out
}

// HardToQuantiseLayers returns a sentence for each layer that is hard to quantise, judging by the recorded samples: its
// values are far larger than those next to it. Of many layers, the last sentence only counts the others.
func (q *QuantisationSession) HardToQuantiseLayers() []string {
	return q.net.HardToQuantiseLayerNames()
}

// TableLookupsFor returns the lookups of rows of tables in the network, with their costs under a recipe.
func (q *QuantisationSession) TableLookupsFor(r QuantisationRecipe) []quantise.TableLookup {
	return q.net.TableLookupCostsUnderRecipe(r)
}

// HasNoQuantisers reports whether the model has no quantisers of its own.
func (q *QuantisationSession) HasNoQuantisers() bool { return q.net.HasNoQuantisers() }

// MixedBitsTargets returns the things for which a quantise.MixedBits holds bits: those of activations and those of
// weights, each in the order of the MixedBits.
func (q *QuantisationSession) MixedBitsTargets() (activations, weights []quantise.MixedBitsTarget) {
	return q.net.MixedBitsTargets()
}

// QuantisedFloatReference returns a function that runs, in float64, the model quantised by a recipe. A value at the
// boundary of two codes may get another code than in the layers. So it shows the cost of formats, and proves nothing.
func (q *QuantisationSession) QuantisedFloatReference(r QuantisationRecipe) (dataflow.ReferenceFunc, error) {
	g, err := q.net.BuildQuantisedGraph(r)
	if err != nil {
		return nil, err
	}
	var told diag.List
	p := prepared(g, q.file, q.bind, &told)
	if p == nil {
		return nil, errors.New("the quantised model cannot be read")
	}
	part, err := float.NewEvaluator(p, inputNames(p), outputNames(p))
	if err != nil {
		return nil, err
	}
	part.UseGoroutines(runtime.GOMAXPROCS(0))
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) { return floatResults(p, part, in) }, nil
}

// QuantisedONNXFile returns the model quantised by a recipe, as the bytes of an ONNX file, and a description of the
// changes. It returns nil after adding errors to d.
func (q *QuantisationSession) QuantisedONNXFile(r QuantisationRecipe, d *diag.List) (onnx []byte, story string) {
	g, err := q.net.BuildQuantisedGraph(r)
	if err == nil {
		g.Producer = "hlsgen"
		onnx, err = onnxio.EncodeGraph(g, nil)
	}
	if err != nil {
		q.fail(fmt.Errorf("%w", err), d)
		return nil, ""
	}
	return onnx, q.net.DescribeChanges(r)
}
