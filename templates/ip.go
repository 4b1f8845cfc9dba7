package templates

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// An ipView is what ip.tcl.tpl shows: a process that is synthesised alone.
type ipView struct {
	Name    string
	Ports   []ipPortView
	Control string // ports of the module that belong to no argument, as a list of Tcl
}

// An ipPortView is an argument, with the mode of its interface and the ports that come of it, as a list of Tcl.
type ipPortView struct{ Name, Mode, Signals string }

// ipFiles are the scripts that synthesise each process alone, and lists of the files that each is made of, by which
// `make ip` knows what has changed.
func ipFiles(files *Files, scripts scriptView, processes []instance) error {
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
	for _, i := range processes {
		sources, err := files.included("hls/layers/" + i.name + ".cpp")
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

// tclList is identifiers as a list of Tcl.
func tclList(names []string) string { return "{" + strings.Join(names, " ") + "}" }

// ownInclude finds the files of a project that another one reads.
var ownInclude = regexp.MustCompile(`(?m)^#include "([^"\n]+)"`)

// included are the files that a unit is compiled of, the unit itself the first. The files need not be sorted.
func (f Files) included(unit string) ([]string, error) {
	text := map[string][]byte{}
	for _, file := range f {
		text[file.Path] = file.Data
	}
	list := []string{unit}
	for at := 0; at < len(list); at++ {
		data, ok := text[list[at]]
		if !ok {
			return nil, fmt.Errorf("%s is included, and no file of the project", list[at])
		}
		for _, m := range ownInclude.FindAllSubmatch(data, -1) {
			if name := path.Join(path.Dir(list[at]), string(m[1])); !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, nil
}
