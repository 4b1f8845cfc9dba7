package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// A CellFormat is one quantiser of an LSTM cell, as QONNX's Quant has it.
type CellFormat struct {
	Scale    float64 // a float32, above 0
	Zero     float64 // zero point, a whole number
	Bits     int     // 2 to 16
	Signed   bool
	Narrow   bool
	Rounding string // QONNX's name, in capitals
}

// A CellFormats is the eleven quantisers of an LSTM cell, in the order in which Brevitas has them.
type CellFormats [11]CellFormat

// The quantisers of a cell.
const (
	FormatOutput = iota
	FormatCellState
	FormatInputAcc
	FormatForgetAcc
	FormatCellAcc
	FormatOutputAcc
	FormatInputSigmoid
	FormatForgetSigmoid
	FormatCellTanh
	FormatOutputSigmoid
	FormatHiddenStateTanh
)

// FormatNames are the quantisers' names, those of the attributes of QuantLSTMCell.
var FormatNames = [11]string{"output", "cell_state", "input_acc", "forget_acc", "cell_acc", "output_acc",
	"input_sigmoid", "forget_sigmoid", "cell_tanh", "output_sigmoid", "hidden_state_tanh"}

// EveryCell is the name under which formats serve every LSTM node that is not named itself.
const EveryCell = "*"

// formatJSON is a CellFormat in a file.
type formatJSON struct {
	Scale     *float64 `json:"scale"`
	ZeroPoint float64  `json:"zero_point"`
	Bits      *int     `json:"bits"`
	Signed    *bool    `json:"signed"`
	Narrow    bool     `json:"narrow"`
	Rounding  string   `json:"rounding"`
}

// ParseFormats reads the file of --lstm-config: node names, or "*" for all others, each with the eleven quantisers
//
//	{"*": {"output": {"scale": 0.0078125, "zero_point": 0, "bits": 8, "signed": true, "narrow": false, "rounding": "ROUND"}, "cell_state": ...}}
//
// where zero_point, narrow and rounding may be left out. The error names the place.
func ParseFormats(b []byte) (map[string]CellFormats, error) {
	var file map[string]map[string]json.RawMessage
	if err := strict(b, &file); err != nil {
		return nil, err
	}
	if len(file) == 0 {
		return nil, fmt.Errorf("it names no node: use %q for every LSTM", EveryCell)
	}
	out := map[string]CellFormats{}
	for _, node := range slices.Sorted(maps.Keys(file)) {
		var cell CellFormats
		for _, name := range slices.Sorted(maps.Keys(file[node])) {
			k := slices.Index(FormatNames[:], name)
			if k < 0 {
				return nil, fmt.Errorf("%q: %q is no quantiser of an LSTM cell: they are %s", node, name,
					strings.Join(FormatNames[:], ", "))
			}
			var err error
			if cell[k], err = parseFormat(file[node][name]); err != nil {
				return nil, fmt.Errorf("%q, %s: %w", node, name, err)
			}
		}
		for k, f := range cell {
			if f.Bits == 0 {
				return nil, fmt.Errorf("%q: the quantiser %s is missing", node, FormatNames[k])
			}
		}
		out[node] = cell
	}
	return out, nil
}

// strict reads one JSON value without unknown fields and without anything behind it.
func strict(b []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("there is more behind the end")
	}
	return nil
}

func parseFormat(b []byte) (CellFormat, error) {
	var j formatJSON
	if err := strict(b, &j); err != nil {
		return CellFormat{}, err
	}
	if j.Scale == nil || j.Bits == nil || j.Signed == nil {
		return CellFormat{}, fmt.Errorf("scale, bits and signed are needed")
	}
	f := CellFormat{Scale: float64(float32(*j.Scale)), Zero: j.ZeroPoint, Bits: *j.Bits, Signed: *j.Signed,
		Narrow: j.Narrow, Rounding: strings.ToUpper(j.Rounding)}
	if f.Rounding == "" {
		f.Rounding = "ROUND"
	}
	if _, err := real.ParseRounding(f.Rounding); err != nil {
		return f, err
	}
	switch {
	case !(f.Scale > 0) || math.IsInf(f.Scale, 0):
		return f, fmt.Errorf("the scale is %g, want a float32 above 0", *j.Scale)
	case f.Bits < 2 || f.Bits > 16:
		return f, fmt.Errorf("bits are %d, want 2 to 16", f.Bits)
	case f.Zero != math.Trunc(f.Zero) || math.Abs(f.Zero) > 1<<16:
		return f, fmt.Errorf("the zero point is %g, want a whole number", f.Zero)
	}
	return f, nil
}

// FormatFormats writes what ParseFormats reads, one quantiser per line.
func FormatFormats(cells map[string]CellFormats) []byte {
	var b bytes.Buffer
	b.WriteString("{\n")
	for i, node := range slices.Sorted(maps.Keys(cells)) {
		name, _ := json.Marshal(node)
		fmt.Fprintf(&b, "  %s: {\n", name)
		for k, f := range cells[node] {
			fmt.Fprintf(&b, `    %q: {"scale": %v, "zero_point": %v, "bits": %d, "signed": %t, "narrow": %t, "rounding": %q}%s`+"\n",
				FormatNames[k], f.Scale, f.Zero, f.Bits, f.Signed, f.Narrow, f.Rounding, comma(k, len(cells[node])))
		}
		fmt.Fprintf(&b, "  }%s\n", comma(i, len(cells)))
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

// reaches reports whether values from -v to v fit a format well: the largest code is near v, within a factor of two.
func (f CellFormat) reaches(v float64) bool {
	_, hi := codeLimits(float64(f.Bits), f.Signed, f.Narrow)
	most := f.Scale * hi
	return f.Signed && v/2 <= most && most <= 2*v
}

// SuggestFormats is a configuration to start from for a cell of real-valued gates, in a canonical program: the output
// as the quantiser in front of the LSTM has it, as with Brevitas, so that both have one scale where they are added up;
// where that one does not suit values from -1 to 1, as the quantiser behind has it. The rest is as is common for sums
// of a few units.
func SuggestFormats(p *Program, cell *Step) map[string]CellFormats {
	unit := func(bits int, signed bool) CellFormat {
		frac := bits
		if signed {
			frac--
		}
		return CellFormat{Scale: math.Ldexp(1, -frac), Bits: bits, Signed: signed, Rounding: "ROUND"}
	}
	acc, gate, tanh := CellFormat{Scale: 1. / 64, Bits: 10, Signed: true, Rounding: "ROUND"}, unit(8, false),
		unit(8, true)
	cells := CellFormats{FormatCellState: {Scale: 1. / 256, Bits: 12, Signed: true, Rounding: "ROUND"},
		FormatInputAcc: acc, FormatForgetAcc: acc, FormatCellAcc: acc, FormatOutputAcc: acc,
		FormatInputSigmoid: gate, FormatForgetSigmoid: gate, FormatOutputSigmoid: gate, FormatCellTanh: tanh,
		FormatHiddenStateTanh: tanh}
	cells[FormatOutput] = tanh
	if f, ok := p.quantiserBefore(cell.Node.Inputs[cell.Recur.States]); ok && f.reaches(1) {
		cells[FormatOutput] = f
	} else if f, ok := p.quantiserBehind(cell.Node.Outputs); ok {
		cells[FormatOutput] = f
	}
	return map[string]CellFormats{cell.Node.Label(): cells}
}

// FormatsNeeded tells the user that a cell of real-valued gates has no layer, and gives a configuration to start from.
func FormatsNeeded(p *Program, cell *Step) diag.Diag {
	return diag.Diag{Severity: diag.Error, Code: diag.LSTMFormats, Node: cell.Node.Label(), Op: cell.Node.FullOp(),
		Where: Where(p.File, cell.Node),
		Msg:   "its gates are real numbers: ONNX' LSTM has no place for the formats of its gates and its cell state",
		Hint: "give them with --lstm-config FILE, and measure the accuracy of the model that this makes; or export " +
			"quantised cells (Brevitas: QuantLSTM, export_qonnx). To start from:",
		Text: string(FormatFormats(SuggestFormats(p, cell)))}
}

// quantiserBehind finds the quantiser that a tensor is only moved to.
func (p *Program) quantiserBehind(tensors []string) (CellFormat, bool) {
	for len(tensors) > 0 {
		t := tensors[0]
		tensors = tensors[1:]
		for _, r := range p.Readers(t) {
			if f, ok := p.format(r); ok {
				return f, true
			}
			if r.Move != nil {
				tensors = append(tensors, r.Output)
			}
		}
	}
	return CellFormat{}, false
}

// quantiserBefore finds the quantiser of whose codes a tensor is the values.
func (p *Program) quantiserBefore(tensor string) (CellFormat, bool) {
	for s := p.Producer(tensor); s != nil; s = p.Producer(s.Node.Inputs[0]) {
		if f, ok := p.format(s); ok {
			return f, true
		}
		if s.Elem != nil && !s.Node.Is(ofCodes) || s.Elem == nil && s.Move == nil {
			break
		}
	}
	return CellFormat{}, false
}

// format is that of a Code with one scale.
func (p *Program) format(s *Step) (CellFormat, bool) {
	lo, hi, ok := s.Node.Codes()
	if !ok || !s.Node.Is(Uniform) {
		return CellFormat{}, false
	}
	scale, zero := p.Known[s.Node.Inputs[1]].Const, p.Known[s.Node.Inputs[2]].Const
	if scale == nil || zero == nil || scale.Len() != 1 || zero.Len() != 1 || zero.At(0) != 0 {
		return CellFormat{}, false
	}
	f := CellFormat{Scale: scale.At(0), Bits: 2, Signed: lo < 0, Rounding: "ROUND"}
	for ; f.Bits < 16; f.Bits++ {
		if a, b := codeLimits(float64(f.Bits), f.Signed, false); a <= lo && hi <= b {
			break
		}
	}
	a, b := codeLimits(float64(f.Bits), f.Signed, true)
	f.Narrow = a == lo && b == hi
	return f, true
}
