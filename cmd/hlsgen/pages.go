package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"hlsgen/folding/sweep"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/pageserver"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
	designs "hlsgen/templates/compared"
	pages "hlsgen/templates/report"
)

// A pageOrder is what the command report is asked for.
type pageOrder struct {
	dirs  []string // one folder, or two that are shown side by side
	out   string   // the file to write; empty for the default
	force bool
}

// A page is a page that the command report has made, without what it says about the file.
type page struct {
	content []byte
	about   reportMade
	title   string // for the screen
}

// pageOf returns the page of a folder: that of a build or of a sweep, or that of two builds. It returns nil after
// adding an error to d if a folder holds none. out is the file that the page is for.
func pageOf(a *app, dirs []string, out string, d *diag.List) (*page, error) {
	dir := under(a.dir, dirs[0])
	switch {
	case len(dirs) == 2:
		return besidePage(a, dirs, d)
	case sweep.HasSweep(dir):
		return sweepPage(dir, out, d)
	}
	p := pageIn(dir, dirs[0], d)
	if p == nil {
		return nil, nil
	}
	content, err := pages.RenderHTML(p)
	return &page{content, reportMade{Kind: "build", Model: p.Model, Board: p.Board},
		label(p.Model) + " on " + label(p.Board)}, err
}

// sweepPage returns the page of the sweep in a folder, for a file.
func sweepPage(dir, out string, d *diag.List) (*page, error) {
	r := sweep.OpenSweep(dir, d)
	if r == nil {
		return nil, nil
	}
	content, err := r.HTMLPage(filepath.Dir(out))
	return &page{content, reportMade{Kind: "sweep", Model: r.Model, Points: len(r.Points)},
		label(r.Model) + ", " + count(len(r.Points), "point")}, err
}

// besidePage returns the page of the builds in two folders.
func besidePage(a *app, dirs []string, d *diag.List) (*page, error) {
	var both [2]designs.Design
	for i, dir := range dirs {
		p := pageIn(under(a.dir, dir), dir, d)
		if p == nil {
			return nil, nil
		}
		both[i] = designs.Design{Name: folderName(dir), Page: p}
	}
	if both[0].Name == both[1].Name {
		both[0].Name, both[1].Name = filepath.Clean(dirs[0]), filepath.Clean(dirs[1])
	}
	content, err := designs.RenderTwoAsHTML(both[0], both[1])
	return &page{content, reportMade{Kind: "two builds", Model: both[0].Model, Board: both[0].Board,
		OtherModel: both[1].Model, OtherBoard: both[1].Board},
		label(both[0].Model) + " on " + label(both[0].Board) + " beside " + label(both[1].Model) + " on " +
			label(both[1].Board)}, err
}

// folderName returns the name of a folder without its parents.
func folderName(dir string) string { return filepath.Base(filepath.Clean(dir)) }

// reportMade is the JSON of the command report.
type reportMade struct {
	report.ReportHead
	Kind  string `json:"kind"` // build, sweep or two builds
	Model string `json:"model"`
	Board string `json:"board,omitempty"`
	// of the second of two builds
	OtherModel string `json:"other_model,omitempty"`
	OtherBoard string `json:"other_board,omitempty"`
	Points     int    `json:"points,omitempty"` // of a sweep
	Bytes      int    `json:"bytes"`            // of the page
	Out        string `json:"out"`
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

// write writes the page that is asked for.
func (o pageOrder) write(t *task) (*answer, error) {
	out := o.out
	if out == "" {
		name := folderName(o.dirs[0])
		if len(o.dirs) == 2 {
			name += "-" + folderName(o.dirs[1])
		}
		out = under(t.app.dir, name+".html")
	}
	p, err := pageOf(t.app, o.dirs, out, &t.d)
	if p == nil || err != nil || !replaceable(out, o.force, &t.d) {
		return nil, err
	}
	if err := outputdir.WriteFileAtomically(out, p.content); err != nil {
		return nil, err
	}
	made := p.about
	made.ReportHead, made.Bytes, made.Out, made.outcome = report.CurrentReportHead, len(p.content), out,
		outcomeOf(&t.d, nil)
	return &answer{object: made, show: func(s *screen) {
		s.title("%s", p.title)
		s.line("")
		s.field("written", "%s", printable(out))
	}}, nil
}

// serve serves the page of a build until the context or the terminal ends, and builds again what the page asks for.
// model is the path of the model's file, if the folder does not have it.
func (o pageOrder) serve(ctx context.Context, t *task, model string) (*answer, error) {
	a, dir := t.app, under(t.app.dir, o.dirs[0])
	if pageIn(dir, o.dirs[0], &t.d) == nil {
		return nil, nil
	}
	scratch, release, err := outputdir.MakeScratchFolder(scratchOfServer)
	if err != nil {
		return nil, err
	}
	defer release()
	if a.leave != nil {
		defer a.leave()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if !signal.Ignored(syscall.SIGHUP) { // else a closed terminal is no end
		go stopWithParent(ctx, stop)
	}
	b, err := rebuilderOf(a.world, scratch, dir, o.dirs[0], model, &t.d)
	if b == nil || err != nil {
		return nil, err
	}
	site := pageserver.Site{
		Files: map[string]pageserver.Content{
			"": {Type: "text/html; charset=utf-8", Read: func() ([]byte, error) {
				return servedPage(pageIn(cmp.Or(b.showing(), dir), o.dirs[0], new(diag.List)))
			}},
			"data.json": {Type: "application/json", Read: func() ([]byte, error) {
				p := pageIn(cmp.Or(b.showing(), dir), o.dirs[0], new(diag.List))
				if p == nil {
					return nil, nil
				}
				data, _, err := p.Encode()
				return data, err
			}},
			"state.json": {Type: "application/json", Read: func() ([]byte, error) {
				return fmt.Appendf(nil, "{\"rebuilt\":%t}\n", b.showing() != ""), nil
			}},
			"compare": {Type: "text/html; charset=utf-8", Read: func() ([]byte, error) {
				now := b.showing()
				was, is := pageIn(dir, o.dirs[0], new(diag.List)), pageIn(now, "", new(diag.List))
				if now == "" || was == nil || is == nil {
					return nil, nil
				}
				return designs.RenderTwoAsHTML(designs.Design{Name: folderName(o.dirs[0]), Page: was},
					designs.Design{Name: "rebuilt", Page: is})
			}},
		},
		Orders: map[string]func(context.Context, io.Reader, io.Writer) error{
			"rebuild": b.order,
			"reset": func(context.Context, io.Reader, io.Writer) error {
				b.show("")
				return nil
			},
		},
	}
	err = pageserver.Serve(ctx, site, func(address string) error {
		a.screen.title("%s", label(o.dirs[0]))
		a.screen.line("")
		a.screen.exact("page", address)
		a.screen.field("", "for this machine alone, and secret; Ctrl-C ends it")
		if isTerminal(a.stdout) {
			openBrowser(ctx, a.world, address)
		}
		return a.flush()
	})
	if err != nil {
		return nil, err
	}
	return &answer{show: func(*screen) {}}, nil
}

// openBrowser shows an address in the user's browser, if the system has a way to do that.
func openBrowser(ctx context.Context, w world, address string) {
	var words []string
	switch {
	case runtime.GOOS == "darwin":
		words = []string{"open", address}
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case w.env("DISPLAY") != "" || w.env("WAYLAND_DISPLAY") != "":
		words = []string{"xdg-open", address}
	default:
		return
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	if c.Start() == nil {
		go c.Wait() // its end is of no interest: the address is on the screen
	}
}

// servedPage returns the page of a build as a server has it. It returns nil without a page.
func servedPage(p *pages.Page) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	return pages.RenderServedHTML(p)
}
