package synthesis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
)

// layersFile is the name of a build's report with the latencies that hlsgen expects of the build's layers.
const layersFile = "layers.json"

// families maps the start of a product family's name in a report to our family. The longest matching start counts.
var families = []struct {
	name   string
	family delay.DelayFamily
}{
	{"zynquplus", delay.FamilyUltraScale}, {"kintexu", delay.FamilyUltraScale}, {"virtexu", delay.FamilyUltraScale},
	{"artixu", delay.FamilyUltraScale}, {"spartanu", delay.FamilyUltraScale}, {"aspartanu", delay.FamilyUltraScale},
	{"versal", delay.FamilyVersal}, {"zynq", delay.FamilySeries7}, {"azynq", delay.FamilySeries7}, {"qzynq",
		delay.FamilySeries7},
	{"artix7", delay.FamilySeries7}, {"aartix7", delay.FamilySeries7}, {"kintex7", delay.FamilySeries7}, {"virtex7",
		delay.FamilySeries7},
	{"spartan7", delay.FamilySeries7}, {"aspartan7", delay.FamilySeries7},
}

// CalibrateDelays makes a calibration from the HLS reports below a folder: csynth.xml, *_csynth.rpt and
// *.verbose.sched.rpt. Delays of operations come from schedules. Without these, one factor comes from the depths that
// builds there expect. Unreadable reports become warnings in d, which name the versions of tools that write another
// form. The result is nil after an error in d, or with an
// error.
func CalibrateDelays(dir string, d *diag.List) (*delay.DelayCalibration, error) {
	files, err := reports(dir, func(name string) bool {
		return name == layersFile || strings.HasSuffix(name, "csynth.xml") || strings.HasSuffix(name, ".rpt")
	})
	if err != nil {
		return nil, err
	}
	shown := func(path string) string {
		s, _ := filepath.Rel(dir, path)
		return s
	}
	all, expected, foreign := []timedRun{}, map[string]int{}, map[string]int{}
	files = slices.DeleteFunc(files, outdated)
	for _, path := range files {
		data, err := safefile.ReadRegularFile(path, maxReport)
		if err == nil && filepath.Base(path) == layersFile {
			err = expect(data, expected)
		} else if err == nil && strings.HasSuffix(path, ".xml") {
			var r timedRun
			if r, err = csynthRun(data); err == nil && r.family == "" {
				foreign[filepath.Base(path)+" of version "+cmp.Or(r.tool, "unknown")]++
			} else if err == nil {
				all = append(all, r)
			}
		} else if version, ok := vivadoHLSVersion(data); err == nil && ok {
			foreign["schedules and text of Vivado HLS "+version]++
		} else if r, ok := textRun(data); err == nil && ok {
			all = append(all, r)
		}
		if err != nil {
			d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: shown(path),
				Msg:  err.Error(),
				Hint: "it is left out"})
		}
	}
	for _, form := range slices.Sorted(maps.Keys(foreign)) {
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.FileUnreadable, Where: filepath.Base(dir),
			Msg:  fmt.Sprintf("%s: %d of another form, which is not read", form, foreign[form]),
			Hint: "reports of Vitis HLS from 2020.2 on are read, and csynth.xml of Vivado HLS"})
	}
	c, err := combine(all, expected)
	if err == nil {
		err = c.Verify()
	}
	if err != nil {
		d.AddError(diag.FileUnreadable, filepath.Base(dir), err.Error(),
			"give a folder in which Vitis HLS has left its "+
				"reports of one part: csynth.xml, *_csynth.rpt, *.verbose.sched.rpt")
		return nil, nil
	}
	return c, nil
}

// outdated reports whether a file lies in a layer's results below a build's hls/build.ip and these are not current.
// Other files are never outdated.
func outdated(file string) bool {
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	before, after, found := strings.Cut(filepath.ToSlash(file), "/hls/build.ip/")
	name, _, inside := strings.Cut(after, "/")
	return found && inside && !(&Project{Dir: filepath.FromSlash(before)}).synthesised(name)
}

// SaveCalibration writes a calibration to a file as JSON, which it replaces.
func SaveCalibration(c *delay.DelayCalibration, path string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return outputdir.WriteFileAtomically(path, append(b, '\n'))
}

// reports returns the paths of the regular files below a folder, in order, for whose base names wanted is true. More
// than maxFound are an error.
func reports(dir string, wanted func(name string) bool) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Type().IsRegular() && wanted(e.Name()) {
			files = append(files, path)
		}
		if len(files) > maxFound {
			return errors.New(dir + ": too many reports")
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// expect reads a build's layers.json and enters in to, by layer, the latency that hlsgen's own tables give.
func expect(data []byte, to map[string]int) error {
	var list []report.LayerReport
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("no report of a build on its layers: %w", safefile.SimplifyJSONError(err))
	}
	for _, l := range list {
		if to[l.Name] = l.Delay; l.Table > 0 {
			to[l.Name] = l.Table
		}
	}
	return nil
}

// combine makes one calibration from all runs, which must be of one part. expected has the depths that builds expect,
// by process. The error states what contradicts, or that no run is of HLS.
func combine(all []timedRun, expected map[string]int) (*delay.DelayCalibration, error) {
	c := &delay.DelayCalibration{Uncertainty: delay.ClockUncertaintyFraction, Stages: 1,
		Delays:    []delay.ReportedDelay{},
		Processes: []delay.ReportedPipelineDepth{}}
	seen := map[delay.ReportedPipelineDepth]bool{}
	delays := map[operation][]float64{} // by operation and bits; the key's field ns is 0
	first := true
	for _, r := range all {
		f, ok := familyOf(r.family)
		if r.family == "" {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("a report of the unknown family %.40q", r.family)
		}
		if !first && (f != c.Family || r.part != c.Part) {
			return nil, fmt.Errorf("reports of %.40q and of %.40q", c.Part, r.part)
		}
		c.Family, c.Part, c.Tool, first = f, r.part, r.tool, false
		if r.period > 0 {
			c.Uncertainty = math.Round(1000*r.uncertainty/r.period) / 1000
		}
		for _, p := range r.processes {
			if p.Ours = expected[p.Name]; !seen[p] {
				seen[p] = true
				c.Processes = append(c.Processes, p)
			}
		}
		for _, o := range r.delays {
			key := operation{op: o.op, bits: o.bits}
			delays[key] = append(delays[key], o.ns)
		}
	}
	if first {
		return nil, errors.New("it has no report of HLS")
	}
	for key, list := range delays {
		slices.Sort(list)
		c.Delays = append(c.Delays, delay.ReportedDelay{Op: key.op.String(), Bits: key.bits, NS: list[len(list)/2],
			Reports: len(list)})
	}
	slices.SortFunc(c.Delays, func(a, b delay.ReportedDelay) int {
		return strings.Compare(fmt.Sprintf("%s %9d", a.Op, a.Bits), fmt.Sprintf("%s %9d", b.Op, b.Bits))
	})
	measured, ours := 0, 0
	for _, p := range c.Processes {
		if p.Ours > 0 {
			measured, ours = measured+p.Depth, ours+p.Ours
		}
	}
	if len(c.Delays) == 0 && ours > 0 {
		c.Stages = math.Round(1000*float64(measured)/float64(ours)) / 1000
	}
	return c, nil
}

// familyOf returns our family of devices for the product family that a report names. The result is false if it is
// unknown.
func familyOf(name string) (delay.DelayFamily, bool) {
	best, family := "", delay.DelayFamily("")
	for _, f := range families {
		if strings.HasPrefix(name, f.name) && len(f.name) > len(best) {
			best, family = f.name, f.family
		}
	}
	return family, best != ""
}
