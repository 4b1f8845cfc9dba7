package sweep

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

//go:embed synthesise.sh
var arrayScript string

//go:embed synthesise.tcl
var vivadoScript string

// maxArray is the most tasks of a job array: Slurm's MaxArraySize, unless changed, allows no more.
const maxArray = 1001

// WriteSlurmJobs writes the HLS project of each different design within the budget, and a job array that synthesises
// them. It keeps projects that exist already. Without a design within the budget it writes nothing. Errors in d are for
// the user to mend.
func (r *SweepReport) WriteSlurmJobs(ctx context.Context, o Options, d *diag.List) error {
	var missing []*PointResult
	seen := map[string]bool{}
	for i := range r.Points {
		if p := &r.Points[i]; p.Status == PointStatusFits && !seen[p.ID] {
			seen[p.ID] = true
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if len(missing) >= maxArray {
		d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.ModelTooLarge,
			Msg: fmt.Sprintf("the job array has %d jobs; Slurm takes %d unless its MaxArraySize is set", len(missing),
				maxArray-1)})
	}
	var names []string
	for i, p := range missing {
		o.ReportProgress("generating", i, len(missing))
		if err := r.project(ctx, o, p, d); err != nil || d.HasErrors() {
			return err
		}
		names = append(names, p.ID)
	}
	script := strings.Replace(arrayScript, "@LAST@", strconv.Itoa(len(names)-1), 1)
	page, err := r.HTMLPage(r.Out) // its points lead to the builds now
	if err != nil {
		return err
	}
	if err := r.put([]file{
		{PageFileName, page},
		{pointsFile, []byte(strings.Join(names, "\n") + "\n")}, {vivadoFile, []byte(vivadoScript)},
		{scriptFile, []byte(script)},
	}, d); err != nil || d.HasErrors() {
		return err
	}
	r.Array, r.Script = len(names), scriptFile
	r.Files = append(r.Files, scriptFile)
	return errors.Join(os.Chmod(r.PathInOutputFolder(scriptFile), 0o755), r.writeReadme(o, d))
}

// project writes the HLS project of a point.
func (r *SweepReport) project(ctx context.Context, o Options, p *PointResult, d *diag.List) error {
	out := filepath.Join(r.Out, pointsFolder, p.ID)
	there, err := outputdir.InspectFolder(out, slices.Concat(templates.CleanedProjectFolders,
		templates.KeptProjectFolders))
	if err == nil && !there.Empty && there.NotOursReason == nil {
		return nil
	}
	b := o.importing(p.Samples)
	if b.MaxUse, err = folding.ParseMaxUseFractions(p.MaxUse); err != nil {
		return err
	}
	if b.FoldingFile = folding.ParseFoldingFile(p.Folding, d); b.FoldingFile == nil {
		return nil
	}
	// the folding file has the folds and the depths
	b.FIFO, b.Latency, b.MaxLatency = folding.FIFODepthPolicy{}, false, 0
	b.Board, b.ClockMHz, b.Out, b.Verify, b.NoCSim, b.Force, b.Progress = p.BoardArgument(o.Boards), p.ClockMHz, out, 1,
		true, true, nil
	if b.Lengths != nil {
		b.Verify = 2 // verify the longest sequence and the shortest
	}
	_, err = build.Run(ctx, b, d)
	return err
}
