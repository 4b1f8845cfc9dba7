package source

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/stats"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
)

// tellsOfHost adds a diagnostic to d with the share of the model's products that the host computes. Its hint names a
// flag that lowers this share, after trying it. It adds nothing if the host computes none, or lookups alone that
// quantisation left to it.
func tellsOfHost(o options.Source, m *ModelSource, im *frontend.ImportedModel, opt frontend.Options, d *diag.List) {
	host, share, layers, first := hostShare(im)
	if first == nil {
		return
	}
	where := "in this layer"
	if layers == m.transforms+m.lookups {
		if m.transforms > 0 {
			tellsOfTransforms(host, share, layers, first, d)
		}
		return
	}
	if layers > 1 {
		where += fmt.Sprintf(" and %d more", layers-1)
	}
	x := diag.Diag{Severity: diag.SeverityWarning, Code: diag.ProductsOnHost, Node: first.Node, Op: first.Op,
		Msg:  fmt.Sprintf("%.3g %% of the model's MACs stay on the host, %s", 100*share, where),
		Hint: "quantise what it reads, and its weights"}
	asked := opt.InputType != nil || opt.InputQuant != nil
	if src := again(o); src != nil && first.Becomes == frontend.NodeFateHostPrefix && !asked {
		opt.Pass = pass.Options[*canon.PassState]{}
		for _, w := range ways[:2] {
			var told diag.List
			changed := opt
			w.change(&changed)
			other, err := frontend.Import(src.File, src.ONNX, changed, &told)
			if err != nil || other == nil || other.Model == nil || told.HasErrors() {
				continue
			}
			_, less, _, _ := hostShare(other)
			if less < share {
				x.Hint = fmt.Sprintf("with %s, %s, %.3g %% stay there", w.flag, w.means, 100*less)
				break
			}
		}
	}
	d.Add(x)
}

// tellsOfTransforms adds a note to d about the fixed transforms that the host computes, and their multiply-accumulate
// operations (MACs).
func tellsOfTransforms(host int64, share float64, layers int, first *stats.LayerStats, d *diag.List) {
	where := "this layer, a fixed transform, stays"
	if layers > 1 {
		where = fmt.Sprintf("this layer and %d more, fixed transforms, stay", layers-1)
	}
	d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.ProductsOnHost, Node: first.Node, Op: first.Op,
		Msg: fmt.Sprintf("%s MACs a sample, %.3g %% of the model's: %s on the host", humanize.Comma(host), 100*share,
			where),
		Hint: "what it gives is quantised for the device; a model with a quantiser in front of it has it there"})
}

// hostShare returns the MACs that the host computes, their share of the model's MACs, and the number of their layers.
// most is the largest of these layers, or nil if there are none.
func hostShare(im *frontend.ImportedModel) (host int64, share float64, layers int, most *stats.LayerStats) {
	if !im.HasHostProducts() {
		return 0, 0, 0, nil
	}
	n := im.CountOperations(im)
	for _, l := range n.Layers {
		if l.Becomes != frontend.NodeFateHostPrefix && l.Becomes != frontend.NodeFateHostSuffix {
			continue
		}
		layers++
		if host += l.MACs; most == nil || l.MACs > most.MACs {
			most = l
		}
	}
	if host == 0 {
		return 0, 0, 0, nil
	}
	return host, float64(host) / float64(n.Total.MACs), layers, most
}
