// Package models holds trained networks with the results of their own framework, for tests. There is a folder per
// network, and at least one network of each family that hlsgen builds. They were trained and exported with Brevitas
// for this project; NOTICE names the data.
//
// In comes a name, or nothing for all. Out come the paths of the files, the recorded results, and the expected outcome
// of an import.
//
// A folder has
//
//	*.onnx                        exports of one network: model.onnx is QONNX, qcdq.onnx has QuantizeLinear
//	inputs.npy, outputs.npy       samples, and Brevitas' results for them
//	consistent.npy                1 for each sample with the same codes in float32 and float64, whose result
//	                              must be reproduced; without this file, all results must be
//	intermediates.json, .npz      codes of quantisers by the tensor's name, for the first samples
//	lstm_codes.npz                codes of an LSTM's gates and states, for the samples of integer_consistent.npy
//	info.json                     family, data and training; whether and why an import is refused (Info)
//
// If HLSGEN_SHARED names a folder with more models, the same tests run on these too.
package models

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/tier"
)

// A Model is a folder with one network.
type Model struct {
	Name   string // name of its folder; for shared models with the folder above it (zoo/NAME)
	Dir    string // absolute
	Files  []string
	Shared bool // the model is in the folder of HLSGEN_SHARED
	Info   Info
}

// Info is the content of a model's info.json, as far as it concerns the import.
type Info struct {
	Family  string
	Refused diag.Code // error of an import; empty if the import gives a model
	LSTM    string    `json:"lstm_config"` // path of a file for --lstm-config, if the import needs one
}

// own lists the folders of this repository that hold models, by their paths below the root.
var own = []string{"internal/examples", "internal/testsupport/models"}

// sharedKinds lists the folders of HLSGEN_SHARED with models whose recorded outputs Recorded can read.
var sharedKinds = []string{"brevitas", "zoo"}

// InRepository returns the models in the folders of this repository.
func InRepository(t testing.TB) (list []Model) {
	t.Helper()
	for _, dir := range own {
		list = append(list, folders(t, filepath.Join(tier.Root(t), filepath.FromSlash(dir)), "")...)
	}
	return list
}

// All returns the models of the repository, then those of HLSGEN_SHARED.
func All(t testing.TB) []Model {
	t.Helper()
	list := InRepository(t)
	shared := tier.Shared(t)
	if shared == "" {
		return list
	}
	for _, kind := range sharedKinds {
		found := folders(t, filepath.Join(shared, "models", kind), kind)
		if len(found) == 0 {
			t.Fatalf("no models under %s", filepath.Join(shared, "models", kind))
		}
		list = append(list, found...)
	}
	return list
}

// Find returns the model of the repository with this name. It ends the test if there is none.
func Find(t testing.TB, name string) Model {
	t.Helper()
	list := InRepository(t)
	i := slices.IndexFunc(list, func(m Model) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no model of the repository is called %s", name)
	}
	return list[i]
}

// HavingFile returns the models that have a file with this name.
func HavingFile(t testing.TB, file string) (list []Model) {
	t.Helper()
	for _, m := range All(t) {
		if m.has(file) {
			list = append(list, m)
		}
	}
	return list
}

// folders returns the models below dir. kind is the name of the shared folder, or "" for models of the repository.
func folders(t testing.TB, dir, kind string) (list []Model) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		at, file := filepath.Split(path)
		at = filepath.Clean(at)
		if n := len(list); n > 0 && list[n-1].Dir == at {
			list[n-1].Files = append(list[n-1].Files, file)
			continue
		}
		m := Model{Name: filepath.Base(at), Dir: at, Files: []string{file}, Shared: kind != ""}
		if m.Shared {
			m.Name = kind + "/" + m.Name
		}
		if m.has("info.json") {
			m.json(t, "info.json", &m.Info)
		}
		list = append(list, m)
	}
	return list
}

// Path returns the path of the model's file with this name, whether it exists or not.
func (m Model) Path(file string) string { return filepath.Join(m.Dir, file) }

// has reports whether the model has a file with this name.
func (m Model) has(file string) bool {
	_, err := os.Stat(m.Path(file))
	return err == nil
}

// Read returns the contents of a file of the model. It ends the test if there is none.
func (m Model) Read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(m.Path(file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// json decodes a JSON file of the model into v. It ends the test if that fails.
func (m Model) json(t testing.TB, file string, v any) {
	t.Helper()
	if err := json.Unmarshal(m.Read(t, file), v); err != nil {
		t.Fatalf("%s: %v", m.Path(file), err)
	}
}

// Arrays returns the arrays in an .npy or .npz file of the model, by name; that of an .npy file has the name "".
func (m Model) Arrays(t testing.TB, file string) map[string]*npy.Array {
	t.Helper()
	arrays, err := npy.ReadArrays(m.Path(file))
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

// Array returns the only array in a file of the model.
func (m Model) Array(t testing.TB, file string) *npy.Array {
	t.Helper()
	arrays := m.Arrays(t, file)
	if len(arrays) != 1 {
		t.Fatalf("%s holds %d arrays", m.Path(file), len(arrays))
	}
	for _, a := range arrays {
		return a
	}
	return nil
}

// Expect returns the expected outcome of importing a file: the error, or the formats for gates that the import
// needs, if any. For a shared model without this metadata, it derives the outcome from the model's operators.
func (m Model) Expect(t testing.TB, file string) (refused diag.Code, formats []byte) {
	t.Helper()
	info := m.Info
	if m.Shared {
		info = byOperators(m.Read(t, file))
	}
	if info.LSTM == "" {
		return info.Refused, nil
	}
	dir := m.Dir
	if m.Shared {
		dir = filepath.Join(tier.Root(t), "internal", "testsupport", "models", "shared")
	}
	formats, err := os.ReadFile(filepath.Join(dir, info.LSTM))
	if err != nil {
		t.Fatal(err)
	}
	return info.Refused, formats
}

// Recurrent lists the operators that run a body for each element of a sequence.
var Recurrent = []string{"Scan", "Loop", "LSTM", "GRU", "RNN", "QuantLSTMCell"}

// TierAllows reports whether the tier has time for a file. The quick tier has time only for small files without
// recurrences.
func (m Model) TierAllows(t testing.TB, file string) bool {
	t.Helper()
	const small = 48 << 10 // bytes
	return !tier.Quick() || len(m.Read(t, file)) <= small && !m.HasOp(t, file, Recurrent...)
}

// HasOp reports whether a file has a node with one of these operators.
func (m Model) HasOp(t testing.TB, file string, ops ...string) bool {
	t.Helper()
	return hasOp(m.Read(t, file), ops...)
}

// hasOp reports whether an ONNX file has a node with one of these operators.
func hasOp(onnx []byte, ops ...string) bool {
	return slices.ContainsFunc(ops, func(op string) bool {
		return bytes.Contains(onnx, append([]byte{4<<3 | 2, byte(len(op))}, op...)) // field 4 of a NodeProto
	})
}

// byOperators derives the outcome of an import from the operators: ONNX's LSTM needs formats for its gates.
func byOperators(onnx []byte) Info {
	if hasOp(onnx, "LSTM") {
		return Info{Refused: diag.LSTMGateFormatsMissing, LSTM: "../lstm-formats.json"}
	}
	return Info{}
}

// Recorded holds the results that a model's own framework computed.
type Recorded struct {
	X, Y      *npy.Array            // samples along the first axis
	MustMatch func(i int) bool      // whether sample i must be reproduced exactly; others may differ at a near tie
	Skip      func(i int) bool      // whether the result of sample i need not be reproduced
	Cells     func(i int) bool      // whether every code of an LSTM must be reproduced for sample i
	Codes     []Codes               // codes of quantised tensors
	LSTM      map[string]*npy.Array // content of lstm_codes.npz
}

// Codes holds the integer codes of one quantised tensor, for the first samples.
type Codes struct {
	Tensor string
	Data   *npy.Array
}

// Recorded reads the results that the model's own framework recorded, in the form of this repository or of zoo/.
func (m Model) Recorded(t testing.TB) Recorded {
	t.Helper()
	always, never := func(int) bool { return true }, func(int) bool { return false }
	r := Recorded{Skip: never}
	flags := func(file string) func(int) bool {
		if !m.has(file) {
			return always
		}
		ok := m.Array(t, file)
		return func(i int) bool { return ok.Data[i] != 0 }
	}
	if !m.has("inputs.npy") {
		m.zoo(t, &r)
		return r
	}
	r.X, r.Y = m.Array(t, "inputs.npy"), m.Array(t, "outputs.npy")
	r.MustMatch, r.Cells = flags("consistent.npy"), flags("integer_consistent.npy")
	if m.has("lstm_codes.npz") {
		r.LSTM = m.Arrays(t, "lstm_codes.npz")
	}
	if m.has("intermediates.json") {
		var all []struct{ Tensor, Codes string }
		m.json(t, "intermediates.json", &all)
		arrays := m.Arrays(t, "intermediates.npz")
		for _, c := range all {
			if c.Codes != "" {
				r.Codes = append(r.Codes, Codes{c.Tensor, arrays[c.Codes]})
			}
		}
	}
	return r
}

// zooMeta is the content of meta.json of a model in zoo/. Margins are in steps of a quantiser.
type zooMeta struct {
	Margin  []*float64      `json:"min_margin"`       // per sample: distance to the closest rounding boundary
	From    string          `json:"from_"`            // the model of which this one is another spelling
	Outside []string        `json:"outside_contract"` // cases on which executors may disagree
	Cases   json.RawMessage // names of the cases, or their number
}

// safe is the least margin, in steps of a quantiser, at which float32 certainly rounds like exact arithmetic.
const safe = 1e-4

// zoo reads the recorded results of a model in zoo/ into r.
func (m Model) zoo(t testing.TB, r *Recorded) {
	t.Helper()
	pick := func(base string) *npy.Array {
		if m.has(base + ".npy") {
			return m.Array(t, base+".npy")
		}
		for _, a := range m.Arrays(t, base+".npz") {
			return a
		}
		return nil
	}
	r.X, r.Y = pick("x0"), pick("y0")
	var meta, from zooMeta
	m.json(t, "meta.json", &meta)
	margin := meta.Margin
	if len(margin) == 0 && meta.From != "" {
		Model{Dir: filepath.Join(filepath.Dir(m.Dir), meta.From)}.json(t, "meta.json", &from)
		margin = from.Margin
	}
	var cases []string
	if json.Unmarshal(meta.Cases, &cases) != nil {
		cases = nil
	}
	r.Skip = func(i int) bool { return i < len(cases) && slices.Contains(meta.Outside, cases[i]) }
	r.MustMatch = func(i int) bool { return !r.Skip(i) && (i >= len(margin) || margin[i] == nil || *margin[i] >= safe) }
}
