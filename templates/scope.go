package templates

import (
	"regexp"
	"strings"
)

// A scope is a pair of braces in C++, with the facts that matter for pragmas.
type scope struct {
	at      standing // 0 outside of functions
	head    string
	line    int // line of its opening brace
	pragmas []use
	above   *scope

	text   []byte // since the last brace or semicolon
	parens int    // open parentheses
}

// enclosing yields the scopes around s within its function, from the nearest on.
func (s *scope) enclosing(yield func(*scope) bool) {
	for s.at != inFunction && s.above != nil {
		if s = s.above; !yield(s) {
			return
		}
	}
}

var (
	typeHead  = regexp.MustCompile(`\b(?:struct|class|union|enum|namespace|extern)\b[^()]*$`)
	forHead   = regexp.MustCompile(`^(?:if \(.*\) |else )?(?:\w+: *)?for \(`)
	otherHead = regexp.MustCompile(`^(?:if \(.*\) |else )?(?:\w+: *)?(?:while \(|do$)`)
)

// opens returns the kind of scope that a brace after the text head opens, within a scope of kind outer.
func opens(outer standing, head string) standing {
	switch {
	case typeHead.MatchString(head), outer == 0 && !strings.Contains(head, "("):
		return 0
	case outer == 0:
		return inFunction
	case forHead.MatchString(head):
		return inFor
	case otherHead.MatchString(head):
		return inLoop
	}
	return inBlock
}

// scopes walks through C++ without comments. It calls pragma at every HLS pragma, and end at the end of every scope. It
// returns false if braces do not match.
func scopes(code []byte, pragma func(*scope, use), end func(*scope)) bool {
	now := &scope{}
	for n, line := range strings.Split(string(code), "\n") {
		if m := pragmaOf(line); m != nil {
			u := use{n + 1, m[1], strings.Fields(m[2])}
			pragma(now, u)
			now.pragmas = append(now.pragmas, u)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if now = now.walk(line, n+1, end); now == nil {
			return false
		}
	}
	return now.above == nil
}

// pragmaOf returns the parts of the HLS pragma in a line, or nil if there is none.
func pragmaOf(line string) []string {
	if !strings.Contains(line, "pragma") {
		return nil
	}
	return pragmaLine.FindStringSubmatch(line)
}

// walk goes through line number n, and returns the scope at its end, or nil if a brace closes no scope. It calls end at
// the end of every scope.
func (s *scope) walk(line string, n int, end func(*scope)) *scope {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			head := strings.Join(strings.Fields(string(s.text)), " ")
			s.text = s.text[:0]
			s = &scope{at: opens(s.at, head), head: head, line: n, above: s}
		case c == '}':
			if s.above == nil {
				return nil
			}
			end(s)
			s = s.above
		case c == ';' && s.parens == 0:
			s.text = s.text[:0]
		default:
			switch c {
			case '(':
				s.parens++
			case ')':
				s.parens--
			}
			s.text = append(s.text, c)
		}
	}
	s.text = append(s.text, ' ')
	return s
}
