package templates

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	constantValue = regexp.MustCompile(`^-?(?:\d+|[A-Za-z]\w*(?:::\w+)*)$`)
	streamDecl    = regexp.MustCompile(`\bhls::stream<[^;\n]*?>>?&? (\w+)[,()]`)
	variableValue = regexp.MustCompile(`^[A-Za-z]\w*(?:::\w+)*(?:\.\w+)*$`)
)

// always lists settings that this package requires of a pragma, though the grammar allows others.
var always = map[string]string{"PIPELINE": "II=1 style=flp"}

// pragmas reports pragmas of a file that violate the front end's grammar, or that conflict with each other. It also
// reports names in them that the text around them does not have.
func (l *linter) pragmas(file string, code []byte) {
	lines := strings.Split(string(code), "\n")
	streams := sync.OnceValue(func() map[string]bool { // computed at the first use, because few files need it
		names := map[string]bool{}
		for _, m := range streamDecl.FindAllSubmatch(code, -1) {
			names[string(m[1])] = true
		}
		return names
	})
	closed := scopes(code, func(s *scope, u use) {
		if s.at == 0 {
			l.report(file, u.line, "pragma %s stands in no function", u.name)
			return
		}
		for _, w := range u.check(s.at) {
			l.report(file, u.line, "%s", w)
		}
		if want := always[u.name]; want != "" && strings.Join(u.settings, " ") != want {
			l.report(file, u.line, "pragma %s without %s", u.name, want)
		}
		l.named(file, lines, streams, s, u)
	}, func(s *scope) { l.conflicts(file, s) })
	if !closed {
		l.report(file, 1, "braces that do not match")
	}
}

// parameterOf reports whether the C++ function has a parameter with the given name.
func parameterOf(function *scope, name string) bool {
	for rest := range behind(function.head, name) {
		if value, is := strings.CutPrefix(rest, " = "); is {
			rest = value[max(0, strings.IndexAny(value, ",)")):]
		}
		if strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, ")") {
			return true
		}
	}
	return false
}

// stands reports whether a text contains a name as a whole word.
func stands(text, name string) bool {
	for range behind(text, name) {
		return true
	}
	return false
}

// behind yields the text after each place where a name stands as a whole word.
func behind(text, name string) iter.Seq[string] {
	part := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
	return func(yield func(string) bool) {
		for at := 0; name != ""; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				return
			}
			begin := at + i
			at = begin + len(name)
			if (begin == 0 || !part(text[begin-1])) && (at == len(text) || !part(text[at])) && !yield(text[at:]) {
				return
			}
		}
	}
}

// control reports whether a setting is an interface mode of the whole function.
func control(setting string) bool { return strings.HasPrefix(setting, "ap_ctrl_") }

// named reports pragmas whose names stand for nothing, because the front end would ignore them. RESET needs a static
// variable, BIND_STORAGE of a FIFO a stream of the file, and INTERFACE a parameter.
func (l *linter) named(file string, lines []string, streams func() map[string]bool, s *scope, u use) {
	around := s // the enclosing function
	for o := range s.enclosing {
		around = o
	}
	variable, port := u.value("variable"), u.value("port")
	static := func() bool {
		return slices.ContainsFunc(lines[around.line-1:u.line], func(line string) bool {
			line, is := strings.CutPrefix(strings.TrimSpace(line), "static ")
			declared, _, _ := strings.Cut(line, ";")
			return is && stands(declared, variable)
		})
	}
	switch {
	case u.name == "RESET" && variable != "" && !static():
		l.report(file, u.line, "pragma RESET: %s is not static", variable)
	case u.name == "BIND_STORAGE" && u.has("type=fifo") && !streams()[variable]:
		l.report(file, u.line, "pragma BIND_STORAGE: %s is a FIFO and no stream", variable)
	case u.name == "INTERFACE" && port != "" && !slices.ContainsFunc(u.settings, control) &&
		!parameterOf(around, port):
		l.report(file, u.line, "pragma INTERFACE: no port %s", port)
	}
}

// conflicts reports pragmas of one scope that conflict. No two may be about the same thing, some must not stand
// together, and a pipeline must not lie within another.
func (l *linter) conflicts(file string, s *scope) {
	first := map[string]use{}
	for _, u := range s.pragmas {
		if u.name == "INLINE" && u.has("off") {
			continue // INLINE off is compatible with all
		}
		about := strings.Join([]string{u.name, u.value("variable"), u.value("port"), u.value("dim"), u.value("op"),
			u.value("type"), u.value("direction")}, " ")
		if u.name == "BIND_STORAGE" {
			about = u.name + " " + u.value("variable")
		}
		if _, twice := first[about]; twice {
			l.report(file, u.line, "pragma %s twice", strings.TrimSpace(about))
		}
		first[about] = u
	}
	has := func(s *scope, name string) bool {
		return slices.ContainsFunc(s.pragmas, func(u use) bool { return u.name == name && !u.has("off") })
	}
	for _, pair := range apart {
		if has(s, pair[0]) && has(s, pair[1]) {
			l.report(file, s.line, "pragmas %s and %s in one place", pair[0], pair[1])
		}
	}
	for o := range s.enclosing {
		if has(s, "PIPELINE") && has(o, "PIPELINE") {
			l.report(file, s.line, "a pipeline in a pipeline: the inner loop is unrolled")
		}
	}
}
