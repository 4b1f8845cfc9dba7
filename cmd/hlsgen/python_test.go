package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/internal/picture"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/tier"
)

// pythonRecords are the schemas of docs/schemas of which the Python package has classes.
var pythonRecords = []string{"check", "stats", "build", "pareto", "simulate", "sweep", "sweep-points", "convert",
	"collect", "weights", "latencies", "formats", "synth", "boards", "manifest", "trace"}

// pythonNames gives definitions names in Python where theirs are not good ones.
var pythonNames = map[string]string{"hlsgen.built": "BuildResult", "hlsgen.checked": "CheckResult",
	"hlsgen.counted": "StatsResult", "hlsgen.statsTotal": "StatsTotal", "hlsgen.simulated": "SimulationResult",
	"hlsgen.swept": "SweepResult", "hlsgen.converted": "ConvertResult", "hlsgen.collected": "CollectResult",
	"hlsgen.weighed": "WeightsResult", "hlsgen.latenciesMade": "LatenciesResult", "hlsgen.compared": "FormatsResult",
	"hlsgen.frontJSON": "ParetoResult", "hlsgen.frontItem": "ParetoPoint", "hlsgen.folded": "Folded",
	"hlsgen.synthesised": "SynthResult", "hlsgen.share": "Share", "hlsgen.tensor": "Tensor",
	"sweep.sheet":    "SweepPoints",
	"build.manifest": "Manifest"}

// pythonName returns the name of the class of a definition.
func pythonName(definition string) string {
	if n := pythonNames[definition]; n != "" {
		return n
	}
	_, name, _ := strings.Cut(definition, ".")
	return strings.TrimSuffix(name, "Report")
}

// A pythonSchema is a part of a schema.
type pythonSchema struct {
	Ref         string                   `json:"$ref"`
	Defs        map[string]*pythonSchema `json:"$defs"`
	Type        string
	Description string
	Properties  json.RawMessage
	Items       *pythonSchema
	Additional  json.RawMessage `json:"additionalProperties"`
	Required    []string
}

// class returns the class that a schema refers to, or nothing.
func (s *pythonSchema) class() string {
	if s == nil || s.Ref == "" {
		return ""
	}
	return pythonName(strings.TrimPrefix(s.Ref, "#/$defs/"))
}

// member returns the schema of the members of an object without names of its own, or nil.
func (s *pythonSchema) member() *pythonSchema {
	m := new(pythonSchema)
	if s.Type != "object" || json.Unmarshal(s.Additional, m) != nil {
		return nil
	}
	return m
}

// typed returns the type of a value in Python.
func (s *pythonSchema) typed() string {
	if c := s.class(); c != "" {
		return c
	}
	if m := s.member(); m != nil {
		return "Dict[str, " + m.typed() + "]"
	}
	switch s.Type {
	case "integer":
		return "int"
	case "number":
		return "float"
	case "string":
		return "str"
	case "boolean":
		return "bool"
	case "array":
		return "List[" + s.Items.typed() + "]"
	}
	return "Any"
}

// maker returns the expression of what makes a value of JSON a value of Python; nothing if they are the same.
func (s *pythonSchema) maker() string {
	if c := s.class(); c != "" {
		return c
	}
	if m := s.member(); m != nil && m.class() != "" {
		return "dict_of(" + m.class() + ")"
	}
	if s.Type == "array" && s.Items.class() != "" {
		return "list_of(" + s.Items.class() + ")"
	}
	return ""
}

// taken are names of Python's mappings, and words of the language: values of these names are items alone.
var taken = strings.Fields("keys items values get copy to_dict for from import in is not or and if else with class " +
	"def " +
	"return pass lambda global try while yield None True False as assert del")

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// pythonClasses returns the module with a class for each definition of the schemas.
func pythonClasses(t *testing.T) string {
	t.Helper()
	all := map[string]*pythonSchema{}
	for _, name := range pythonRecords {
		text, err := os.ReadFile(filepath.Join(tier.Root(t), "docs", "schemas", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var s pythonSchema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, s.Defs)
	}
	byClass := map[string]*pythonSchema{}
	for definition, s := range all {
		if byClass[pythonName(definition)] != nil {
			t.Errorf("two definitions are called %s in Python", pythonName(definition))
		}
		byClass[pythonName(definition)] = s
	}
	var classes, makers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(byClass)) {
		s := byClass[name]
		_, text, said := strings.Cut(strings.ReplaceAll(s.Description, "\n", " "), " ")
		if !said {
			text = "is a JSON object of hlsgen."
		}
		fmt.Fprintf(&classes, "\n\nclass %s(Record):\n%s", name, docstring(upper(text), "    "))
		var optional, made []string
		for _, p := range properties(t, s.Properties) {
			if m := p.schema.maker(); m != "" {
				made = append(made, fmt.Sprintf("%q: %s", p.name, m))
			}
			if !identifier.MatchString(p.name) || slices.Contains(taken, p.name) {
				continue
			}
			typed := p.schema.typed()
			if !slices.Contains(s.Required, p.name) {
				typed = "Optional[" + typed + "]"
				optional = append(optional, fmt.Sprintf("%q", p.name))
			}
			comment := ""
			if p.schema.Description != "" && p.schema.class() == "" {
				comment = "  # " + strings.Join(strings.Fields(p.schema.Description), " ")
			}
			fmt.Fprintf(&classes, "    %s: %s%s\n", p.name, typed, comment)
		}
		if len(optional) > 0 {
			fmt.Fprintf(&makers, "%s._optional = (%s,)\n", name, strings.Join(optional, ", "))
		}
		if len(made) > 0 {
			fmt.Fprintf(&makers, "%s._makers = {%s}\n", name, strings.Join(made, ", "))
		}
	}
	return `"""What hlsgen says, as classes, of docs/schemas. go test ./cmd/hlsgen -run TestPython -update writes it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ._record import Record, dict_of, list_of
` + classes.String() + "\n\n" + makers.String()
}

// upper returns a text that begins with a capital.
func upper(text string) string {
	r := []rune(text)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// docstring returns a text as the documentation of what is indented so.
func docstring(text, indent string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), `\`, `\\`)
	body := strings.ReplaceAll(wrap(text, indent, 116)[len(indent):], `"""`, `'''`)
	return indent + `"""` + strings.TrimSuffix(body, "\n") + "\n" + indent + "\"\"\"\n"
}

// A property is a value of an object.
type property struct {
	name   string
	schema *pythonSchema
}

// properties returns the values of an object in the order of the schema.
func properties(t *testing.T, text json.RawMessage) (list []property) {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	in := json.NewDecoder(strings.NewReader(string(text)))
	in.Token()
	for in.More() {
		key, err := in.Token()
		if err != nil {
			t.Fatal(err)
		}
		p := property{name: key.(string), schema: new(pythonSchema)}
		if err := in.Decode(p.schema); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// A pythonMethod is a method whose keywords are the options of a command.
type pythonMethod struct {
	name, command string
	before        string   // parameters in front of the options
	call          string   // what it calls with these
	gives         string   // the type of the result
	doc           string   // the documentation; empty: that of the command
	but           []string // options that are parameters of other names
}

// pythonMethods are the methods of hlsgen.Model whose keywords are options, and functions of the module.
var pythonMethods = []pythonMethod{
	{"check", "check", "x: Arrays = None, ", "x", "Check", "", nil},
	{"stats", "stats", "x: Arrays = None, ", "x", "StatsResult", "", []string{"data"}},
	{"predict", "simulate", "*x: Arrays, lengths: Arrays = None, codes: bool = False, ", "x, lengths, codes", "Any",
		"Runs the model on samples, and returns what it gives: an array, or a dict of arrays by name where the " +
			"model has several outputs. x are arrays, one for each input in their order, or a dict of them by name. " +
			"With codes the result is the integers that leave the accelerator.", ofSamples},
	{"accuracy", "simulate", "x: Arrays = None, labels: Arrays = None, *, lengths: Arrays = None, ",
		"x, labels, lengths", "Accuracy", "Counts the samples of which the model gives the right class.", ofSamples},
	{"trace", "simulate", "*x: Arrays, lengths: Arrays = None, ", "x, lengths", "Trace",
		"Runs the model on samples, and returns every tensor, by its name in the ONNX file or by the layer that " +
			"computes it. Engine reference has all tensors of the file; others have those that streams carry, with " +
			"their integers.", ofSamples},
	{"profile", "simulate", "*x: Arrays, lengths: Arrays = None, ", "x, lengths", "Profile",
		"Runs the model on samples, and says what values tensors have: ranges, histograms, saturation and entropy.",
		ofSamples},
	{"build", "build", "board: Option = None, x: Arrays = None, labels: Arrays = None, *, " + withProgress,
		"board, x, labels, progress", "Design", "", []string{"board", "with-model", "pareto", "points"}},
	{"pareto", "build", "board: Option = None, *, " + withProgress, "board, progress", "ParetoResult",
		"Returns the designs that are worth choosing from, by interval and least, and builds none.",
		[]string{"board", "with-model", "pareto", "out", "force"}},
	{"sweep", "sweep", "boards: Option = None, x: Arrays = None, labels: Arrays = None, *, " + withProgress,
		"boards, x, labels, progress", "Sweep", "", nil},
	{"convert", "convert", "to: Option = None, ", "to", "Converted", "", []string{"to"}},
	{"graph", "graph", "form: Option = None, ", "form", "Drawing", "Draws every node with what becomes of it, and " +
		"the shapes and types of the tensors between them. form is svg, png, dot for Graphviz or onnx for viewers " +
		"such as Netron; without it, svg, or what the extension of out says. A model that does not map is drawn, too.",
		nil},
	{"weights", "weights", "for_: Option = None, ", "for_", "WeightsResult", "", []string{"for"}},
}

// withProgress is the parameter of commands that take long.
const withProgress = "progress: ProgressOption = None, "

// ofSamples are options of simulate that are parameters, or methods.
var ofSamples = []string{"lengths", "codes", "trace"}

// notKeywords are options that speak of a terminal or of files of settings, or are parameters called x and labels.
var notKeywords = []string{"json", "config", "help", "output", "input", "labels", "quiet", "verbose", "log-format",
	"on-interrupt"}

// pythonCommands returns the module with the methods.
func pythonCommands(t *testing.T) string {
	t.Helper()
	commands := map[string]*cobra.Command{}
	for _, c := range bare().root().Commands() {
		commands[c.Name()] = c
	}
	var b, flags, called strings.Builder
	for _, m := range pythonMethods {
		fmt.Fprintf(&called, "    _%s: Callable[..., %q]\n", m.name, m.gives)
		c := commands[m.command]
		doc := m.doc
		if doc == "" {
			doc = c.Long
		}
		var keywords, told []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(notKeywords, f.Name) || slices.Contains(m.but, f.Name) {
				return
			}
			name := strings.ReplaceAll(f.Name, "-", "_")
			if slices.Contains(taken, name) {
				name += "_"
			}
			typed := "Option"
			if f.Value.Type() == "bool" {
				typed = "Optional[bool]"
			}
			keywords = append(keywords, fmt.Sprintf("%s: %s = None", name, typed))
			_, usage := pflag.UnquoteUsage(f)
			told = append(told, fmt.Sprintf("%s: %s", name, usage))
		})
		star := "*, "
		if strings.Contains(m.before, "*") {
			star = ""
		}
		fmt.Fprintf(&b, "\n    def %s(self, %s%s%s, **unknown: NoReturn) -> %q:\n%s", m.name, m.before, star,
			strings.Join(keywords, ", "), m.gives, methodDoc(doc, told))
		fmt.Fprintf(&b, "        return self._%s(%s, options(locals()))\n", m.name, m.call)
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		var names []string
		commands[name].Flags().VisitAll(func(f *pflag.Flag) { names = append(names, fmt.Sprintf("%q", f.Name)) })
		if commands[name].Flags().Lookup("json") != nil {
			fmt.Fprintf(&flags, "    %q: frozenset([%s]),\n", name, strings.Join(names, ", "))
		}
	}
	return `"""Options as keywords. Written by go test ./cmd/hlsgen -run TestPython -update, of the command line's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, NoReturn, Optional

from ._options import Arrays, Option, ProgressOption, options

if TYPE_CHECKING:
    from ._model import Accuracy, Check, Converted
    from ._design import Design
    from ._drawing import Drawing
    from ._results import ParetoResult, StatsResult, WeightsResult
    from ._sweep import Sweep
    from ._trace import Profile, Trace

FLAGS: Dict[str, FrozenSet[str]] = {  # by command, its options
` + flags.String() + `}

FORMS = ("` + strings.Join(picture.Formats, `", "`) + `")  # of drawings


class Commands:
    """The methods of a model whose keywords are the options of a command."""

` + called.String() + b.String()
}

// methodDoc returns the documentation of a method: what it does, and its options.
func methodDoc(doc string, told []string) string {
	text := strings.ReplaceAll(strings.TrimSpace(doc), `\`, `\\`)
	out := "        \"\"\"" + strings.TrimSpace(wrap(text, "        ", 116)) + "\n\n"
	for _, line := range told {
		out += wrap(strings.ReplaceAll(line, `\`, `\\`), "        ", 116)
		if !strings.HasSuffix(out, "\n") {
			out += "\n"
		}
	}
	return out + "        \"\"\"\n"
}

// TestPython compares the modules of the Python package that are written from schemas and options with what they are
// written from. Each option of a command is a keyword, or stands in a list of those that are none.
func TestPython(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"_results.py": pythonClasses(t), "_commands.py": pythonCommands(t)} {
		path := filepath.Join(tier.Root(t), "python", "hlsgen", name)
		if *golden.Update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if stands, err := os.ReadFile(path); err != nil || string(stands) != want {
			t.Errorf("%s is not what schemas and options give (%v; -update writes it)", name, err)
		}
	}
}
