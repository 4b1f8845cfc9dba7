package frontend

import (
	"fmt"
	"slices"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// sample returns the program for a single sample if the file or the user fixes a batch of several, and the program of g
// otherwise. It returns nil after adding errors to d. It updates bind to match. A note tells the user which axis counts
// as the batch, unless the axis is time or does not look like a batch.
func sample(g *graph.Graph, file string, bind *operators.Options, d *diag.List) (*program.Program,
	*axes.BatchAxisCandidate) {
	p, b := oneSample(g, file, bind, d)
	if p == nil || !declaredAs(p, file, d) {
		return nil, b
	}
	return p, b
}

// declaredAs returns true if each output has the type that the file declares, and one that NumPy has. It adds errors
// for the others to d.
func declaredAs(p *program.Program, file string, d *diag.List) bool {
	ok := true
	for _, o := range p.Graph.Outputs {
		is := p.Known[o.Name].DType
		say := diag.Diag{Severity: diag.SeverityError, Node: o.Name, Op: "output", Where: file}
		switch {
		case o.DType != graph.DTypeUndefined && is != o.DType:
			say.Code = diag.ModelMalformed
			say.Msg = fmt.Sprintf("it is declared as %s, but the graph gives %s", o.DType, is)
			say.Hint = "declare the output as what the graph gives, or end the graph with a Cast: check the exporter"
		case !is.IsNumPyWritable():
			say.Code = diag.OpUnsupported
			say.Msg = fmt.Sprintf("its type is %s, which no array of NumPy holds", is)
			say.Hint = "end the graph with a Cast to FLOAT"
		default:
			continue
		}
		ok = false
		d.Add(say)
	}
	return ok
}

// oneSample implements sample, but does not check the types of the outputs.
func oneSample(g *graph.Graph, file string, bind *operators.Options, d *diag.List) (*program.Program,
	*axes.BatchAxisCandidate) {
	g, *bind = bind.BindLeadingAxes(g)
	b := axes.FindBatchAxisCandidate(*bind, g, file)
	if b == nil {
		return prepared(g, file, *bind, d), nil
	}
	n := b.Size
	say := diag.Diag{
		Severity: diag.SeverityNote,
		Code:     diag.InputBatchFixed,
		Node:     b.Inputs[0],
		Op:       "input",
		Where:    file,
		Hint:     fmt.Sprintf("data in the model's own shape are %d samples; any other number of them will do, too", n),
	}
	say.Msg = fmt.Sprintf("its %s axis counts samples, %d at a time: a frame of the accelerator is one of them",
		ordinal(b.Axes[b.Inputs[0]]), n)
	if b.Sample != nil {
		d.Add(say)
		g = b.Sample
	}
	if b.Sample == nil && b.Apart {
		say.Severity, say.Code = diag.SeverityError, diag.SequenceLengthsUnfit
		say.Msg = fmt.Sprintf("its %s axis has %d samples, each of a length of its own, which are not apart: %s",
			ordinal(b.Axes[b.Inputs[0]]), n, reason(b))
		say.Hint = "export the model with one sample: data may have any number of them"
		d.Add(say)
		return nil, b
	}
	if b.Sample == nil && b.Vectors && !b.Time {
		say.Severity = diag.SeverityWarning
		say.Msg = fmt.Sprintf("its first axis is no batch, but %d vectors of one frame: %s", n, reason(b))
		say.Hint = "if it was meant to count samples, export the model with a batch of 1 or a dynamic one. " +
			"Else all is as the model says"
		d.Add(say)
	}
	if b.Used != nil {
		return b.Used, b
	}
	return prepared(g, file, *bind, d), b
}

// ordinal returns the name of an axis in a message: first, second, third, 4th.
func ordinal(axis int) string {
	if names := []string{"first", "second", "third"}; axis < len(names) {
		return names[axis]
	}
	return fmt.Sprintf("%dth", axis+1)
}

// prepared returns the program of a graph, or nil after adding errors to d.
func prepared(g *graph.Graph, file string, bind operators.Options, d *diag.List) *program.Program {
	before := len(d.Diags)
	p := operators.Prepare(g, file, bind, d)
	if p == nil {
		tooMany(g, d.Diags[before:])
	}
	return p
}

// reason returns the reason, as text, why an axis does not count samples.
func reason(b *axes.BatchAxisCandidate) string {
	switch {
	case b.Node == nil:
		return "the model's outputs do not lie sample by sample"
	case b.Mixes:
		return fmt.Sprintf("%s %q computes with several of them at a time", b.Node.QualifiedOpName(), b.Node.Label())
	}
	return fmt.Sprintf("%s %q does not do the same with each of them", b.Node.QualifiedOpName(), b.Node.Label())
}

// whole records in m the shapes that the file's inputs and outputs have with the batch axis.
func whole(m *dataflow.Model, b *axes.BatchAxisCandidate) {
	if b == nil || b.Sample == nil {
		return
	}
	for k := range m.In {
		if in := &m.In[k]; slices.Contains(b.Inputs, in.Name) {
			in.Whole, in.Axis, in.Batch = b.Shapes[in.Name], b.Axes[in.Name], true
		}
	}
	for k := range m.Out {
		out := &m.Out[k]
		out.Whole, out.Axis = b.Shapes[out.Name], b.Axes[out.Name]
	}
}

// tooMany adds a note to the errors of a model that is too large: the number of samples may be the cause. The meaning
// of the axes is not known at that point, because finding it requires a prepared model.
func tooMany(g *graph.Graph, found []diag.Diag) {
	for i := range found {
		for _, in := range g.Inputs {
			if found[i].Code != diag.ModelTooLarge || !in.Known || len(in.Dims) < 2 || in.Dims[0].Size < 2 {
				continue
			}
			found[i].Notes = append(found[i].Notes, fmt.Sprintf("the first axis of input %q is fixed to %d: "+
				"if that counts samples, export the model with one", in.Name, in.Dims[0].Size))
		}
	}
}
