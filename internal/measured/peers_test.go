package measured

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/frontend"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/adders"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// `make peers-adders` passes these.
var (
	peer   = flag.String("peer", "", "compare shared adders with alkaid in the environment of this Python")
	layers = flag.String("layers", "", "the networks that are compared, by the beginning of their names; all if empty")
)

// peerNetworks lists the networks whose matrices are compared.
var peerNetworks = []struct {
	name, model string
	quant       *frontend.AddedInputQuantiser
	atMost      int // LUTs of its matrices with three operands, 0 for as many as the peer's
}{
	{"jets", "brevitas/jets-qap-w6a6-s80", nil, 7400},
	{"digits", "brevitas/digits-mlp-w2a2", nil, 0},
	{"qkeras", "zoo/qkeras_jettagging",
		&frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 16}, Scale: 1. / 1024}, 0},
}

// A peerMatrix is a constant matrix and the range of its inputs.
type peerMatrix struct {
	Rows [][]int64 `json:"rows"`
	Lo   int64     `json:"lo"`
	Hi   int64     `json:"hi"`
}

// peerMatrices returns the matrices of a model's layers.
func peerMatrices(t *testing.T, model string, quant *frontend.AddedInputQuantiser) (list []peerMatrix) {
	t.Helper()
	o := options.Source{Model: filepath.Join(tier.NeedsShared(t), "models", model, "model.onnx")}
	o.InputQuant = quant
	var d diag.List
	c, err := check.Run(t.Context(), check.Options{Source: o}, &d)
	if err != nil || c.Imported.Model == nil {
		t.Fatal(model, err, d.Diags)
	}
	g := c.Imported.Model.Graph
	for _, n := range g.Nodes {
		op, ok := n.Op.(interface {
			WeightTable(dataflow.Fold) dataflow.Table
		})
		if n.Op.Kind() != "MVAU" || !ok {
			continue
		}
		in := g.Streams[n.In[0]].Type
		columns := in.Shape.ChannelCount()
		whole := op.WeightTable(dataflow.Fold{PE: g.Streams[n.Out[0]].Type.Shape.ChannelCount(), SIMD: columns}).Rows[0]
		m := peerMatrix{Rows: slices.Collect(slices.Chunk(whole, columns)), Lo: in.Range[0].Lo, Hi: in.Range[0].Hi}
		for _, r := range in.Range {
			m.Lo, m.Hi = min(m.Lo, r.Lo), max(m.Hi, r.Hi)
		}
		list = append(list, m)
	}
	return list
}

// own returns the layer of a matrix whose outputs share adders, without registers between them, for a board. Its graph
// of adders gives the products of random vectors.
func (m peerMatrix) own(t *testing.T, board boards.Board) templates.ProjectFiles {
	t.Helper()
	in := dataflow.StreamType{Shape: dataflow.Shape{len(m.Rows[0])}, Range: []num.Range{{Lo: m.Lo, Hi: m.Hi}},
		Elem: num.NarrowestIntTypeFor(num.Range{Lo: m.Lo, Hi: m.Hi})}
	op := bind(t, mvau.New(mvau.Params{Weights: m.Rows}), in)
	fold := dataflow.Fold{PE: len(m.Rows), SIMD: len(m.Rows[0]), Compute: dataflow.SharedAdders,
		Memory: dataflow.MemoryLUTRAM}
	target := dataflow.Target{Board: board, ClockMHz: 1, Backend: dataflow.BackendRTL}
	return append(rtl.LibraryModuleFiles(), rtl.GenerateLayerFiles("peer", "",
		op.(dataflow.HasCircuit).Circuit(fold, target))...)
}

// exact reports whether the graph of adders of so many operands gives the products of 1,000 random vectors.
func (m peerMatrix) exact(operands int) bool {
	inputs := slices.Repeat([]num.Range{{Lo: m.Lo, Hi: m.Hi}}, len(m.Rows[0]))
	g, r := adders.Product(m.Rows, inputs, 0, operands), rand.New(rand.NewPCG(45, 0))
	for range 1000 {
		x := make([]int64, len(inputs))
		for i := range x {
			x[i] = m.Lo + r.Int64N(m.Hi-m.Lo+1)
		}
		for i, v := range g.Values(x) {
			for k, w := range m.Rows[i] {
				v -= w * x[k]
			}
			if v != 0 {
				return false
			}
		}
	}
	return true
}

// peerLUTs returns the lookup tables that Yosys makes of module peer in the sources of a folder. A number is kept in a
// file of the cache, by a hash of the key.
func peerLUTs(t *testing.T, cache, key, dir string, sources ...string) int {
	t.Helper()
	kept := filepath.Join(cache, fmt.Sprintf("%x.json", sha256.Sum256([]byte(key))))
	var luts int
	if text, err := os.ReadFile(kept); err == nil && json.Unmarshal(text, &luts) == nil {
		return luts
	}
	c := exec.Command("yosys", "-q", "-p", "read_verilog -sv -defer "+strings.Join(sources, " ")+
		"; synth_xilinx -family xcup -flatten -noiopad -top peer; write_json cells.json")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("yosys: %v\n%.3000s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cells.json"))
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Modules map[string]netlist }
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	cells := made.Modules["peer"].counted(made.Modules)
	if cells.DSP+cells.BRAM > 0 {
		t.Errorf("%d DSP slices and %d block RAMs", cells.DSP, cells.BRAM)
	}
	text, err = json.Marshal(cells.LUT)
	if err == nil {
		err = os.WriteFile(kept, text, 0o666)
	}
	if err != nil {
		t.Error(err)
	}
	return cells.LUT
}

// both returns the lookup tables of a matrix with adders of two operands and of three, first ours, then the peer's.
func (m peerMatrix) both(t *testing.T, cache string) (luts [4]int) {
	t.Helper()
	for i, name := range []string{"vck190", "alveo-u250"} { // a Versal device has no adders of three operands
		board, err := boards.FindBoard(name)
		if err != nil {
			t.Fatal(err)
		}
		if !m.exact(2 + i) {
			t.Errorf("adders of %d operands give a wrong product", 2+i)
		}
		files, dir, key := m.own(t, board), t.TempDir(), ""
		if err := files.WriteBelow(dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			key += f.Path + string(f.Data)
		}
		luts[i] = peerLUTs(t, cache, key, filepath.Join(dir, "rtl"), "shared/*.sv", "layers/*.sv")
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/peer.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, name := range []string{"two", "three"} {
		folder := filepath.Join(dir, name)
		key := "alkaid 0.8.2 " + name + string(text)
		if i == 0 {
			if err := os.WriteFile(filepath.Join(dir, "matrix.json"), text, 0o666); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(*peer, "testdata/peer.py", filepath.Join(dir, "matrix.json"),
				dir).CombinedOutput(); err != nil {
				t.Fatalf("the peer: %v\n%s", err, out)
			}
		}
		if err := rtl.LibraryModuleFiles().WriteBelow(folder); err != nil {
			t.Fatal(err)
		}
		cell, err := os.ReadFile(filepath.Join(folder, "rtl", "shared", "hlsgen_add_three.sv"))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			key += string(script) + string(cell)
		}
		luts[2+i] = peerLUTs(t, cache, key, folder, "src/static/*.v", "src/logic*.v", "src/peer.v",
			"rtl/shared/hlsgen_add_three.sv")
	}
	return luts
}

// TestPeersAdders compares matrices of networks, each by itself and without registers, with what alkaid makes of them.
// Yosys counts the lookup tables of both. A layer may take at most 3 % more than the peer's, and a network none.
func TestPeersAdders(t *testing.T) {
	if *peer == "" {
		t.Skip("it takes some minutes: make peers-adders runs it")
	}
	cache := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(*peer))), "luts")
	if err := os.MkdirAll(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Log("| layer | two operands | alkaid's | three operands | alkaid's |")
	for _, n := range peerNetworks {
		if !strings.HasPrefix(n.name, *layers) {
			continue
		}
		var all [4]int
		for i, m := range peerMatrices(t, n.model, n.quant) {
			luts := m.both(t, cache)
			name := fmt.Sprintf("%s %d, %d x %d", n.name, i+1, len(m.Rows), len(m.Rows[0]))
			t.Logf("| %s | %d | %d | %d | %d |", name, luts[0], luts[2], luts[1], luts[3])
			for k := range 2 {
				if all[k], all[2+k] = all[k]+luts[k], all[2+k]+luts[2+k]; 100*luts[k] > 103*luts[2+k] {
					t.Errorf("%s with %d operands: more than 3 %% above", name, 2+k)
				}
			}
		}
		t.Logf("| %s | %d | %d | %d | %d |", n.name, all[0], all[2], all[1], all[3])
		for k := range 2 {
			if all[k] > all[2+k] {
				t.Errorf("%s with %d operands: %d LUTs, more than the peer's", n.name, 2+k, all[k])
			}
		}
		if n.atMost > 0 && all[1] > n.atMost {
			t.Errorf("%s: %d LUTs, at most %d are wanted", n.name, all[1], n.atMost)
		}
	}
}
