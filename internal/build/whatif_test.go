package build

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	pages "hlsgen/templates/report"
)

// The places of figures in a fold of pages.WhatIf.
const clocksAt, costAt, formsAt = 5, 6, 12

// TestWhatIf holds that What if on the page has the clocks and costs of the functions that a build calls, for every
// fold that it offers. Random foldings, all layers changed at once, go through a folding file and the search, and every
// layer and width converter has the figures of the page. What the page calls too large is refused.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	drawn := 3
	if tier.Long() {
		drawn = 50
	}
	list := []models.Model{models.Find(t, "digits-resnet-w4a4"), models.Find(t, "bilstm-scan-h32-w4a8")}
	for _, m := range models.All(t) { // where they are
		if m.Name == "brevitas/cnv-w2a2" || m.Name == "brevitas/bilstm-h32-w4a8" {
			list = append(list, m)
		}
	}
	for _, m := range list {
		for _, backend := range []options.Backend{options.BackendHLS, options.BackendRTL} {
			t.Run(m.Name+"/"+string(backend), func(t *testing.T) {
				t.Parallel()
				if m.Name == "brevitas/cnv-w2a2" && backend == options.BackendRTL {
					tier.NeedsLong(t)
				}
				r, _ := told(t, Options{Source: options.Source{Model: m.Path("model.onnx")},
					Hardware:     options.Hardware{Board: "zcu104", Backend: backend},
					Verification: options.Verification{NoCSim: true}})
				p, err := pages.ParsePage(readReport(t, r, pages.DataFile), 2)
				if err != nil {
					t.Fatal(err)
				}
				w := p.WhatIf
				offered := 0
				for i, l := range w.Layers {
					offered += len(l.Folds)
					checkOffers(t, r, i, w)
				}
				if offered < 3*len(w.Layers) {
					t.Errorf("%d folds of %d layers", offered, len(w.Layers))
				}
				rng := rand.New(rand.NewPCG(4, 4))
				for range drawn {
					checkChoice(t, r, w, rng)
				}
			})
		}
	}
}

// foldOf returns a fold of the page as layers know it.
func foldOf(w *pages.WhatIf, f []int) dataflow.Fold {
	return dataflow.Fold{PE: f[0], SIMD: f[1], Memory: dataflow.Memory(f[2]), Compute: dataflow.MultiplierKind(f[3]),
		Steps: dataflow.StepEvaluation(f[4])}
}

// checkOffers compares the offers of a layer that are one process with the layer's own figures.
func checkOffers(t *testing.T, r *Result, layer int, w *pages.WhatIf) {
	t.Helper()
	n := r.Imported.Model.Graph.Nodes[layer]
	own := map[dataflow.Fold]bool{}
	for f := range n.Op.Folds() {
		own[f] = true
	}
	for _, offer := range w.Layers[layer].Folds {
		f := foldOf(w, offer)
		if !own[f] && f.Steps == dataflow.ParallelStepEvaluation {
			f.Steps = dataflow.NoStepEvaluation
		}
		if !own[f] && f.Steps != dataflow.SerialStepEvaluation {
			t.Fatalf("%s has no fold %+v", n.Name, f)
		}
		if !own[f] || r.Design.Target.MinProcesses(n.Op, f) != 1 {
			continue // several processes: checkChoice builds them
		}
		cost, clocks := n.Op.Cost(f, r.Design.Target).Total(), n.Op.Loop(f, r.Design.Target).IterationsPerFrame()
		if !slices.Equal(offer[costAt:formsAt], sixOf(cost)) || offer[clocksAt] != clocks {
			t.Errorf("%s, %+v: offered %v, takes %+v and %d clocks", n.Name, f, offer, cost, clocks)
		}
		in, out := n.Op.Ports(f)
		for k, p := range slices.Concat(in, out) {
			if w.Forms[offer[formsAt+k]] != [2]int{p.PerWord, p.Tile} {
				t.Errorf("%s, %+v: port %d in words of %v, not %+v", n.Name, f, k, w.Forms[offer[formsAt+k]], p)
			}
		}
	}
}

func sixOf(r dataflow.Resources) []int { return []int{r.LUT, r.LUTRAM, r.FF, r.BRAM, r.URAM, r.DSP} }

// checkChoice draws a fold for each layer and compares the page's figures with the design of the folding file.
func checkChoice(t *testing.T, r *Result, w *pages.WhatIf, rng *rand.Rand) {
	t.Helper()
	var picks [][]int
	converters, joined := []string{}, false
	for try := 0; !joined && try < 1000; try++ {
		picks = nil
		for _, l := range w.Layers {
			picks = append(picks, l.Folds[rng.IntN(len(l.Folds))])
		}
		converters, joined = convertersOf(w, picks)
	}
	if !joined {
		t.Fatal("no width converters join any folds")
	}
	file := map[string]any{"Defaults": map[string]any{}}
	for i, f := range picks {
		entry := map[string]any{"PE": f[0], "SIMD": f[1], "ram_style": w.Memories[f[2]], "resType": w.Computes[f[3]],
			"steps": w.Steps[f[4]]}
		for key, v := range entry {
			if v == 0 || v == "" {
				delete(entry, key)
			}
		}
		file[w.Layers[i].Name] = entry
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	fixed := folding.ParseFoldingFile(text, &d)
	if fixed == nil {
		t.Fatalf("%s\n%+v", text, d.Diags)
	}
	made, err := folding.FindBestDesign(t.Context(), r.Imported.Model, r.Design.Target,
		folding.Goal{Fixed: fixed, MaxCycles: 1 << 40}, &d)
	if err != nil || made == nil {
		t.Fatalf("%s\n%v, %+v", text, err, d.Diags)
	}
	costs, clocks := map[string]dataflow.Resources{}, map[string]int{}
	built := []string{}
	for i, n := range made.Model.Graph.Nodes {
		cost, c := n.Op.Cost(made.Folds[i], made.Target).Total(), made.LoopOfNode(i).IterationsPerFrame()
		if !slices.ContainsFunc(w.Layers, func(l pages.WhatIfLayer) bool { return l.Name == n.LayerName() }) {
			built = append(built, fmt.Sprint(c, sixOf(cost)))
			continue
		}
		costs[n.LayerName()] = costs[n.LayerName()].Plus(cost)
		clocks[n.LayerName()] = max(clocks[n.LayerName()], c)
	}
	slices.Sort(built)
	if !slices.Equal(built, converters) {
		t.Errorf("%s\nconverters %v, built %v", text, converters, built)
	}
	for i, l := range w.Layers {
		if f := picks[i]; !slices.Equal(f[costAt:formsAt], sixOf(costs[l.Name])) || f[clocksAt] != clocks[l.Name] {
			t.Errorf("%s: offered %v, built %v with %d clocks", l.Name, f, sixOf(costs[l.Name]), clocks[l.Name])
		}
	}
	over := overBudget(w, picks)
	if len(over) == 0 {
		return
	}
	var refusal diag.List
	made, err = folding.FindBestDesign(t.Context(), r.Imported.Model, r.Design.Target, folding.Goal{Fixed: fixed},
		&refusal)
	if err != nil || made != nil || !slices.ContainsFunc(over, func(name string) bool {
		return slices.ContainsFunc(refusal.Diags, func(x diag.Diag) bool { return strings.Contains(x.Msg, name) })
	}) {
		t.Errorf("%s\ntakes too much %v, and is refused with %v, %+v", text, over, err, refusal.Diags)
	}
}

// convertersOf returns the clocks and costs of the width converters between folds, sorted. It returns false if none
// joins two neighbours.
func convertersOf(w *pages.WhatIf, picks [][]int) (list []string, ok bool) {
	list = []string{}
	for id, s := range w.Streams {
		host := func(form int) int {
			for _, h := range s.Host {
				if h[0] == form {
					return h[1]
				}
			}
			return form
		}
		in, out := -1, -1
		if s.From >= 0 {
			l := w.Layers[s.From]
			in = picks[s.From][formsAt+len(l.In)+slices.Index(l.Out, id)]
		}
		if s.To >= 0 {
			out = picks[s.To][formsAt+slices.Index(w.Layers[s.To].In, id)]
		}
		if in < 0 {
			in = host(out)
		}
		if out < 0 {
			out = host(in)
		}
		if in == out {
			continue
		}
		k := slices.IndexFunc(w.Converters, func(c [10]int) bool { return [3]int(c[:3]) == [3]int{s.Class, in, out} })
		if k < 0 {
			return nil, false
		}
		list = append(list, fmt.Sprint(w.Converters[k][3], w.Converters[k][4:]))
	}
	slices.Sort(list)
	return list, true
}

// overBudget returns the resources of which layers and the host's port alone take more than the budget.
func overBudget(w *pages.WhatIf, picks [][]int) (over []string) {
	for k, name := range w.Resources {
		sum := w.Host[k]
		for _, f := range picks {
			sum += f[costAt+k]
		}
		if sum > w.Budget[k] {
			over = append(over, name)
		}
	}
	return over
}
