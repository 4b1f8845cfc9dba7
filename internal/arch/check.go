package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// findPolicyBreaches reads every Go file of the module, whatever its build constraints, and returns the breaches of the
// policy in the order of files. A breach is a forbidden import, a package without an address, or an engine's string
// that names one of kinds. Folders that go ignores, and modules in the module, are left out.
func findPolicyBreaches(root fs.FS, kinds []string) (breaches []string, err error) {
	err = fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_'):
			return fs.SkipDir
		case e.IsDir() && name != "." && isModule(root, name):
			return fs.SkipDir
		case e.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		if _, ok := addressOf(path.Dir(name)); !ok {
			breaches = append(breaches, name+": its package has no address in internal/arch/policy.go")
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
		for _, i := range importsOf(file) {
			if why := breach(dir, test, i); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s", name, i, why))
			}
		}
		if !test && isEngine(dir) {
			for _, s := range stringsOf(file) {
				if k := named(dir, s, kinds); k != "" {
					breaches = append(breaches, fmt.Sprintf("%s says %q: engines know no layer by name", name, k))
				}
			}
		}
		return nil
	})
	return breaches, err
}

// isModule reports whether a folder is a separate module, to which the policy does not apply.
func isModule(root fs.FS, dir string) bool {
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

// importsOf returns the paths that a file imports.
func importsOf(file *ast.File) (imports []string) {
	for _, i := range file.Imports {
		imports = append(imports, text(i.Path))
	}
	return imports
}

// stringsOf returns the string literals of a file, except imports and struct tags. It removes the tags from file.
func stringsOf(file *ast.File) (list []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				list = append(list, text(n))
			}
		}
		return true
	})
	return list
}

// text returns the value of a string literal.
func text(lit *ast.BasicLit) string {
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		panic("arch: " + err.Error()) // the parser has accepted the literal
	}
	return s
}

// isEngine reports whether a folder is one of engines, or below one, and not below one of makers.
func isEngine(dir string) bool {
	within := func(list []string) bool {
		return slices.ContainsFunc(list, func(e string) bool { return covers(e, dir) })
	}
	return within(engines) && !within(makers)
}

// named returns the first word of s that is a kind, or an empty string. An operator of ONNX with the name of a kind is
// allowed in a string of several words, and in the front end.
func named(dir, s string, kinds []string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		operator := slices.Contains(operatorNames, w) && (len(words) > 1 || covers("frontend", dir))
		if slices.Contains(kinds, w) && !operator {
			return w
		}
	}
	return ""
}

// breach returns the reason why a file in folder dir must not import the path p, or "" if it may. test says that the
// file is a test.
func breach(dir string, test bool, p string) string {
	for _, d := range doors {
		if !covers(d.what, p) || slices.ContainsFunc(d.unless, func(w string) bool { return covers(w, p) }) {
			continue
		}
		home, _ := addressOf(dir)
		free := d.tests && (test || home == support)
		if !free && !slices.ContainsFunc(d.by, func(by string) bool { return covers(by, dir) }) {
			return fmt.Sprintf("only %s may, %s", strings.Join(d.by, " and "), d.why)
		}
	}
	target, ours := strings.CutPrefix(p, module+"/")
	if !ours {
		return ""
	}
	to, known := addressOf(target)
	from, _ := addressOf(dir)
	switch {
	case !known:
		return "it has no address in internal/arch/policy.go"
	case test || from == support:
		return ""
	case to == support:
		return "it is there for tests"
	case to.floor < from.floor, to.room == from.room && to.level < from.level:
		return ""
	case to.room == from.room:
		return fmt.Sprintf("level %d of room %s does not see level %d", from.level, from.room, to.level)
	}
	return fmt.Sprintf("floor %d does not see floor %d", from.floor, to.floor)
}

// addressOf returns the address of a folder: the row of the folder itself, or else the row with a star.
func addressOf(dir string) (address, bool) {
	p, ok := addresses[dir]
	if !ok {
		p, ok = addresses[path.Join(path.Dir(dir), "*")]
	}
	return p, ok
}

// covers reports whether the path name matches the pattern, in which a star stands for one folder name, or lies below
// it. A version of a module, such as pattern/v6, lies below it, too.
func covers(pattern, name string) bool {
	parts := strings.Split(name, "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(parts[:n], "/"))
	return ok
}
