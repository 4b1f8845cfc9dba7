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

	"hlsgen/internal/regular"
)

// A Stage is how far the tools go.
type Stage string

// The stages; each has those before it done first.
const (
	ByHLS     Stage = "hls"       // every layer through Vitis HLS
	ByVivado  Stage = "vivado"    // and through Vivado, alone (out of context)
	Bitstream Stage = "bitstream" // and the whole design
)

// Stages are what they are called.
var Stages = []string{string(ByHLS), string(ByVivado), string(Bitstream)}

// folder is what synthesis leaves beside HLS's own build.ip, below a build's folder.
const folder = "synth"

// A Task is what one call of task.sh does: a layer, or the whole design.
type Task struct {
	Flow Flow
	Name string // a module's; of the whole design the top's
	Last Stage
}

// work is the task's own folder.
func (t Task) work() string {
	if t.Last == Bitstream {
		return path.Join(folder, string(Bitstream), string(t.Flow))
	}
	return path.Join(folder, string(t.Flow), t.Name)
}

// arguments are those of task.sh.
func (t Task) arguments() []string { return []string{string(t.Flow), t.Name, string(t.Last)} }

// tasks are those of layers up to a stage, the longest first, as far as is known how long they take.
func (p *Project) tasks(flows []Flow, last Stage) (list []Task) {
	minutes := map[string]int{}
	for _, l := range p.Layers {
		minutes[l.Name] = l.Minutes
	}
	for _, f := range flows {
		for _, name := range p.modules[f] {
			if f == HLS || last != ByHLS { // there is nothing to do for HLS where Verilog is written
				list = append(list, Task{f, name, last})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Task) int {
		return cmp.Or(-cmp.Compare(minutes[a.Name], minutes[b.Name]), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// current reports whether a task's results are there, and were made of what the project has now. What a killed run has
// left half-written is not current: the file that says of what results were made is put in its place last.
func (p *Project) current(t Task) bool {
	if t.Flow == HLS && t.Last != Bitstream && !p.synthesised(t.Name) {
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

// listed are the lines of a file.
func (p *Project) listed(name string) ([]string, error) {
	data, err := regular.ReadFile(p.path(name), maxReport)
	return strings.Fields(string(data)), err
}

// sources are the files that a task's results are made of by Vivado, in the order of task.sh.
func (p *Project) sources(t Task) ([]string, error) {
	if t.Last == Bitstream {
		return p.whole(t.Flow)
	}
	list := []string{folder + "/vivado.tcl"}
	if t.Flow == RTL {
		written, err := p.written(t.Name)
		return append(list, written...), err
	}
	made := p.glob("hls/build.ip/" + t.Name + "/verilog/*")
	if len(made) == 0 {
		return nil, fs.ErrNotExist
	}
	return append(list, made...), nil
}

// whole are the files that the whole design is made of, once its layers are.
func (p *Project) whole(f Flow) (list []string, err error) {
	for _, dir := range []string{"vivado", "vivado/ip", "vivado/kernels"} {
		list = append(list, p.glob(dir+"/*")...)
	}
	if f == HLS {
		list = append(list, p.glob("hls/rtl/*")...)
		for _, name := range p.modules[HLS] {
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

// results are the files that a task leaves.
func (p *Project) results(t Task) []string {
	if t.Last == Bitstream {
		return []string{"vivado/build/" + p.Top + "." + p.bits()}
	}
	return []string{t.work() + "/utilization.rpt", t.work() + "/timing.rpt"}
}

// bits is the kind of file that is loaded into the device: that of a card is linked by v++.
func (p *Project) bits() string {
	if _, err := os.Stat(p.path("vivado/link.cfg")); err == nil {
		return "xclbin"
	}
	return "bit"
}

// made reports whether a file says of results that they were made of these files, as they are now: it is what sha256sum
// says of them, called in the folder below.
func (p *Project) made(done string, sources []string, below ...string) bool {
	said, err := regular.ReadFile(p.path(done), maxReport)
	if err != nil {
		return false
	}
	now, err := p.digests(sources, below...)
	return err == nil && bytes.Equal(said, now)
}

// digests is what sha256sum prints of files, by their names in the folder below.
func (p *Project) digests(sources []string, below ...string) ([]byte, error) {
	var b bytes.Buffer
	for _, name := range sources {
		if strings.ContainsAny(name, "\\\n\r") {
			return nil, errors.New("a name that sha256sum would change")
		}
		data, err := regular.ReadFile(p.path(path.Join(append(slices.Clone(below), name)...)), maxReport)
		if err != nil && !errors.Is(err, regular.ErrEmpty) {
			return nil, err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return b.Bytes(), nil
}

// logOf is the log that says why a task has failed, below the project, and what failed there. ok is false of one that
// has not said that it failed: it was ended from outside.
func (p *Project) logOf(t Task) (tool, log string, ok bool) {
	data, err := regular.ReadFile(p.path(t.work()+"/failed"), 4096)
	tool, log, ok = strings.Cut(strings.TrimSpace(string(data)), ": ")
	if err != nil || !ok || !filepath.IsLocal(filepath.FromSlash(log)) {
		return "", t.work() + "/log", false
	}
	return tool, log, true
}
