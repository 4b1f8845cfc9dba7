// Package folder claims and shares the folders that commands write. It adds diagnostics about whatever prevents this.
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

// ClaimOutputFolder reserves the output folder until the caller releases it, and returns it with its name for messages.
// usual is the folder without --out. It returns nil after adding an error to d. The folder must not be or hold the
// current one. Without Force it must be empty or missing; with Force, hlsgen must have written all files in it, or
// KeepForeign keeps the others.
func ClaimOutputFolder(o options.OutputFolder, usual string, d *diag.List) (place *outputdir.ClaimedFolder,
	shown string) {
	shown = cmp.Or(o.Out, usual)
	refuse := func(code diag.Code, hint, format string, args ...any) (*outputdir.ClaimedFolder, string) {
		d.AddError(code, "", shown+" "+fmt.Sprintf(format, args...), hint)
		return nil, ""
	}
	out, err := filepath.Abs(shown)
	if err != nil {
		return refuse(diag.OutputFolderUnusable, "give another --out", "cannot be used: %v", err)
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	if here, err := os.Getwd(); err == nil && within(here, out) {
		return refuse(diag.OutputFolderUnusable, "give a folder below this one", "is the current folder, or holds it")
	}
	place, err = outputdir.ClaimFolder(out, templates.CleanedProjectFolders, templates.KeptProjectFolders...)
	busy, way, left := new(outputdir.PlaceBusyError), new(outputdir.HiddenPathOccupiedError),
		new(outputdir.FormerFolderLeftError)
	switch {
	case errors.As(err, &busy):
		return refuse(diag.OutputFolderBusy, "wait for it, or give another --out", "%v", busy)
	case errors.As(err, &way), errors.As(err, &left):
		return refuse(diag.OutputHasForeignFiles, byOwner, "cannot be used: %v", err)
	case err != nil:
		return refuse(diag.OutputFolderUnusable, "give another --out", "cannot be used: %v", err)
	}
	if !admitted(place, o, shown, d) {
		if err := place.ReleaseClaim(); err != nil {
			return refuse(diag.OutputFolderUnusable, "give another --out", "cannot be used: %v", err)
		}
		return nil, ""
	}
	return place, shown
}

// byOwner is the hint of errors about paths that this user cannot remove.
const byOwner = "have it removed by its owner, or as root; or give another --out"

// admitted reports whether the existing files at place may be replaced. If not, it adds an error to d; it returns
// false, too, if d has an earlier error. It adds a warning if the folder keeps files that the user changed. shown is
// the folder's name in messages.
func admitted(place *outputdir.ClaimedFolder, o options.OutputFolder, shown string, d *diag.List) bool {
	there, err := place.InspectForReplacement(o.ReplacePolicy())
	if err != nil {
		ReportUnwritableFolder(shown, err, d)
		return false
	}
	if o.ReplacePolicy() == outputdir.ReplaceKeepingForeign && len(there.Changed) > 0 {
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.OutputHasForeignFiles,
			Msg: fmt.Sprintf("%s keeps files as you changed them, not as this build makes them: %s", shown,
				outputdir.QuoteFirstPaths(there.Changed)),
			Hint: "move them away to have what was verified"})
	}
	return !d.HasErrors()
}

// ReportUnwritableFolder adds an error to d that says why a folder cannot be written. shown is its name in messages,
// and err the reason.
func ReportUnwritableFolder(shown string, err error, d *diag.List) {
	strangers, conflict, stuck := new(outputdir.ForeignFilesError), new(outputdir.FileTypeConflictError),
		new(outputdir.UnremovableEntryError)
	switch {
	case errors.As(err, &stuck):
		d.AddError(diag.OutputHasForeignFiles, "", shown+" "+stuck.Error(), byOwner)
	case errors.As(err, &strangers) && strangers.There == nil:
		d.AddError(diag.OutputFolderUnusable, "", shown+" "+err.Error(), "give another --out, or --force to replace it")
	case errors.As(err, &strangers) && strangers.There.NotOursReason != nil:
		d.AddError(diag.OutputHasForeignFiles, "", shown+" "+err.Error(),
			"give another --out, or remove the folder yourself")
	case errors.As(err, &strangers):
		d.AddError(diag.OutputHasForeignFiles, "", shown+" "+err.Error(),
			"--force=keep keeps all that; or move it away, or give another --out")
	case errors.As(err, &conflict):
		d.AddError(diag.OutputHasForeignFiles, "", shown+" "+err.Error(), "move it away, or give another --out")
	default:
		d.AddError(diag.OutputFolderUnusable, "", fmt.Sprintf("%s cannot be written: %v", shown, err),
			"give another --out")
	}
}

// WriteToSharedFolder calls write to put files into a folder that may also hold other files. If another process uses
// the folder, or another file is in the way, it adds an error to d and returns nil. It returns all other errors, among
// them those of write. shown is the folder's path.
func WriteToSharedFolder(shown string, d *diag.List, write func(*outputdir.SharedFolder) error) error {
	dir, err := outputdir.OpenSharedFolder(shown)
	if err == nil {
		err = errors.Join(write(dir), dir.ReleaseClaim())
	}
	return unshared(shown, err, d)
}

// unshared adds err to d and returns nil if another process uses the shared folder, or other files are in the way. It
// returns all other errors. shown is the folder's name in messages.
func unshared(shown string, err error, d *diag.List) error {
	busy, strangers, way := new(outputdir.PlaceBusyError), new(outputdir.ForeignFilesError),
		new(outputdir.HiddenPathOccupiedError)
	switch {
	case errors.As(err, &busy):
		d.AddError(diag.OutputFolderBusy, "", fmt.Sprintf("%s %v", shown, busy), "wait for it, or give another folder")
	case errors.As(err, &way):
		d.AddError(diag.OutputHasForeignFiles, "", fmt.Sprintf("%s cannot be used: %v", shown, way), byOwner)
	case errors.As(err, &strangers):
		d.AddError(diag.OutputHasForeignFiles, "", fmt.Sprintf("%s %v", shown, strangers),
			"move it away, or give another folder; where you copied the folder, copy its "+
				""+outputdir.SharedFileListName+", too")
	case err != nil:
		return fmt.Errorf("%s: %w", shown, err)
	}
	return nil
}

// within reports whether the path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// DefaultBuildFolder returns the folder of a build without --out: hlsgen-out/MODEL-BOARD. model and board may be paths
// of files, of which only the name without extension appears. model may be "" for the built-in example. A board that
// the user names by its part appears by its own name. Characters that no file name should have are replaced.
func DefaultBuildFolder(model, board string) string {
	name := examples.DigitsName
	if model != "" {
		name = FileStemOf(model)
	}
	if b, err := boards.FindBoard(board); err == nil && strings.EqualFold(board, b.Part) {
		board = b.Name
	}
	return filepath.Join("hlsgen-out", fileName(name)+"-"+fileName(FileStemOf(board)))
}

// fileName returns the name of a model or a board without characters that are unsafe in a path. It replaces them by
// underscores, drops leading dots and hyphens, and cuts the name to 80 bytes. If nothing is left, it returns "model".
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

// FileStemOf returns the name of a file without its folder and its last extension.
func FileStemOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
