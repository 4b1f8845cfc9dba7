// Package schema checks the JSON that hlsgen writes against schemas in docs/schemas. The schemas are generated from
// the Go types, with their comments as descriptions. The flag -update writes them.
//
// In come a Go type and JSON; out comes a failure where one does not fit the other.
package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	reflector "github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"hlsgen/internal/testsupport/tier"
)

// A Form is one kind of JSON that hlsgen writes.
type Form struct {
	name          string
	whole, strict *validator.Schema
}

// Of returns the form with the given name, for values of v's type. The test fails if docs/schemas/NAME.json is not
// the generated schema; -update writes it. That schema allows further keys, so that readers can rely on it when
// later versions add keys.
func Of(t testing.TB, name, title string, v any) *Form {
	t.Helper()
	c := comments{root: tier.Root(t)}
	text := generate(t, &c, title, v, true)
	path := filepath.Join(c.root, "docs", "schemas", name+".json")
	switch stands, err := os.ReadFile(path); {
	case update():
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Errorf("%v (-update writes it)", err)
	case !bytes.Equal(stands, text):
		t.Errorf("%s is not the schema of %T (-update to accept), which is\n%s", path, v, text)
	}
	return &Form{name, compile(t, name, text), compile(t, name, generate(t, &c, title, v, false))}
}

// update reports whether tests write their results. The flag -update belongs to package golden; without that package it
// is false.
func update() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Check checks a JSON text against the form. It must have every key that the schema requires and no unknown key,
// and all values must have the right types.
func (f *Form) Check(t testing.TB, text []byte) {
	t.Helper()
	v, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v", f.name, err)
		return
	}
	for _, s := range []*validator.Schema{f.whole, f.strict} {
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", f.name, err)
			return
		}
	}
}

// generate returns the JSON schema of v's type. If open is set, the schema allows unknown keys.
func generate(t testing.TB, c *comments, title string, v any, open bool) []byte {
	t.Helper()
	r := reflector.Reflector{Anonymous: true, AllowAdditionalProperties: open, LookupComment: c.of,
		Namer: func(typ reflect.Type) string {
			if typ.Name() == "" {
				return ""
			}
			pkg := typ.PkgPath()
			return pkg[strings.LastIndex(pkg, "/")+1:] + "." + typ.Name()
		}}
	s := r.Reflect(v)
	s.Title = title
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// compile parses the text of a schema. It ends the test if the schema is invalid.
func compile(t testing.TB, name string, text []byte) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(name+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// comments holds the comments of this module's types and of their fields.
type comments struct {
	root string
	mu   sync.Mutex
	read map[string]map[string]string // by package, then by type or type.field
}

// of returns the comment of a type, or of one of its fields, on one line. It returns "" if there is none.
func (c *comments) of(typ reflect.Type, field string) string {
	dir, ok := strings.CutPrefix(typ.PkgPath(), "hlsgen/")
	if !ok {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read[dir] == nil {
		if c.read == nil {
			c.read = map[string]map[string]string{}
		}
		c.read[dir] = commentsIn(filepath.Join(c.root, filepath.FromSlash(dir)))
	}
	name := typ.Name()
	if field != "" {
		name += "." + field
	}
	return c.read[dir][name]
}

// commentsIn returns the comments of the types, and of their fields, in a folder with Go files.
func commentsIn(dir string) map[string]string {
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		panic(err)
	}
	line := func(groups ...*ast.CommentGroup) string {
		for _, g := range groups {
			if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
				return text
			}
		}
		return ""
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			continue // the compiler reports it better
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, s := range decl.Specs {
				typ := s.(*ast.TypeSpec)
				all[typ.Name.Name] = line(typ.Doc, decl.Doc, typ.Comment)
				if body, ok := typ.Type.(*ast.StructType); ok {
					for _, f := range body.Fields.List {
						for _, n := range f.Names {
							all[typ.Name.Name+"."+n.Name] = line(f.Doc, f.Comment)
						}
					}
				}
			}
		}
	}
	return all
}
