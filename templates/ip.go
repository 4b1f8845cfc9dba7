package templates

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// An ipView holds what ip.tcl.tpl needs of a process that is synthesised alone.
type ipView struct {
	Name    string
	Ports   []ipPortView
	Control string // ports of the module that belong to no argument, as a Tcl list
}

// An ipPortView is an argument with the mode of its interface, and the ports made from it, as a Tcl list.
type ipPortView struct{ Name, Mode, Signals string }

// ipFiles adds the scripts that synthesise each process alone to files. For each process it also adds a list of the
// files from which it is compiled. `make ip` finds from these lists what has changed.
func ipFiles(files *ProjectFiles, scripts scriptView, processes []instance) error {
	texts := []written{{"hls/ip/flow.tcl", "flow.tcl.tpl", scripts}}
	for _, i := range processes {
		v := ipView{Name: i.name, Control: tclList(i.control())}
		for _, p := range i.ports {
			var names []string
			for _, s := range p.signals() {
				names = append(names, p.name+"_"+s.suffix)
			}
			v.Ports = append(v.Ports, ipPortView{p.name, p.mode(), tclList(names)})
		}
		texts = append(texts, written{"hls/ip/" + i.name + ".tcl", "ip.tcl.tpl", v})
	}
	if err := files.render(texts); err != nil {
		return err
	}
	all := newIncludes(*files)
	for _, i := range processes {
		sources, err := all.of("hls/layers/" + i.name + ".cpp")
		if err != nil {
			return err
		}
		sources = append(sources, "hls/ip/"+i.name+".tcl", "hls/ip/flow.tcl")
		slices.Sort(sources)
		var list []byte
		for _, s := range sources {
			list = append(append(list, strings.TrimPrefix(s, "hls/")...), '\n')
		}
		files.add("hls/ip/"+i.name+".files", list)
	}
	return nil
}

// tclList returns identifiers as a Tcl list.
func tclList(names []string) string { return "{" + strings.Join(names, " ") + "}" }

// An includes finds the files from which units of a project are compiled.
type includes struct {
	text   map[string][]byte
	direct map[string][]string // by file: its own includes, if they have been read
}

// newIncludes returns an includes for the files of a project.
func newIncludes(files ProjectFiles) *includes {
	n := &includes{map[string][]byte{}, map[string][]string{}}
	for _, f := range files {
		n.text[f.Path] = f.Data
	}
	return n
}

// of returns the files from which the unit is compiled, with the unit itself first. A missing file is an error.
func (n *includes) of(unit string) ([]string, error) {
	list := []string{unit}
	for at := 0; at < len(list); at++ {
		file := list[at]
		direct, known := n.direct[file]
		if !known {
			text, ok := n.text[file]
			if !ok {
				return nil, fmt.Errorf("%s is included, and no file of the project", file)
			}
			direct = included(path.Dir(file), text)
			n.direct[file] = direct
		}
		for _, name := range direct {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, nil
}

// included returns the project's files that a C++ file in the folder dir includes. The directives must start their
// lines.
func included(dir string, text []byte) (list []string) {
	mark := []byte(`#include "`)
	for rest := text; ; {
		at := bytes.Index(rest, mark)
		if at < 0 {
			return list
		}
		starts := at == 0 && len(rest) == len(text) || at > 0 && rest[at-1] == '\n'
		rest = rest[at+len(mark):]
		if end := bytes.IndexAny(rest, "\"\n"); starts && end > 0 && rest[end] == '"' {
			list = append(list, path.Join(dir, string(rest[:end])))
		}
	}
}
