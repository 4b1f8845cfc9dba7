package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/num"
)

// A tablesView holds what host.hpp.tpl needs: host.json as C++ tables.
type tablesView struct {
	Top, Hash, Shortest, Longest, Inputs, Outputs, In, Out string
	Tables                                                 []tableView
}

// A tableView is a table of C++: the type of its elements, its name and its text.
type tableView struct{ Type, Name, Text string }

// tables returns the contents of host.json as C++ tables.
func (h *HostFile) tables() tablesView {
	v := tablesView{Top: h.Top, Hash: h.Hash, Shortest: "0", Longest: "0", Inputs: strconv.Itoa(len(h.Inputs)),
		Outputs: strconv.Itoa(len(h.Outputs)), In: strconv.Itoa(len(h.Send)), Out: strconv.Itoa(len(h.Receive))}
	if h.Steps != nil {
		v.Shortest, v.Longest = strconv.Itoa(h.Steps.Min), strconv.Itoa(h.Steps.Max)
	}
	var sent, received, results, input []string
	for _, t := range h.Inputs {
		input = append(input, t.cpp())
	}
	for k, s := range h.Send {
		sent = append(sent, v.sent(fmt.Sprintf("sent%d", k), s))
	}
	for _, r := range h.Receive {
		received = append(received, fmt.Sprintf("{%s, %t}", r.cpp(), r.Time))
	}
	for k, r := range h.Results {
		results = append(results, v.result(fmt.Sprintf("result%d", k), &r, h.Outputs[k]))
	}
	add(&v, "tensor", "input", input, text)
	add(&v, "sent", "sends", sent, text)
	add(&v, "received", "receives", received, text)
	add(&v, "result", "results", results, text)
	return v
}

// add adds a table of C++ with the given items, as spell appends them to a text, and returns its name. It returns
// "nullptr" if there are no items.
func add[T any](v *tablesView, kind, name string, items []T, spell func(to []byte, item T) []byte) string {
	if len(items) == 0 {
		return "nullptr"
	}
	var text strings.Builder
	var spelled []byte
	for i, item := range items {
		if i > 0 {
			text.WriteString(", ")
		}
		if i%16 == 0 {
			text.WriteString("\n    ")
		}
		spelled = spell(spelled[:0], item)
		text.Write(spelled)
	}
	text.WriteByte('\n')
	v.Tables = append(v.Tables, tableView{kind, name, text.String()})
	return name
}

// sent adds the tables of the stream s under names that begin with name, and returns its initializer in C++.
func (v *tablesView) sent(name string, s InputStream) string {
	quantisers, values, within, lo, hi := "nullptr", "nullptr", "nullptr", int64(0), int64(0)
	if s.Integers != nil {
		lo, hi = s.Integers.Lo, s.Integers.Hi
		values = add(v, "double", name+"_values", s.Integers.Values, float)
		within = add(v, "double", name+"_within", s.Integers.Within, float)
	}
	var list []string
	for k, q := range s.Quantise {
		of := fmt.Sprintf("%s_%d", name, k)
		list = append(list, fmt.Sprintf("{%s, %d, %s}", add(v, "double", of+"_at", q.Thresholds, float),
			len(q.Thresholds), add(v, "std::int64_t", of+"_codes", q.Codes, integer)))
	}
	if list != nil {
		quantisers = add(v, "quantiser", name+"_quantisers", list, text)
	}
	return fmt.Sprintf("{%s, %d, %s, %s, %s, %s, %s, %s, %s}", s.cpp(), s.Input,
		add(v, "std::int32_t", name+"_index", s.Index, short),
		add(v, "std::int32_t", name+"_which", s.Which, short),
		quantisers, integer(nil, lo), integer(nil, hi), values, within)
}

// result adds the tables of an output t, computed by r, under names that begin with name. It returns its initializer in
// C++.
func (v *tablesView) result(name string, r *OutputDequantisation, t HostTensor) string {
	var list []string
	for k, m := range r.Mean {
		of := fmt.Sprintf("%s_%d", name, k)
		codes := slices.Sorted(maps.Keys(m.Except))
		var means []float64
		for _, c := range codes {
			means = append(means, m.Except[c])
		}
		list = append(list, fmt.Sprintf("{%s, %s, %s, %s, %s, %d, %s, %s}", integer(nil, m.Lo),
			integer(nil, m.Hi), add(v, "double", of+"_values", m.Values, float), float(nil, m.Scale),
			float(nil, m.Bias), len(codes),
			add(v, "std::int64_t", of+"_codes", codes, integer),
			add(v, "double", of+"_means", means, float)))
	}
	return fmt.Sprintf("{%s, %t, %t, %s, %s, %s}", t.cpp(), t.DType == "float32", r.Time,
		add(v, "std::int32_t", name+"_index", r.Index, short),
		add(v, "std::int32_t", name+"_which", r.Which, short),
		add(v, "meaning", name+"_mean", list, text))
}

// cpp returns the initializer of the tensor in C++.
func (t HostTensor) cpp() string {
	elements, inner := 1, 1
	for axis, n := range t.Shape {
		if axis != t.Time {
			elements *= n
		}
		if t.Time >= 0 && axis > t.Time {
			inner *= n
		}
	}
	f, real := num.FloatFormatNamed(t.DType)
	if !real || f == num.Float64Format {
		f = num.FloatFormat{}
	}
	return fmt.Sprintf("{%s, %d, %t, %d, %d, %d, %s}", quoted(t.Name), elements, t.Time >= 0, inner, f.Digits, f.Least,
		float(nil, f.Max))
}

// cpp returns the initializer of the stream in C++.
func (s HostStream) cpp() string {
	kind := "natural"
	switch {
	case s.kind == num.KindBipolar:
		kind = "bipolar"
	case s.kind != num.KindUInt:
		kind = "integer"
	}
	return fmt.Sprintf("{%s, kinds::%s, %d, %d, %d, %d}", quoted(s.Port), kind, s.Bits, s.PerWord, s.Bytes, s.Words)
}

// text appends s to a text.
func text(to []byte, s string) []byte { return append(to, s...) }

// short appends a small integer in decimal digits.
func short(to []byte, v int32) []byte { return strconv.AppendInt(to, int64(v), 10) }

// integer appends an integer constant of C++. The least int64 has no literal, so it is written as a difference.
func integer(to []byte, v int64) []byte {
	if v == -1<<63 {
		return append(to, "-9223372036854775807LL - 1"...)
	}
	return append(strconv.AppendInt(to, v, 10), "LL"...)
}

// float appends a double constant of C++ in hexadecimal, which is exact.
func float(to []byte, v float64) []byte { return strconv.AppendFloat(to, v, 'x', -1, 64) }

// quoted returns a name of the model as a C++ string. Characters that are not plain text become octal escapes, which
// always end after three digits.
func quoted(s string) string {
	var text strings.Builder
	text.WriteByte('"')
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || strings.IndexByte(`"\?`, c) >= 0 {
			fmt.Fprintf(&text, "\\%03o", c)
			continue
		}
		text.WriteByte(c)
	}
	text.WriteByte('"')
	return text.String()
}
