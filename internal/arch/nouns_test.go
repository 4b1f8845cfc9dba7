package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// nouns are the words that name a type in one package at most, exported or not, because they have one meaning each
// (docs/glossary.md). A type about one of them has a longer name, such as LayerReport.
var nouns = []string{"Layer", "Point", "Place"}

// sharedTypes are the exported names of types that several packages declare, each with its one meaning.
var sharedTypes = map[string]string{
	"Backend":   "a way to make hardware of a design, of which each package has what it reads",
	"Design":    "a model with a target, a fold for each layer, and a depth and a memory for each FIFO",
	"Goal":      "what a user asks of a design: its rate, its latency, least resources, within a budget",
	"Graph":     "nodes in topological order, joined by tensors or streams",
	"Node":      "one operation of a graph",
	"Options":   "what the caller of a package may leave out or set",
	"Params":    "what makes a layer of its package's kind",
	"Resources": "amounts of what a device has",
	"Result":    "what a command gives",
}

// mostShared limits the shared names.
const mostShared = 20

// TestNouns counts the packages that declare a type of a name. Aliases do not count.
func TestNouns(t *testing.T) {
	t.Parallel()
	declared := map[string]map[string]bool{} // packages by name
	for dir, files := range packages(t, true) {
		for _, s := range files {
			ast.Inspect(s.file, func(n ast.Node) bool {
				if d, ok := n.(*ast.TypeSpec); ok && !d.Assign.IsValid() {
					word := d.Name.Name
					for _, noun := range nouns {
						if strings.EqualFold(word[:1], noun[:1]) && word[1:] == noun[1:] {
							word = noun
						}
					}
					if ast.IsExported(word) {
						if declared[word] == nil {
							declared[word] = map[string]bool{}
						}
						declared[word][dir] = true
					}
				}
				return true
			})
		}
	}
	known := map[string]bool{}
	for word, meaning := range sharedTypes {
		if known[word] = true; meaning == "" || len(declared[word]) < 2 {
			t.Errorf("%s is declared by %d packages, and means %q: leave it out of sharedTypes", word,
				len(declared[word]), meaning)
		}
	}
	for _, word := range sorted(declared) {
		if dirs := declared[word]; len(dirs) > 1 && !known[word] {
			t.Errorf("%s is declared by %v: give it one package, or one meaning in sharedTypes", word, sorted(dirs))
		}
	}
	for _, noun := range nouns {
		if known[noun] {
			t.Errorf("%s is to have one package", noun)
		}
	}
	if len(sharedTypes) > mostShared {
		t.Errorf("%d names are shared, the most is %d", len(sharedTypes), mostShared)
	}
}
