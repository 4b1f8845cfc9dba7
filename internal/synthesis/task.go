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

// A Stage is a point up to which the tools run.
type Stage string

// The stages. Each stage includes those before it.
const (
	ByHLS     Stage = "hls"       // every layer goes through Vitis HLS
	ByVivado  Stage = "vivado"    // every layer also goes through Vivado, alone (out of context)
	Bitstream Stage = "bitstream" // the whole design also becomes a bitstream
)

// Stages lists the names of all stages.
var Stages = []string{string(ByHLS), string(ByVivado), string(Bitstream)}

// folder is the folder for results of synthesis, below a build's folder. HLS's own results are in build.ip.
const folder = "synth"

// A Task is one call of task.sh. It processes a layer, or the whole design.
type Task struct {
	Flow VerilogSource
	Name string // name of the module; the top module for the whole design
	Last Stage
}

// work returns the task's own folder.
func (t Task) work() string {
	if t.Last == Bitstream {
		return path.Join(folder, string(Bitstream), string(t.Flow))
	}
	return path.Join(folder, string(t.Flow), t.Name)
}

// arguments returns the arguments of task.sh.
func (t Task) arguments() []string { return []string{string(t.Flow), t.Name, string(t.Last)} }

// tasks returns the tasks of all layers up to a stage. Tasks that are expected to take longest come first.
func (p *Project) tasks(flows []VerilogSource, last Stage) (list []Task) {
	minutes := map[string]int{}
	for _, l := range p.Layers {
		minutes[l.Name] = l.Minutes
	}
	for _, f := range flows {
		for _, name := range p.modules[f] {
			if f == VerilogFromHLS || last != ByHLS { // generated SystemVerilog needs no HLS
				list = append(list, Task{f, name, last})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int {
		return cmp.Or(-cmp.Compare(minutes[a.Name], minutes[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// current reports whether a task's results exist and were made from the project's present files. Half-written
// results of a killed run are not current, for the file with the hashes of the sources is written last.
func (p *Project) current(t Task) bool {
	if t.Flow == VerilogFromHLS && t.Last != Bitstream && !p.synthesised(t.Name) {
		return false
	}
	if t.Last == ByHLS {
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

// synthesised reports whether HLS's results of a layer are current, by the rule of the build's Makefile.
func (p *Project) synthesised(name string) bool {
	sources, err := p.listed("hls/ip/" + name + ".files")
	if err != nil {
		return false
	}
	_, err = os.Stat(p.path("hls/build.ip/" + name + "/verilog/" + name + ".v"))
	return err == nil && p.made("hls/build.ip/"+name+"/done", sources, "hls")
}

// listed returns the words of a file that lists names.
func (p *Project) listed(name string) ([]string, error) {
	data, err := safefile.ReadFile(p.path(name), maxReport)
	return strings.Fields(string(data)), err
}

// sources returns the files from which Vivado makes a task's results, in the order of task.sh.
func (p *Project) sources(t Task) ([]string, error) {
	if t.Last == Bitstream {
		return p.whole(t.Flow)
	}
	list := []string{folder + "/vivado.tcl"}
	if t.Flow == VerilogGenerated {
		written, err := p.written(t.Name)
		return append(list, written...), err
	}
	made := p.glob("hls/build.ip/" + t.Name + "/verilog/*")
	if len(made) == 0 {
		return nil, fs.ErrNotExist
	}
	return append(list, made...), nil
}

// whole returns the files from which the whole design is made, once its layers are made.
func (p *Project) whole(f VerilogSource) (list []string, err error) {
	for _, dir := range []string{"vivado", "vivado/ip", "vivado/kernels"} {
		list = append(list, p.glob(dir+"/*")...)
	}
	if f == VerilogFromHLS {
		list = append(list, p.glob("hls/rtl/*")...)
		for _, name := range p.modules[VerilogFromHLS] {
			list = append(list, p.glob("hls/build.ip/"+name+"/verilog/*")...)
		}
	} else {
		for _, dir := range []string{"rtl", "rtl/ip", "rtl/layers", "rtl/lib", "rtl/tables"} {
			list = append(list, p.glob(dir+"/*")...)
		}
	}
	if len(list) == 0 {
		err = fs.ErrNotExist
	}
	return list, err
}

// results returns the files that a task leaves.
func (p *Project) results(t Task) []string {
	if t.Last == Bitstream {
		return []string{"vivado/build/" + p.Top + "." + p.bits()}
	}
	return []string{t.work() + "/utilization.rpt", t.work() + "/timing.rpt"}
}

// bits returns the extension of the file that is loaded into the device. v++ links the file for a card.
func (p *Project) bits() string {
	if _, err := os.Stat(p.path("vivado/link.cfg")); err == nil {
		return "xclbin"
	}
	return "bit"
}

// made reports whether the file done states that results were made from the given files, as they are now. The file
// contains the output of sha256sum, called in the folder below.
func (p *Project) made(done string, sources []string, below ...string) bool {
	said, err := safefile.ReadFile(p.path(done), maxReport)
	if err != nil {
		return false
	}
	now, err := p.digests(sources, below...)
	return err == nil && bytes.Equal(said, now)
}

// digests returns the output of sha256sum for files, with their names relative to the folder below.
func (p *Project) digests(sources []string, below ...string) ([]byte, error) {
	var b bytes.Buffer
	for _, name := range sources {
		if strings.ContainsAny(name, "\\\n\r") {
			return nil, errors.New("a name that sha256sum would change")
		}
		data, err := safefile.ReadFile(p.path(path.Join(append(slices.Clone(below), name)...)), maxReport)
		if err != nil && !errors.Is(err, safefile.ErrEmpty) {
			return nil, err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return b.Bytes(), nil
}

// logOf returns the log of a failed task, relative to the project, and the tool that failed. ok is false if the
// task did not record a failure, because it was killed.
func (p *Project) logOf(t Task) (tool, log string, ok bool) {
	data, err := safefile.ReadFile(p.path(t.work()+"/failed"), 4096)
	tool, log, ok = strings.Cut(strings.TrimSpace(string(data)), ": ")
	if err != nil || !ok || !filepath.IsLocal(filepath.FromSlash(log)) {
		return "", t.work() + "/log", false
	}
	return tool, log, true
}
