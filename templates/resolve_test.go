package templates

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// views has the view of each template. Every template has a row.
var views = map[string]any{
	"ap_types.hpp.tpl":        typesView{},
	"layers.hpp.tpl":          layersView{},
	"layers.cpp.tpl":          layersView{},
	"layer.hpp.tpl":           layerView{},
	"layer.cpp.tpl":           layerView{},
	"top.hpp.tpl":             topView{},
	"top.cpp.tpl":             topView{},
	"tb.cpp.tpl":              tbView{},
	"Makefile.tpl":            makefileView{},
	"run_hls.tcl.tpl":         scriptView{},
	"run_hls_unified.tcl.tpl": scriptView{},
	"hls_config.cfg.tpl":      scriptView{},
	"flow.tcl.tpl":            scriptView{},
	"rtl_top.v.tpl":           rtlView{},
	"hlsgen_bench.sv.tpl":     rtlBenchView{},
	"package.tcl.tpl":         scriptView{},
	"xsim.sh.tpl":             scriptView{},
	"ip.tcl.tpl":              ipView{},
	"README.md.tpl":           readmeView{},
}

// TestTemplatesResolve resolves every name in every template against its view: pongo2 itself prints nothing for a name
// that does not exist.
func TestTemplatesResolve(t *testing.T) {
	t.Parallel()
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if _, ok := views[name]; !ok {
			t.Errorf("%s has no view", name)
		}
	}
	for name, view := range views {
		text, err := sources.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range resolve(string(text), reflect.TypeOf(view)) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// resolved maps templates over topView to the problem that resolve must report.
var resolved = map[string]string{
	"{{ v.Top|req }}":     "",
	"{{ v.Top }}":         "v.Top is printed without |req",
	"{{ v.Tpo|req }}":     "v.Tpo: topView has no field Tpo",
	"{{ v.In.Name|req }}": "v.In.Name: []templates.axisView has no fields",
	"{% for p in v.In %}{{ p.Doc|req }}{% endfor %}":   "",
	"{% for p in v.In %}{{ p.Dco|req }}{% endfor %}":   "p.Dco: axisView has no field Dco",
	"{% for p in v.In %}{% endfor %}{{ p.Doc|req }}":   "p.Doc: no variable p",
	"{% for p in v.Top %}{% endfor %}":                 "v.Top is not a slice",
	"{% if v.Nope %}{% endif %}":                       "v.Nope: topView has no field Nope",
	"{% now %}":                                        "tag now",
	"{% for p in v.In %}{{ p.Name|req }}":              "for without endfor",
	"{{ v.Top|upper|req }}":                            "v.Top|upper|req is printed without |req",
	"{% if v.In %}{{ v.Calls.0|req }}{% endif %}":      "v.Calls.0: []string has no fields",
	"{%- for c in v.Calls -%}{{ c|req }}{% endfor -%}": "",
}

func TestResolveFinds(t *testing.T) {
	t.Parallel()
	for text, want := range resolved {
		if got := strings.Join(resolve(text, reflect.TypeOf(topView{})), "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

var (
	tag   = regexp.MustCompile(`\{\{-?\s*(.*?)\s*-?\}\}|\{%-?\s*(.*?)\s*-?%\}`)
	value = regexp.MustCompile(`^(\w+(?:\.\w+)*)\|req$`)
)

// resolve walks a template's tags; view is the type of v.
func resolve(text string, view reflect.Type) (problems []string) {
	type scope struct {
		name string
		typ  reflect.Type
	}
	scopes := []scope{{"v", view}}
	opened := 0
	path := func(expr string) reflect.Type {
		parts := strings.Split(expr, ".")
		for i := len(scopes) - 1; i >= 0; i-- {
			if scopes[i].name != parts[0] {
				continue
			}
			typ := scopes[i].typ
			for _, p := range parts[1:] {
				if typ.Kind() == reflect.Pointer {
					typ = typ.Elem()
				}
				if typ.Kind() != reflect.Struct {
					problems = append(problems, fmt.Sprintf("%s: %s has no fields", expr, typ))
					return nil
				}
				f, ok := typ.FieldByName(p)
				if !ok {
					problems = append(problems, fmt.Sprintf("%s: %s has no field %s", expr, typ.Name(), p))
					return nil
				}
				typ = f.Type
			}
			return typ
		}
		problems = append(problems, fmt.Sprintf("%s: no variable %s", expr, parts[0]))
		return nil
	}
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			if v := value.FindStringSubmatch(m[1]); v == nil {
				problems = append(problems, m[1]+" is printed without |req")
			} else if typ := path(v[1]); typ != nil && typ.Kind() != reflect.String {
				problems = append(problems, fmt.Sprintf("%s is printed but is a %s", v[1], typ))
			}
			continue
		}
		switch words := strings.Fields(m[2]); words[0] {
		case "for":
			typ := path(words[3])
			if typ != nil && typ.Kind() != reflect.Slice {
				problems = append(problems, words[3]+" is not a slice")
				typ = nil
			}
			if typ == nil {
				typ = reflect.TypeOf([]struct{}{})
			}
			scopes = append(scopes, scope{words[1], typ.Elem()})
			opened++
		case "endfor":
			scopes = scopes[:len(scopes)-1]
			opened--
		case "if":
			path(words[1])
		case "else", "endif":
		default:
			problems = append(problems, "tag "+words[0])
		}
	}
	if opened != 0 {
		problems = append(problems, "for without endfor")
	}
	return problems
}

// TestRenderFails checks that a missing value and a panic inside pongo2 are errors.
func TestRenderFails(t *testing.T) {
	t.Parallel()
	if _, err := render("top.cpp.tpl", typesView{}); err == nil ||
		!strings.Contains(err.Error(), "there is no such value") {
		t.Errorf("got %v", err)
	}
	if _, err := render("nothing.tpl", typesView{}); err == nil {
		t.Error("a template that does not exist")
	}
	if _, err := render("ap_types.hpp.tpl", struct{ Widest string }{}); err == nil {
		t.Error("a view that lacks a field")
	}
}
