package templates

import (
	"maps"
	"slices"
)

// withoutComments returns a copy of a C++ file in which comments are replaced by blanks, so that lines keep their
// numbers. It leaves strings alone.
func withoutComments(text []byte) []byte {
	out := slices.Clone(text)
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"' || out[i] == '\'':
			quote := out[i]
			for i++; i < len(out) && out[i] != quote && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case out[i] == '/' && i+1 < len(out) && out[i+1] == '/':
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case out[i] == '/' && i+1 < len(out) && out[i+1] == '*':
			for ; i < len(out) && !(out[i] == '*' && i+1 < len(out) && out[i+1] == '/'); i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			for end := min(i+2, len(out)); i < end; i++ {
				out[i] = ' '
			}
			i--
		}
	}
	return out
}

// sortedKeys returns the keys of a map in increasing order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
