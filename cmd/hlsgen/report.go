package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
	pages "hlsgen/templates/report"
)

// reportCommand returns the command report.
func reportCommand(a *app) *cobra.Command {
	var o options.Source
	var out string
	var force bool
	t := a.task(&cobra.Command{
		Use:   "report DIR",
		Short: "Write the page of a build again",
		Long: `Report writes the page of a folder that build has written, as this version of
hlsgen draws it: one HTML file, which needs no network. It is made of the
folder's report/page.json alone. The folder stays as it is.`,
		Example: `  hlsgen report net-zcu104                  # net-zcu104.html
  hlsgen report net-zcu104 --out page.html`,
		Args: builtFolder,
	}, parts{Source: &o})
	t.path(&out, "out", "FILE", "file to write (default DIR.html)", nil)
	t.BoolVar(&force, "force", false, "replace the file")
	t.json()
	return t.does(func(context.Context) (*answer, error) {
		dir := t.cmd.Flags().Arg(0)
		p := pageIn(under(a.dir, dir), dir, &t.d)
		if p == nil {
			return nil, nil
		}
		if out == "" {
			out = under(a.dir, filepath.Base(filepath.Clean(dir))+".html")
		}
		if !replaceable(out, force, &t.d) {
			return nil, nil
		}
		page, err := pages.RenderHTML(p)
		if err == nil {
			err = outputdir.WriteFileAtomically(out, page)
		}
		if err != nil {
			return nil, err
		}
		made := reportMade{ReportHead: report.CurrentReportHead, Model: p.Model, Board: p.Board, Bytes: len(page),
			Out: out, outcome: outcomeOf(&t.d, nil)}
		return &answer{object: made, show: func(s *screen) {
			s.title("%s on %s", label(p.Model), label(p.Board))
			s.line("")
			s.field("written", "%s", printable(out))
		}}, nil
	})
}

// reportMade is the JSON of the command report.
type reportMade struct {
	report.ReportHead
	Model string `json:"model"`
	Board string `json:"board"`
	Bytes int    `json:"bytes"` // of the page
	Out   string `json:"out"`
	outcome
}

// mostPageData is the largest size of the data of a page that is read.
const mostPageData = 64 << 20

// pageIn returns the data of the page of a built folder. It returns nil after adding an error to d if there are none.
// shown is the folder's name in messages.
func pageIn(dir, shown string, d *diag.List) *pages.Page {
	text, err := safefile.ReadRegularFile(filepath.Join(dir, filepath.FromSlash(pages.DataFile)), mostPageData)
	var p *pages.Page
	if err == nil {
		p, err = pages.ParsePage(bytes.TrimSpace(text), report.JSONVersion)
		if errors.Is(err, pages.ErrNoPage) {
			err = fmt.Errorf("%s: %w", pages.DataFile, err)
		}
	}
	if err != nil {
		d.AddError(diag.FileUnreadable, shown, "it holds no page of a build: "+err.Error(),
			"give a folder that hlsgen build of this version wrote")
		return nil
	}
	return p
}
