package synthtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hlsgen/templates"
)

var (
	// variable matches a variable in the data of an object file, in the output of nm. Constants do not match.
	variable   = regexp.MustCompile(`^[0-9a-f]+ [bBdDuV] (.*)$`)
	configType = regexp.MustCompile(`\b\w+_config\b`)
	configured = regexp.MustCompile(`\bhlsgen::\w+<(\w+_config)\b`)
)

// statics lists the static variables of a unit that several processes could share. The type of each must contain the
// config of its process, and no other config.
func (w work) statics(unit string) (shared []string, err error) {
	if _, err := w.run("clang++", slices.Concat(flags, []string{"-O0", "-c", "-o", unit + ".o",
		unit + ".ast"})...); err != nil {
		return nil, err
	}
	out, err := w.run("nm", "-C", "--defined-only", unit+".o")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		m := variable.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		owners := configType.FindAllString(m[1], -1)
		slices.Sort(owners)
		if owners = slices.Compact(owners); len(owners) != 1 {
			shared = append(shared, fmt.Sprintf("%s.cpp: static %s is of %v, not of one process", unit, m[1], owners))
		}
	}
	return shared, nil
}

// configs lists the config types that two processes share.
func configs(files templates.ProjectFiles) (shared []string) {
	seen := map[string]int{}
	for _, m := range configured.FindAllSubmatch(files.JoinProcessFiles(".cpp"), -1) {
		if seen[string(m[1])]++; seen[string(m[1])] == 2 {
			shared = append(shared, string(m[1])+" is of two processes")
		}
	}
	return shared
}
