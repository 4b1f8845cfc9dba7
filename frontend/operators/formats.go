package operators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// A CellQuantiserFormat is one quantiser of a recurrent cell, with the parameters of QONNX' Quant.
type CellQuantiserFormat struct {
	Scale    float64 // a float32 above 0
	Zero     float64 // an integer
	Bits     int     // from 2 to 16
	Signed   bool
	Narrow   bool
	Rounding string // QONNX' name, in capitals
}

// A CellFormats holds the formats of a cell's quantisers, by their names, such as "output".
type CellFormats map[string]CellQuantiserFormat

// LSTMCellQuantiserNames lists the names of the quantisers of an LSTM's cell: the attributes of QuantLSTMCell, in their
// order.
var LSTMCellQuantiserNames = [11]string{"output", "cell_state", "input_acc", "forget_acc", "cell_acc", "output_acc",
	"input_sigmoid", "forget_sigmoid", "cell_tanh", "output_sigmoid", "hidden_state_tanh"}

// A CellFormatsFile holds the formats of cells' quantisers that one file contains.
type CellFormatsFile struct {
	Flag  string                 // the flag that names the file
	Cells map[string]CellFormats // by the node's label; EveryNodeWildcard and "OPERATOR:*" apply to other nodes
}

// EveryNodeWildcard is the name, in a file of formats, for every node that is not named itself. OPERATOR:* stands for
// such nodes of one operator.
const EveryNodeWildcard = "*"

// IsWildcard reports whether formats under this name apply to all nodes that are not named themselves, or to all such
// nodes of an operator.
func IsWildcard(name string) bool {
	return name == EveryNodeWildcard || strings.HasSuffix(name, ":"+EveryNodeWildcard)
}

// These flags name files of formats. CellFormatsFlag applies to all recurrent operators, LSTMFormatsFlag to LSTM alone.
const (
	LSTMFormatsFlag = "--lstm-config"
	CellFormatsFlag = "--cell-config"
)

// FormatsOfNode returns the formats of a recurrent node, and the name under which the file holds them. ok is false if
// the file has no formats for the node.
func (f CellFormatsFile) FormatsOfNode(n *graph.Node) (cell CellFormats, name string, ok bool) {
	if !slices.Contains(f.ApplicableOperators(), n.QualifiedOpName()) {
		return nil, "", false
	}
	for _, name := range []string{n.Label(), n.QualifiedOpName() + ":" + EveryNodeWildcard, EveryNodeWildcard} {
		if cell, ok := f.Cells[name]; ok {
			return cell, name, true
		}
	}
	return nil, "", false
}

// MismatchReason returns the reason why formats do not fit a node's cell, or "" if they fit. The node must be an LSTM,
// a GRU or an RNN.
func (f CellFormats) MismatchReason(n *graph.Node) string {
	k := cellKindOf(n)
	for _, name := range k.formats {
		if _, ok := f[name]; !ok {
			return fmt.Sprintf("the quantiser %s is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(k.formats, name) && !slices.Contains(k.more, name) {
			return fmt.Sprintf("%q is no quantiser of a cell of %s: they are %s", name, n.QualifiedOpName(),
				strings.Join(slices.Concat(k.formats, k.more), ", "))
		}
	}
	return ""
}

// formatJSON is the form of a CellQuantiserFormat in a file.
type formatJSON struct {
	Scale     *float64 `json:"scale"`
	ZeroPoint float64  `json:"zero_point"`
	Bits      *int     `json:"bits"`
	Signed    *bool    `json:"signed"`
	Narrow    bool     `json:"narrow"`
	Rounding  string   `json:"rounding"`
}

// ParseCellFormats parses b, the content of the file that a flag names. The file maps nodes to the quantisers of their
// cells. "GRU:*" stands for all other nodes of an operator, "*" for all other nodes:
//
//	{"*": {"output": {"scale": 0.0078125, "zero_point": 0, "bits": 8, "signed": true, "narrow": false,
//	                  "rounding": "ROUND"}, "hidden_acc": ...}}
//
// The fields zero_point, narrow and rounding are optional. The error names the place in the file.
func ParseCellFormats(flag string, b []byte) (CellFormatsFile, error) {
	out := CellFormatsFile{Flag: flag, Cells: map[string]CellFormats{}}
	var file map[string]map[string]json.RawMessage
	if err := strict(b, &file); err != nil {
		return out, err
	}
	of := strings.Join(out.ApplicableOperators(), " or ")
	if len(file) == 0 {
		return out, fmt.Errorf("it names no node: use %q for every %s", EveryNodeWildcard, of)
	}
	var known []string
	for _, op := range out.ApplicableOperators() {
		known = append(known, cells(op).formats...)
		known = append(known, cells(op).more...)
	}
	for _, node := range slices.Sorted(maps.Keys(file)) {
		cell := CellFormats{}
		for _, name := range slices.Sorted(maps.Keys(file[node])) {
			if !slices.Contains(known, name) {
				return out, fmt.Errorf("%q: %q is no quantiser of a cell of %s: they are %s", node, name, of,
					strings.Join(slices.Compact(slices.Sorted(slices.Values(known))), ", "))
			}
			var err error
			if cell[name], err = parseFormat(file[node][name]); err != nil {
				return out, fmt.Errorf("%q, %s: %w", node, name, err)
			}
		}
		out.Cells[node] = cell
	}
	return out, nil
}

// strict reads one JSON value. It returns an error for unknown fields, and for text after the value.
func strict(b []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return safefile.SimplifyJSONError(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("there is text after the end")
	}
	return nil
}

func parseFormat(b []byte) (CellQuantiserFormat, error) {
	var j formatJSON
	if err := strict(b, &j); err != nil {
		return CellQuantiserFormat{}, err
	}
	if j.Scale == nil || j.Bits == nil || j.Signed == nil {
		return CellQuantiserFormat{}, fmt.Errorf("scale, bits and signed are needed")
	}
	f := CellQuantiserFormat{Scale: float64(float32(*j.Scale)), Zero: j.ZeroPoint, Bits: *j.Bits, Signed: *j.Signed,
		Narrow: j.Narrow, Rounding: strings.ToUpper(j.Rounding)}
	if f.Rounding == "" {
		f.Rounding = "ROUND"
	}
	if _, err := real.ParseRoundingMode(f.Rounding); err != nil {
		return f, err
	}
	switch {
	case !(f.Scale > 0) || math.IsInf(f.Scale, 0):
		return f, fmt.Errorf("the scale is %g, want a float32 above 0", *j.Scale)
	case f.Bits < 2 || f.Bits > 16:
		return f, fmt.Errorf("bits are %d, want 2 to 16", f.Bits)
	case f.Zero != math.Trunc(f.Zero) || math.Abs(f.Zero) > 1<<16:
		return f, fmt.Errorf("the zero point is %g, want an integer", f.Zero)
	}
	return f, nil
}

// FileContent returns the formats in the form that ParseCellFormats reads, with one quantiser per line. The required
// quantisers of a cell come first, in the order of its table.
func (f CellFormatsFile) FileContent() []byte {
	var order []string
	for _, op := range f.ApplicableOperators() {
		order = append(append(order, cells(op).formats...), cells(op).more...)
	}
	var b bytes.Buffer
	b.WriteString("{\n")
	for i, node := range slices.Sorted(maps.Keys(f.Cells)) {
		label, _ := json.Marshal(node)
		fmt.Fprintf(&b, "  %s: {\n", label)
		cell := f.Cells[node]
		names := slices.SortedFunc(maps.Keys(cell), func(x, y string) int {
			return slices.Index(order, x) - slices.Index(order, y)
		})
		for k, name := range names {
			q := cell[name]
			fmt.Fprintf(&b, `    %q: {"scale": %v, "zero_point": %v, "bits": %d, "signed": %t, "narrow": %t, `, name,
				q.Scale, q.Zero, q.Bits, q.Signed, q.Narrow)
			fmt.Fprintf(&b, `"rounding": %q}%s`+"\n", q.Rounding, comma(k, len(names)))
		}
		fmt.Fprintf(&b, "  }%s\n", comma(i, len(f.Cells)))
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}

// reaches reports whether a format suits values from -v to v: its largest code stands for v, within a factor of two.
func (f CellQuantiserFormat) reaches(v float64) bool {
	_, hi := graph.CodeLimitsOfBits(float64(f.Bits), f.Signed, f.Narrow)
	most := f.Scale * hi
	return f.Signed && v/2 <= most && most <= 2*v
}

// suggested returns formats with which to start for a cell of real-valued gates. The output gets the format of the
// quantiser before the loop, as in Brevitas, so that both have one scale where they are added. If that format does not
// suit values from -1 to 1, it gets the format of the quantiser after the loop. The other formats are common ones for
// sums of a few units.
func suggested(p *program.Program, loop *program.Step) CellFormats {
	unit := func(bits int, signed bool) CellQuantiserFormat {
		frac := bits
		if signed {
			frac--
		}
		return CellQuantiserFormat{Scale: math.Ldexp(1, -frac), Bits: bits, Signed: signed, Rounding: "ROUND"}
	}
	acc := CellQuantiserFormat{Scale: 1. / 64, Bits: 10, Signed: true, Rounding: "ROUND"}
	output := unit(8, true)
	if f, ok := quantiserBefore(p, loop.Node.Inputs[loop.Recur.States]); ok && f.reaches(1) {
		output = f
	} else if f, ok := quantiserBehind(p, loop.Node.Outputs); ok {
		output = f
	}
	cell := CellFormats{}
	for _, name := range loop.Recur.RealGates {
		switch {
		case name == "cell_state":
			cell[name] = CellQuantiserFormat{Scale: 1. / 256, Bits: 12, Signed: true, Rounding: "ROUND"}
		case strings.HasSuffix(name, "_acc"):
			cell[name] = acc
		case strings.HasSuffix(name, "_sigmoid"):
			cell[name] = unit(8, false)
		case strings.HasSuffix(name, "_tanh"):
			cell[name] = unit(8, true)
		default: // the state, and its substitutes in a product
			cell[name] = output
		}
	}
	return cell
}

// NewCellFormatsNeededDiag returns the error for a cell of real-valued gates, which has no layer. Its text holds a
// configuration with which to start.
func NewCellFormatsNeededDiag(p *program.Program, loop *program.Step) diag.Diag {
	n := loop.Node
	f := CellFormatsFile{CellFormatsFlag, map[string]CellFormats{n.Label(): suggested(p, loop)}}
	d := diag.Diag{Severity: diag.SeverityError, Code: DiagnosticCodeForCellFormats(n), Node: n.Label(),
		Op:    n.QualifiedOpName(),
		Where: NodePositionText(p.File, n),
		Msg: fmt.Sprintf("its gates are real numbers: ONNX' %s has no place for the formats of its gates and its state",
			n.QualifiedOpName()),
		Hint: "write the cell as the body of a Scan, with a quantiser at every gate",
		Text: string(f.FileContent())}
	if d.Code == diag.LSTMGateFormatsMissing {
		f.Flag = LSTMFormatsFlag
		d.Msg = "its gates are real numbers: ONNX' LSTM has no place for the formats of its gates and its cell state"
		d.Hint = "export quantised cells (Brevitas: QuantLSTM, export_qonnx)"
	}
	d.Hint = "give samples with --calibrate FILE, which choose them, or formats with " + f.Flag + " FILE. " +
		"Measure the accuracy of the model that this makes. Or " + d.Hint + ". To start from:"
	return d
}

// quantiserBehind returns the format of a quantiser to which the tensors are only moved. It returns false if there is
// none.
func quantiserBehind(p *program.Program, tensors []string) (CellQuantiserFormat, bool) {
	for len(tensors) > 0 {
		t := tensors[0]
		tensors = tensors[1:]
		for _, r := range p.ReadersOf(t) {
			if f, ok := formatOf(p, r); ok {
				return f, true
			}
			if r.Move != nil {
				tensors = append(tensors, r.Output)
			}
		}
	}
	return CellQuantiserFormat{}, false
}

// quantiserBefore returns the format of the quantiser that gives the values of a tensor. It returns false if there is
// none.
func quantiserBefore(p *program.Program, tensor string) (CellQuantiserFormat, bool) {
	for s := p.ProducerOf(tensor); s != nil; s = p.ProducerOf(s.Node.Inputs[0]) {
		if f, ok := formatOf(p, s); ok {
			return f, true
		}
		if s.Elem != nil && !HasTrait(s.Node, ofCodes) || s.Elem == nil && s.Move == nil {
			break
		}
	}
	return CellQuantiserFormat{}, false
}

// formatOf returns the format of step s, if its node is the internal operator Code with one scale and zero point 0.
// Otherwise it returns false.
func formatOf(p *program.Program, s *program.Step) (CellQuantiserFormat, bool) {
	lo, hi, ok := CodeLimitsOfQuantiser(s.Node)
	if !ok || !HasTrait(s.Node, TraitUniformCodes) {
		return CellQuantiserFormat{}, false
	}
	scale, zero := p.Known[s.Node.Inputs[1]].Const, p.Known[s.Node.Inputs[2]].Const
	if scale == nil || zero == nil || scale.Len() != 1 || zero.Len() != 1 || zero.FloatAt(0) != 0 {
		return CellQuantiserFormat{}, false
	}
	f := CellQuantiserFormat{Scale: scale.FloatAt(0), Bits: 2, Signed: lo < 0, Rounding: "ROUND"}
	for ; f.Bits < 16; f.Bits++ {
		if a, b := graph.CodeLimitsOfBits(float64(f.Bits), f.Signed, false); a <= lo && hi <= b {
			break
		}
	}
	a, b := graph.CodeLimitsOfBits(float64(f.Bits), f.Signed, true)
	f.Narrow = a == lo && b == hi
	return f, true
}
