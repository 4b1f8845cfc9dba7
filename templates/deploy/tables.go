package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/num"
)

// A tablesView is host.json as C++.
type tablesView struct {
	Top, Hash, Shortest, Longest, Inputs, Outputs, In, Out string
	Tables                                                 []tableView
}

type tableView struct{ Type, Name, Text string }

// tables are the C++ tables of a host.json without parts that JSON cannot hold.
func (h *Host) tables() tablesView {
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
	v.add("tensor", "input", input)
	v.add("sent", "sends", sent)
	v.add("received", "receives", received)
	v.add("result", "results", results)
	return v
}

// add adds a table, and is its name; an empty one is nullptr.
func (v *tablesView) add(kind, name string, items []string) string {
	if len(items) == 0 {
		return "nullptr"
	}
	var text strings.Builder
	for i, item := range items {
		if i%16 == 0 {
			text.WriteString("\n    ")
		}
		text.WriteString(item)
		text.WriteString(", ")
	}
	v.Tables = append(v.Tables, tableView{kind, name, strings.TrimSuffix(text.String(), ", ") + "\n"})
	return name
}

func (v *tablesView) sent(name string, s Send) string {
	quantisers, values, lo, hi := "nullptr", "nullptr", int64(0), int64(0)
	if s.Integers != nil {
		lo, hi = s.Integers.Lo, s.Integers.Hi
		values = v.add("double", name+"_values", texts(s.Integers.Values, float))
	}
	var list []string
	for k, q := range s.Quantise {
		of := fmt.Sprintf("%s_%d", name, k)
		list = append(list, fmt.Sprintf("{%s, %d, %s}", v.add("float", of+"_at", texts(q.Thresholds, single)),
			len(q.Thresholds), v.add("std::int64_t", of+"_codes", texts(q.Codes, integer))))
	}
	if list != nil {
		quantisers = v.add("quantiser", name+"_quantisers", list)
	}
	return fmt.Sprintf("{%s, %d, %s, %s, %s, %s, %s, %s}", s.cpp(), s.Input,
		v.add("std::int32_t", name+"_index", texts(s.Index, short)),
		v.add("std::int32_t", name+"_which", texts(s.Which, short)),
		quantisers, integer(lo), integer(hi), values)
}

func (v *tablesView) result(name string, r *Result, t Tensor) string {
	var list []string
	for k, m := range r.Mean {
		of := fmt.Sprintf("%s_%d", name, k)
		codes := slices.Sorted(maps.Keys(m.Except))
		var means []float64
		for _, c := range codes {
			means = append(means, m.Except[c])
		}
		list = append(list, fmt.Sprintf("{%s, %s, %s, %s, %d, %s, %s}", integer(m.Lo),
			v.add("double", of+"_values", texts(m.Values, float)), float(m.Scale), float(m.Bias), len(codes),
			v.add("std::int64_t", of+"_codes", texts(codes, integer)),
			v.add("double", of+"_means", texts(means, float))))
	}
	return fmt.Sprintf("{%s, %t, %t, %s, %s, %s}", t.cpp(), t.DType == "float32", r.Time,
		v.add("std::int32_t", name+"_index", texts(r.Index, short)),
		v.add("std::int32_t", name+"_which", texts(r.Which, short)),
		v.add("meaning", name+"_mean", list))
}

func (t Tensor) cpp() string {
	elements, inner := 1, 1
	for axis, n := range t.Shape {
		if axis != t.Time {
			elements *= n
		}
		if t.Time >= 0 && axis > t.Time {
			inner *= n
		}
	}
	return fmt.Sprintf("{%s, %d, %t, %d}", quoted(t.Name), elements, t.Time >= 0, inner)
}

func (s Stream) cpp() string {
	kind := "natural"
	switch {
	case s.kind == num.Bipolar:
		kind = "bipolar"
	case s.kind != num.UInt:
		kind = "integer"
	}
	return fmt.Sprintf("{%s, kinds::%s, %d, %d, %d, %d}", quoted(s.Port), kind, s.Bits, s.PerWord, s.Bytes, s.Words)
}

func texts[T any](list []T, text func(T) string) []string {
	var out []string
	for _, v := range list {
		out = append(out, text(v))
	}
	return out
}

func short(v int32) string { return strconv.Itoa(int(v)) }

// integer spells the least one, too, which has no literal.
func integer(v int64) string {
	if v == -1<<63 {
		return "-9223372036854775807LL - 1"
	}
	return strconv.FormatInt(v, 10) + "LL"
}

// float is a double, to the last bit.
func float(v float64) string { return strconv.FormatFloat(v, 'x', -1, 64) }

func single(v float64) string { return float(v) + "f" }

// quoted is a name of the model as a C++ string: what is not plain text is spelled in octal, which ends after three
// digits.
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
