package sweep

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"hlsgen/internal/diag"
	"hlsgen/internal/synthesis"
)

// CollectToolReports reads the vendor's reports below the points of the sweep in folder dir, and writes the sweep's
// tables again with them. Points without reports stay as they are. It returns nil after adding errors to d.
func CollectToolReports(dir string, d *diag.List) (*SweepReport, error) {
	r := OpenSweep(dir, d)
	if r == nil {
		return nil, nil
	}
	known := map[string]*synthesis.VendorReport{}
	for i := range r.Points {
		p := &r.Points[i]
		if p.Interval == 0 || !identifier(p.ID) {
			continue
		}
		found, seen := known[p.ID]
		if !seen {
			var err error
			if found, err = collectPoint(filepath.Join(dir, pointsFolder, p.ID), p.ClockMHz, d); err != nil {
				return nil, err
			}
			known[p.ID] = found
			if found != nil {
				r.Collected++
			}
		}
		p.Report = found
	}
	if r.Collected == 0 {
		d.AddError(diag.FileUnreadable, pointsFolder, "no point has a report of synthesis",
			"run the job array first: sbatch "+scriptFile)
		return nil, nil
	}
	if d.HasErrors() {
		return nil, nil
	}
	judge(r.Points, r.Precision)
	return r, r.write(d)
}

// identifier reports whether s has the form of a point's ID, which is safe in a path.
func identifier(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

// collectPoint reads the reports below a point's folder. It returns nil if there is none, and adds a warning to d for
// each report that cannot be read.
func collectPoint(dir string, clockMHz float64, d *diag.List) (*synthesis.VendorReport, error) {
	r, err := synthesis.ReadVendorReport(dir, clockMHz, func(path string, err error) {
		shown, _ := filepath.Rel(filepath.Dir(filepath.Dir(dir)), path)
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: shown, Msg: err.Error(),
			Hint: "run the point again"})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}
