// Package folder claims and shares the folders that commands write. It turns what is in the way into diagnostics.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

// Claim reserves the output folder, and returns it with the name to show. usual is the name without --out. It returns
// nil after adding an error to d. Without Force, the folder must be empty or missing. With Force, hlsgen must have
// written all files in it, or the user keeps the others. So --force replaces a build, but never a user's files.
func Claim(o options.OutputFolder, usual string, d *diag.List) (place *outputdir.ClaimedFolder, shown string) {
	shown = cmp.Or(o.Out, usual)
	refuse := func(code diag.Code, hint, format string, args ...any) (*outputdir.ClaimedFolder, string) {
		d.Fail(code, "", shown+" "+fmt.Sprintf(format, args...), hint)
		return nil, ""
	}
	out, err := filepath.Abs(shown)
	if err != nil {
		return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	if here, err := os.Getwd(); err == nil && within(here, out) {
		return refuse(diag.OutputExists, "give a folder below this one", "is the current folder, or holds it")
	}
	place, err = outputdir.Claim(out, templates.TemporaryFolders, templates.KeptFolders...)
	busy, way, left := new(outputdir.BusyError), new(outputdir.PathOccupiedError), new(outputdir.LeftError)
	switch {
	case errors.As(err, &busy):
		return refuse(diag.OutputBusy, "wait for it, or give another --out", "%v", busy)
	case errors.As(err, &way), errors.As(err, &left):
		return refuse(diag.OutputForeign, byOwner, "cannot be used: %v", err)
	case err != nil:
		return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
	}
	if !admitted(place, o, shown, d) {
		if err := place.Release(); err != nil {
			return refuse(diag.OutputExists, "give another --out", "cannot be used: %v", err)
		}
		return nil, ""
	}
	return place, shown
}

// byOwner is the hint for a folder that belongs to another user.
const byOwner = "have it removed by its owner, or as root; or give another --out"

// admitted reports whether the existing files at a place may be replaced. It adds an error to d if not, and a warning
// if changed files are kept.
func admitted(place *outputdir.ClaimedFolder, o options.OutputFolder, shown string, d *diag.List) bool {
	there, err := place.Inspect(o.ReplacePolicy())
	if err != nil {
		AddRefusal(shown, err, d)
		return false
	}
	if o.ReplacePolicy() == outputdir.ReplaceKeepingForeign && len(there.Changed) > 0 {
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.OutputForeign,
			Msg: fmt.Sprintf("%s keeps files as you changed them, not as this build makes them: %s", shown,
				outputdir.QuoteSome(there.Changed)),
			Hint: "move them away to have what was verified"})
	}
	return !d.Failed()
}

// AddRefusal adds an error to d for a folder that cannot be written.
func AddRefusal(shown string, err error, d *diag.List) {
	strangers, conflict, stuck := new(outputdir.ForeignFilesError), new(outputdir.ConflictError),
		new(outputdir.StuckError)
	switch {
	case errors.As(err, &stuck):
		d.Fail(diag.OutputForeign, "", shown+" "+stuck.Error(), byOwner)
	case errors.As(err, &strangers) && strangers.There == nil:
		d.Fail(diag.OutputExists, "", shown+" "+err.Error(), "give another --out, or --force to replace it")
	case errors.As(err, &strangers) && strangers.There.NotOursReason != nil:
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(), "give another --out, or remove the folder yourself")
	case errors.As(err, &strangers):
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(),
			"--force=keep keeps all that; or move it away, or give another --out")
	case errors.As(err, &conflict):
		d.Fail(diag.OutputForeign, "", shown+" "+err.Error(), "move it away, or give another --out")
	default:
		d.Fail(diag.OutputExists, "", fmt.Sprintf("%s cannot be written: %v", shown, err), "give another --out")
	}
}

// Share calls write to put files into a folder that may also hold other files. It adds an error to d if
// another process uses the folder, or another file is in the way.
func Share(shown string, d *diag.List, write func(*outputdir.Shared) error) error {
	dir, err := outputdir.Share(shown)
	if err == nil {
		err = errors.Join(write(dir), dir.Release())
	}
	return unshared(shown, err, d)
}

// unshared adds errors about the use and the contents of a shared folder to d. It returns all other errors.
func unshared(shown string, err error, d *diag.List) error {
	busy, strangers, way := new(outputdir.BusyError), new(outputdir.ForeignFilesError), new(outputdir.PathOccupiedError)
	switch {
	case errors.As(err, &busy):
		d.Fail(diag.OutputBusy, "", fmt.Sprintf("%s %v", shown, busy), "wait for it, or give another folder")
	case errors.As(err, &way):
		d.Fail(diag.OutputForeign, "", fmt.Sprintf("%s cannot be used: %v", shown, way), byOwner)
	case errors.As(err, &strangers):
		d.Fail(diag.OutputForeign, "", fmt.Sprintf("%s %v", shown, strangers),
			"move it away, or give another folder; where you copied the folder, copy its "+
				""+outputdir.FileListName+", too")
	case err != nil:
		return fmt.Errorf("%s: %w", shown, err)
	}
	return nil
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// DefaultOut returns the default folder of a build: hlsgen-out/MODEL-BOARD. A board that is given by its part appears
// by its name.
func DefaultOut(model, board string) string {
	name := examples.DigitsName
	if model != "" {
		name = FileStem(model)
	}
	if b, err := boards.Find(board); err == nil && strings.EqualFold(board, b.Part) {
		board = b.Name
	}
	return filepath.Join("hlsgen-out", fileName(name)+"-"+fileName(FileStem(board)))
}

// fileName replaces the characters of a model's or board's name that are unsafe in a path.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	s = cmp.Or(strings.TrimLeft(s, ".-"), "model")
	return s[:min(len(s), 80)]
}

// FileStem returns the name of a file without its folder and extension.
func FileStem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
