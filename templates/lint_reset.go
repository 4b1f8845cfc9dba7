package templates

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Patterns for structs that count, by their members, and the plain C++ types that can count.
var (
	structHead = regexp.MustCompile(`\bstruct (\w+)[^;{]*\{`)
	counts     = regexp.MustCompile(`\bcount_width\(|(?m)^\s*bool \w+;`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	plainTypes = []string{"bool", "char", "short", "int", "long", "unsigned", "signed"}

	offPragma  = regexp.MustCompile(`^\s*#pragma HLS RESET variable=(\w+) off$`)
	assignment = regexp.MustCompile(`(\w+)(?:\[[^=;]*\]|\.\w+)*(?:\([\w\s,.:*+-]*\))?\s*(?:[-+*/%&|^]|<<|>>)?=` +
		`\s*([^=;][^;]*);`)
	condition = regexp.MustCompile(`\bif \(`)
	moves     = regexp.MustCompile(`\breturn\b|\.(?:read|write)\(`)
)

// resets reports variables without a reset that control something. Their type must not be a position in a frame. By the
// text of its function a variable must not decide whether a word moves or a call ends. RESET off is meant for memories.
func (l *linter) resets(file string, code []byte, counting map[string]bool) {
	lines := strings.Split(string(code), "\n")
	for n, line := range lines {
		m := offPragma.FindStringSubmatch(line)
		if m == nil || n == 0 {
			continue
		}
		name, declared := m[1], lines[n-1]
		control := slices.ContainsFunc(identifier.FindAllString(strings.SplitN(declared, "<", 2)[0], -1),
			func(word string) bool { return word != name && (counting[word] || slices.Contains(plainTypes, word)) })
		if control || decides(name, rest(lines[n+1:])) {
			l.report(file, n+1, "a reset leaves %s as it is, on which control depends", name)
		}
	}
}

// rest returns the text of lines up to the end of the block in which they begin.
func rest(lines []string) string {
	depth := 0
	for n, line := range lines {
		if depth += strings.Count(line, "{") - strings.Count(line, "}"); depth < 0 {
			return strings.Join(lines[:n], "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// decides reports whether a variable, or a value computed from it, decides something in the text. It does if it occurs
// in a condition of a statement that moves a word or returns.
func decides(variable, text string) bool {
	made := map[string]bool{variable: true}
	of := func(text string) bool {
		return slices.ContainsFunc(identifier.FindAllString(text, -1), func(name string) bool { return made[name] })
	}
	for more := true; more; {
		more = false
		for _, m := range assignment.FindAllStringSubmatch(text, -1) {
			if !made[m[1]] && of(m[2]) {
				made[m[1]], more = true, true
			}
		}
	}
	for _, at := range condition.FindAllStringIndex(text, -1) {
		end := at[1] + closing(text[at[1]:], '(', ')')
		what := strings.TrimLeft(text[min(end+1, len(text)):], " \n")
		if strings.HasPrefix(what, "{") {
			what = what[:closing(what[1:], '{', '}')+1]
		} else {
			what, _, _ = strings.Cut(what, ";")
		}
		if of(text[at[1]:end]) && moves.MatchString(what) {
			return true
		}
	}
	return false
}

// closing returns the index in text of the bracket shut that closes an open one just before the text.
func closing(text string, open, shut byte) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// counting returns the names of the structs in a project's C++ that count, or contain a struct that does.
func counting(files ProjectFiles) map[string]bool {
	bodies := map[string]string{}
	for _, f := range files {
		if path.Ext(f.Path) != ".hpp" || !strings.HasPrefix(f.Path, "hls/include/hlsgen/") || !hardware(f.Path) {
			continue
		}
		text := string(withoutComments(f.Data))
		for _, m := range structHead.FindAllStringSubmatchIndex(text, -1) {
			bodies[text[m[2]:m[3]]] += structMembers(text[m[1] : m[1]+closing(text[m[1]:], '{', '}')])
		}
	}
	found := map[string]bool{}
	for more := true; more; {
		more = false
		for name, body := range bodies {
			if !found[name] && (counts.MatchString(body) || slices.ContainsFunc(identifier.FindAllString(body, -1),
				func(word string) bool { return found[word] })) {
				found[name], more = true, true
			}
		}
	}
	return found
}

// structMembers returns the body of a struct without the bodies of its functions and structs.
func structMembers(body string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(body, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		body = after[min(closing(after, '{', '}')+1, len(after)):]
	}
}
