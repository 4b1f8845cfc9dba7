package synthesis

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/safefile"
)

// A Stage is a point up to which the tools run. StageHLS comes first, then StageVivado, then StageBitstream.
type Stage string

// The stages. Each stage includes those before it.
const (
	StageHLS       Stage = "hls"       // every layer goes through Vitis HLS
	StageVivado    Stage = "vivado"    // every layer also goes through Vivado, alone (out of context)
	StageBitstream Stage = "bitstream" // the whole design also becomes a bitstream
)

// StageNames lists the names of all stages.
var StageNames = []string{string(StageHLS), string(StageVivado), string(StageBitstream)}

// folder is the name of the folder for results of synthesis, below a build's folder. HLS's own results are in
// hls/build.ip.
const folder = "synth"

// A ToolTask is one call of task.sh: for a layer up to a stage or, for StageBitstream, for the whole design.
type ToolTask struct {
	Flow VerilogSource
	Name string // name of the module; the top module for the whole design
	Last Stage
}

// work returns the folder in which the task runs, below the project's folder.
func (t ToolTask) work() string {
	if t.Last == StageBitstream {
		return path.Join(folder, string(StageBitstream), string(t.Flow))
	}
	return path.Join(folder, string(t.Flow), t.Name)
}

// arguments returns the arguments with which task.sh runs the task: flow, name and stage.
func (t ToolTask) arguments() []string { return []string{string(t.Flow), t.Name, string(t.Last)} }

// tasks returns a task for each layer of the flows up to a stage, those first that are expected to take longest.
// Generated Verilog has none at stage StageHLS.
func (p *Project) tasks(flows []VerilogSource, last Stage) (list []ToolTask) {
	minutes := map[string]int{}
	for _, l := range p.Layers {
		minutes[l.Name] = l.Minutes
	}
	for _, f := range flows {
		for _, name := range p.modules[f] {
			if f == VerilogSourceHLS || last != StageHLS { // generated SystemVerilog needs no HLS
				list = append(list, ToolTask{f, name, last})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b ToolTask) int {
		return cmp.Or(-cmp.Compare(minutes[a.Name], minutes[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// current reports whether a task's results exist and were made from the project's present files. Results of a killed
// run are not current, since the hashes of their sources are written last.
func (p *Project) current(t ToolTask) bool {
	if t.Flow == VerilogSourceHLS && t.Last != StageBitstream && !p.synthesised(t.Name) {
		return false
	}
	if t.Last == StageHLS {
		return true
	}
	sources, err := p.sources(t)
	if err != nil || !p.made(t.work()+"/done", sources) {
		return false
	}
	for _, result := range p.results(t) {
		if info, err := os.Stat(p.path(result)); err != nil || info.Size() == 0 {
			return false
		}
	}
	return true
}

// synthesised reports whether HLS's results of a layer exist and are current, by the same rule as the build's Makefile.
func (p *Project) synthesised(name string) bool {
	sources, err := p.listed("hls/ip/" + name + ".files")
	if err != nil {
		return false
	}
	_, err = os.Stat(p.path("hls/build.ip/" + name + "/verilog/" + name + ".v"))
	return err == nil && p.made("hls/build.ip/"+name+"/done", sources, "hls")
}

// listed returns the names in a file of the project that lists them, separated by white space.
func (p *Project) listed(name string) ([]string, error) {
	data, err := safefile.ReadRegularFile(p.path(name), maxReport)
	return strings.Fields(string(data)), err
}

// sources returns the files from which Vivado makes a task's results, in the order of task.sh. The error states that
// they are missing or unreadable.
func (p *Project) sources(t ToolTask) ([]string, error) {
	if t.Last == StageBitstream {
		return p.whole(t.Flow)
	}
	list := []string{folder + "/vivado.tcl"}
	if t.Flow == VerilogSourceHlsgen {
		written, err := p.written(t.Name)
		return append(list, written...), err
	}
	made := p.glob("hls/build.ip/" + t.Name + "/verilog/*")
	if len(made) == 0 {
		return nil, fs.ErrNotExist
	}
	return append(list, made...), nil
}

// whole returns the files from which a flow makes the whole design. It returns fs.ErrNotExist if there are none, as
// before its layers are made.
func (p *Project) whole(f VerilogSource) (list []string, err error) {
	for _, dir := range []string{"vivado", "vivado/ip", "vivado/kernels"} {
		list = append(list, p.glob(dir+"/*")...)
	}
	if f == VerilogSourceHLS {
		list = append(list, p.glob("hls/rtl/*")...)
		for _, name := range p.modules[VerilogSourceHLS] {
			list = append(list, p.glob("hls/build.ip/"+name+"/verilog/*")...)
		}
	} else {
		for _, dir := range []string{"rtl", "rtl/ip", "rtl/layers", "rtl/shared", "rtl/tables"} {
			list = append(list, p.glob(dir+"/*")...)
		}
	}
	if len(list) == 0 {
		err = fs.ErrNotExist
	}
	return list, err
}

// results returns the files that a successful task leaves, below the project's folder.
func (p *Project) results(t ToolTask) []string {
	if t.Last == StageBitstream {
		return []string{"vivado/build/" + p.Top + "." + p.bits()}
	}
	return []string{t.work() + "/utilization.rpt", t.work() + "/timing.rpt"}
}

// missed reports whether the present sources of the whole design p became a bitstream that misses its clock.
func missed(p *Project, t ToolTask) bool {
	sources, err := p.sources(t)
	return err == nil && p.made(t.work()+"/missed", sources)
}

// bits returns the extension, without a dot, of the file that is loaded into the device: "xclbin" for a card, otherwise
// "bit".
func (p *Project) bits() string {
	if _, err := os.Stat(p.path("vivado/link.cfg")); err == nil {
		return "xclbin"
	}
	return "bit"
}

// made reports whether the file done holds the present digests of the given files, and no others, as sha256sum prints
// them in the folder below.
func (p *Project) made(done string, sources []string, below ...string) bool {
	said, err := safefile.ReadRegularFile(p.path(done), maxReport)
	if err != nil {
		return false
	}
	now, err := p.digests(sources, below...)
	return err == nil && bytes.Equal(said, now)
}

// digests returns the output of sha256sum for the given files in a folder below the project's. Without the argument
// below, they are in the project's folder itself.
func (p *Project) digests(sources []string, below ...string) ([]byte, error) {
	var b bytes.Buffer
	for _, name := range sources {
		if strings.ContainsAny(name, "\\\n\r") {
			return nil, errors.New("a name that sha256sum would change")
		}
		data, err := safefile.ReadRegularFile(p.path(path.Join(append(slices.Clone(below), name)...)), maxReport)
		if err != nil && !errors.Is(err, safefile.ErrEmptyFile) {
			return nil, err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return b.Bytes(), nil
}

// logOf returns the tool that failed in a task and its log, below the project's folder. ok is false if the task
// recorded no failure; log is then that of task.sh.
func (p *Project) logOf(t ToolTask) (tool, log string, ok bool) {
	data, err := safefile.ReadRegularFile(p.path(t.work()+"/failed"), 4096)
	tool, log, ok = strings.Cut(strings.TrimSpace(string(data)), ": ")
	if err != nil || !ok || !filepath.IsLocal(filepath.FromSlash(log)) {
		return "", t.work() + "/log", false
	}
	return tool, log, true
}
