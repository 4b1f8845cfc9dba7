package synthtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hlsgen/templates"
)

var (
	// Patterns for clang's dump of a syntax tree: a config, a struct in it, and a member of either.
	dumpedConfig = regexp.MustCompile(`^Dumping (\w+_config):$`)
	dumpedStruct = regexp.MustCompile("^[|`]-CXXRecordDecl .* struct (\\w+) definition$")
	dumpedMember = regexp.MustCompile("^([| ] )?[|`]-(?:VarDecl|TypedefDecl) 0x\\w+ <[^>]*> (?:line:|col:)[\\d:]+ " +
		"(?:imported )?(referenced |used )?(\\w+) '")
)

// pragmaMember matches a config member in a pragma. clang ignores such pragmas, so its dump does not count these
// uses.
var pragmaMember = regexp.MustCompile(`(?m)^#pragma HLS .*\bC::(\w+)`)

// members lists the config members of a unit that no kernel reads, as the kernels are instantiated.
func (w work) members(unit string, files templates.ProjectFiles) ([]string, error) {
	dump, err := w.run("clang++", slices.Concat(flags, []string{"-fno-color-diagnostics", "-fsyntax-only",
		"-Xclang", "-ast-dump-all", "-Xclang", "-ast-dump-filter=_config", unit + ".ast"})...)
	if err != nil {
		return nil, err
	}
	unread, seen := unreadMembers(dump)
	if seen == 0 {
		return nil, fmt.Errorf("%s.cpp: clang shows no member of any config", unit)
	}
	named := map[string]bool{}
	for _, f := range files {
		for _, m := range pragmaMember.FindAllSubmatch(f.Data, -1) {
			named[string(m[1])] = true
		}
	}
	return slices.DeleteFunc(unread, func(finding string) bool {
		member, _, _ := strings.Cut(finding[strings.Index(finding, "::")+2:], " ")
		return named[member]
	}), nil
}

// unreadMembers returns the unread members of a dump, and the number of all members.
func unreadMembers(dump string) (unread []string, all int) {
	config, inner := "", ""
	for line := range strings.Lines(dump) {
		line = strings.TrimSuffix(line, "\n")
		if m := dumpedConfig.FindStringSubmatch(line); m != nil {
			config, inner = m[1], ""
			continue
		}
		if strings.HasPrefix(line, "|-") || strings.HasPrefix(line, "`-") {
			inner = ""
		}
		if m := dumpedStruct.FindStringSubmatch(line); m != nil {
			inner = m[1] + "::"
			continue
		}
		m := dumpedMember.FindStringSubmatch(line)
		if m == nil || m[1] != "" && inner == "" {
			continue
		}
		if all++; m[2] == "" {
			unread = append(unread, fmt.Sprintf("%s::%s%s is read by no kernel", config, inner, m[3]))
		}
	}
	slices.Sort(unread)
	return slices.Compact(unread), all
}
