package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Check reads the imports of every Go file of the module, whatever its build constraints, and returns the breaches of
// the policy in order of files.
func Check(root fs.FS) (breaches []string, err error) {
	err = fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_'):
			return fs.SkipDir
		case e.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		if _, ok := addressOf(path.Dir(name)); !ok {
			breaches = append(breaches, name+": its package has no address in internal/arch/policy.go")
			return nil
		}
		imports, err := importsOf(root, name)
		if err != nil {
			return err
		}
		for _, i := range imports {
			if why := breach(path.Dir(name), strings.HasSuffix(name, "_test.go"), i); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s", name, i, why))
			}
		}
		return nil
	})
	return breaches, err
}

func importsOf(root fs.FS, name string) ([]string, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, i.Path.Value, err)
		}
		imports = append(imports, p)
	}
	return imports, nil
}

// breach says why a file in folder dir must not import p; empty if it may.
func breach(dir string, test bool, p string) string {
	for _, d := range doors {
		if !covers(d.what, p) || slices.ContainsFunc(d.unless, func(w string) bool { return covers(w, p) }) {
			continue
		}
		free := test && d.tests || addresses[dir] == support && d.tests
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

// addressOf looks for the folder itself, then for its row with a star.
func addressOf(dir string) (address, bool) {
	p, ok := addresses[dir]
	if !ok {
		p, ok = addresses[path.Join(path.Dir(dir), "*")]
	}
	return p, ok
}

// covers reports whether name is what the pattern names, or lies below it. Versions of a module (pattern/v6) lie below.
func covers(pattern, name string) bool {
	parts := strings.Split(name, "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(parts[:n], "/"))
	return ok
}
