package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// seed is the flag of TestDraw: go test ./internal/arch -run TestDraw -draw SEED.
var seed = flag.String("draw", "", "draw names and comments by a `seed` of hex digits; -v prints them")

// drawn is the number of exported names in a drawing, and the number of comments.
const drawn = 60

// A sample is a name that a reader is asked about, or a comment. Line is the first one of the declaration.
type sample struct {
	dir, name, comment, line string
}

// TestDraw draws names and comments for a reader who says what they mean. It writes them to a file, whose name it
// prints, and prints them with -v. Without -draw it checks that a drawing is complete.
func TestDraw(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	digits := *seed
	if digits == "" {
		digits = "40"
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	named, commented := samples(t)
	names, texts := draw(named, n), draw(commented, n)
	for what, list := range map[string][]sample{"names": names, "comments": texts} {
		seen, turns := map[sample]bool{}, map[string]int{}
		for _, s := range list {
			seen[s] = true
			turns[s.dir]++
		}
		if len(list) != drawn || len(seen) != drawn {
			t.Errorf("%d %s are drawn, %d of them different: want %d", len(list), what, len(seen), drawn)
		}
		if len(turns) < min(drawn, 50) {
			t.Errorf("the %s come from %d packages", what, len(turns))
		}
	}
	if again := draw(named, n); !slices.Equal(again, names) {
		t.Error("the same seed draws other names")
	}
	if slices.Equal(draw(named, n+1), names) {
		t.Error("another seed draws the same names")
	}
	if *seed == "" || t.Failed() {
		return
	}
	var b strings.Builder
	for i, s := range names {
		fmt.Fprintf(&b, "name %d: %s/%s: %s\n", i+1, module, s.dir, s.name)
	}
	for i, s := range texts {
		fmt.Fprintf(&b, "\ncomment %d: %s/%s\n%s\n%s\n", i+1, module, s.dir, s.comment, s.line)
	}
	file := filepath.Join(os.TempDir(), "hlsgen-draw-"+digits+".txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has\n%s", file, b.String())
}

// draw puts packages in an order that the seed makes, and takes one of each in turn.
func draw(all map[string][]sample, seed uint64) (list []sample) {
	random := rand.New(rand.NewPCG(seed, 0))
	order, left := sorted(all), map[string][]sample{}
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for _, dir := range order {
		left[dir] = slices.Clone(all[dir])
	}
	for before := -1; len(list) < drawn && len(list) > before; {
		before = len(list)
		for _, dir := range order {
			if n := len(left[dir]); n > 0 && len(list) < drawn {
				i := random.IntN(n)
				list = append(list, left[dir][i])
				left[dir] = slices.Delete(left[dir], i, i+1)
			}
		}
	}
	return list
}

// samples returns the exported names and the comments of declarations by package, without tests and generated code.
func samples(t *testing.T) (named, commented map[string][]sample) {
	t.Helper()
	named, commented = map[string][]sample{}, map[string][]sample{}
	for dir, files := range packages(t, true) {
		for _, s := range files {
			for _, d := range declarations(s) {
				d.dir = dir
				if d.comment != "" {
					commented[dir] = append(commented[dir], d)
				}
				exported := true
				for part := range strings.SplitSeq(d.name, ".") {
					exported = exported && ast.IsExported(part)
				}
				if exported {
					named[dir] = append(named[dir], sample{dir: dir, name: d.name})
				}
			}
		}
	}
	maps.DeleteFunc(named, func(_ string, list []sample) bool { return len(list) == 0 })
	return named, commented
}

// declarations returns the types, functions, methods, variables and constants that a file declares outside functions.
func declarations(s *source) (list []sample) {
	add := func(name string, at token.Pos, docs ...*ast.CommentGroup) {
		x := sample{name: name, line: lineAt(s, at)}
		for _, doc := range docs {
			if x.comment == "" && doc != nil {
				x.comment = s.text[fileSet.Position(doc.Pos()).Offset:fileSet.Position(doc.End()).Offset]
			}
		}
		list = append(list, x)
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			add(name, d.Type.Func, d.Doc)
		case *ast.GenDecl:
			outer := d.Doc // a comment on a group belongs to its first name
			for _, spec := range d.Specs {
				switch x := spec.(type) {
				case *ast.TypeSpec:
					add(x.Name.Name, x.Pos(), x.Doc, outer)
				case *ast.ValueSpec:
					for _, name := range x.Names {
						add(name.Name, x.Pos(), x.Doc, outer)
					}
				}
				outer = nil
			}
		}
	}
	return slices.DeleteFunc(list, func(x sample) bool { return x.name == "_" })
}

// lineAt returns the line of a file at a position.
func lineAt(s *source, at token.Pos) string {
	offset := fileSet.Position(at).Offset
	from := strings.LastIndexByte(s.text[:offset], '\n') + 1
	line, _, _ := strings.Cut(s.text[from:], "\n")
	return strings.TrimSpace(line)
}
