package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/picture"
	"hlsgen/internal/report"
)

// graphCommand returns the command graph.
func graphCommand(a *app) *cobra.Command {
	var o check.Options
	var out string
	var force bool
	t := a.task(&cobra.Command{
		Use:   "graph [MODEL.onnx|DIR]",
		Short: "Draw a model with what becomes of its nodes, or the layers and FIFOs of a build",
		Long: `Graph draws a network, as a picture or as a file for a viewer. The file's
extension says which:

  .svg   a picture for browsers and papers
  .png   a picture of dots, two per point
  .dot   text for Graphviz
  .onnx  nodes with attributes, for viewers of ONNX such as Netron

Of a model it shows every node with what becomes of it, and the shapes and types
of the tensors between them. A model that does not map is drawn, too. Of a
folder that build has written it shows the layers with their folds, clocks and
costs, and the FIFOs with their widths, depths and how full they became.`,
		Example: `  hlsgen graph net.onnx                      # net.svg
  hlsgen graph net.onnx --out net-fates.onnx # for Netron
  hlsgen graph net-zcu104 --out design.png`,
	}, parts{Source: &o.Source})
	t.path(&out, "out", "FILE", "file to write, ending with ."+strings.Join(picture.Formats, ", .")+
		" (default MODEL.svg or DIR.svg)", nil)
	t.BoolVar(&force, "force", false, "replace the file")
	t.inputs()
	t.quantising()
	t.interleave()
	t.strict()
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		n, name, err := drawn(ctx, o, &t.d)
		if n == nil || err != nil {
			return nil, err
		}
		if out == "" {
			out = under(a.dir, name+".svg")
		}
		format, err := picture.FormatOf(out)
		if err != nil {
			return nil, usagef("--out %s: %v", printable(out), err)
		}
		if !replaceable(out, force, &t.d) {
			return nil, nil
		}
		file, err := n.Encode(format)
		var large *picture.TooLargeError
		if errors.As(err, &large) {
			return nil, usagef("%v; an .svg has no dots", err)
		}
		if err == nil {
			err = outputdir.WriteFileAtomically(out, file)
		}
		if err != nil {
			return nil, err
		}
		made := graphMade{ReportHead: report.CurrentReportHead, Nodes: len(n.Nodes), Streams: len(n.Streams),
			Format: format, Out: out, outcome: outcomeOf(&t.d, nil)}
		return &answer{object: made, show: func(s *screen) {
			s.title("%s", label(n.Name))
			s.line("")
			s.field("drawn", "%s, %s", count(made.Nodes, "node"), count(made.Streams, "stream"))
			s.field("written", "%s", printable(out))
		}}, nil
	})
}

// graphMade is the JSON of the command graph.
type graphMade struct {
	report.ReportHead
	Nodes   int    `json:"nodes"`
	Streams int    `json:"streams"`
	Format  string `json:"format"` // svg, png, dot or onnx
	Out     string `json:"out"`
	outcome
}

// drawn returns the network to draw and the base name of its file. The network is nil if d says why there is none.
// Errors
// about nodes become warnings, since the picture shows which do not map.
func drawn(ctx context.Context, o check.Options, d *diag.List) (*picture.Drawing, string, error) {
	if info, err := os.Stat(o.Model); o.Model != "" && err == nil && info.IsDir() {
		n, err := picture.OfDesign(o.Model)
		if errors.Is(err, picture.ErrNotBuilt) {
			d.AddError(diag.FileUnreadable, o.Model, "it is no regular file but a folder, and "+err.Error(),
				"give a folder that hlsgen build of this version wrote, or a model")
			return nil, "", nil
		}
		return n, filepath.Base(o.Model), err
	}
	c, err := check.Run(ctx, o, d)
	if c == nil || err != nil || len(c.Imported.Fates) == 0 {
		return nil, "", err
	}
	for i := range d.Diags {
		if x := &d.Diags[i]; x.Node != "" && x.Severity == diag.SeverityError {
			x.Severity, x.Level = diag.SeverityWarning, diag.SeverityWarning.String()
		}
	}
	if d.HasErrors() {
		return nil, "", nil
	}
	name := filepath.Base(c.Source.Name)
	return picture.OfModel(c.Source.Name, c.Imported, c.Layers), strings.TrimSuffix(name, filepath.Ext(name)), nil
}
