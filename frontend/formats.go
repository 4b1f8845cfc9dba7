package frontend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
)

// CellFormatsFile describes the quantisers of the gates of ONNX' recurrent operators, as read from a file.
type CellFormatsFile = operators.CellFormatsFile

// These are the names of the flags with which a user names files of formats.
const (
	LSTMFormatsFlag = operators.LSTMFormatsFlag
	CellFormatsFlag = operators.CellFormatsFlag
)

// ParseCellFormats parses b, the content of the file that a flag names, LSTMFormatsFlag or CellFormatsFlag.
// operators.ParseCellFormats describes the file's form.
func ParseCellFormats(flag string, b []byte) (CellFormatsFile, error) {
	return operators.ParseCellFormats(flag, b)
}

// bind returns the options for everything that the file leaves open: the sizes of dynamic axes, which of them are time,
// and the formats of cells. It notes in d which nodes get formats, and adds errors for formats that do not fit their
// node or that no node takes.
func (o Options) bind(g *graph.Graph, file string, d *diag.List) operators.Options {
	bind := operators.Options{Dims: o.Dims, Data: o.Data, Cells: o.Cells}
	used := map[string]bool{}
	for _, n := range g.Nodes {
		if !operators.HasTrait(n, operators.TraitNeedsCellFormats) {
			continue
		}
		var by []string
		say := diag.Diag{Code: operators.DiagnosticCodeForCellFormats(n), Node: n.Label(), Op: n.QualifiedOpName(),
			Where: operators.NodePositionText(file,
				n)}
		for _, f := range o.Cells {
			cell, name, ok := f.FormatsOfNode(n)
			if !ok {
				continue
			}
			by = append(by, f.Flag)
			used[f.Flag+name] = true
			say.Severity, say.Hint = diag.SeverityError, "the diagnostic without "+f.Flag+" has a file to start from"
			if what := cell.MismatchReason(n); what != "" {
				say.Msg = fmt.Sprintf("its formats in %s, under %q: %s", f.Flag, name, what)
				d.Add(say)
				continue
			}
			say.Severity, say.Hint = diag.SeverityNote,
				"what the engines agree on is the changed model: measure its accuracy"
			say.Msg = fmt.Sprintf("the gates of this %s are quantised as %s says under %q, which changes the model",
				n.QualifiedOpName(), f.Flag, name)
			d.Add(say)
		}
		if len(by) > 1 {
			say.Severity, say.Hint = diag.SeverityError, "leave it out of one of the files"
			say.Msg = strings.Join(by, " and ") + " both have formats for it"
			d.Add(say)
		}
	}
	o.unused(used, file, d)
	return axes.OptionsWithSequenceInputs(bind, g, file)
}

// unused adds errors for formats that name a node which does not exist. A wildcard without a node gives a note only,
// because one file may serve several models.
func (o Options) unused(used map[string]bool, file string, d *diag.List) {
	for _, f := range o.Cells {
		of := strings.Join(f.ApplicableOperators(), " or ")
		for _, name := range slices.Sorted(maps.Keys(f.Cells)) {
			if used[f.Flag+name] {
				continue
			}
			if operators.IsWildcard(name) {
				d.Add(diag.Diag{Severity: diag.SeverityNote, Code: f.DiagnosticCode(), Where: file,
					Msg: fmt.Sprintf("%s has formats for %q, and this model has no node left that takes them", f.Flag,
						name)})
				continue
			}
			d.Add(diag.Diag{Severity: diag.SeverityError, Code: f.DiagnosticCode(), Where: file,
				Msg: fmt.Sprintf("%s has formats for %q, which no %s of this model takes", f.Flag, name, of),
				Hint: fmt.Sprintf("use the name of an %s node, or %q for all of them; other operators have their "+
					"formats in the model", of, operators.EveryNodeWildcard)})
		}
	}
}
