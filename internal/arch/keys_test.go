package arch

import (
	"encoding/json"
	"go/ast"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// finnFiles are the files in FINN's form: they keep its keys, and with them its word for clocks.
var finnFiles = []string{"estimate_layer_cycles", "estimate_layer_resources", "estimate_network_performance",
	"op_and_param_counts"}

// finnKeys lists the keys of these files that count cycles, as in the code.
var finnKeys = []string{"critical_path_cycles", "max_cycles", "max_cycles_node_name", "simulated_latency_cycles",
	"simulated_interval_cycles"}

// cycled is a key of JSON, or a column of CSV, that counts clocks under FINN's word.
var cycled = regexp.MustCompile(`^([a-z0-9_]+_)?cycles(_[a-z0-9_]+)?$`)

// TestFigures checks that a figure has one name: keys that count clocks end in _clocks, in JSON and in CSV, except in
// FINN's files.
func TestFigures(t *testing.T) {
	t.Parallel()
	keys := schemaKeys(t)
	if !slices.Contains(keys, "latency_clocks") {
		t.Errorf("no schema has latency_clocks, of %d keys", len(keys))
	}
	for _, key := range keys {
		if cycled.MatchString(key) {
			t.Errorf("docs/schemas has %s: say clocks", key)
		}
	}
	seen := map[string]bool{}
	check := func(s *source, key string) {
		seen[key] = true
		if cycled.MatchString(key) && strings.Contains(key, "_") && !slices.Contains(finnKeys, key) {
			t.Errorf("%s has %q: say clocks", s.name, key)
		}
	}
	for _, files := range packages(t, true) {
		for _, s := range files {
			ast.Inspect(s.file, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.Field:
					if x.Tag != nil {
						tag, err := strconv.Unquote(x.Tag.Value)
						key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
						if err != nil {
							t.Error(err)
						}
						check(s, key)
					}
				case *ast.BasicLit: // the columns of CSV
					if text, err := strconv.Unquote(x.Value); err == nil {
						check(s, text)
					}
				}
				return true
			})
		}
	}
	for _, key := range finnKeys {
		if !seen[key] {
			t.Errorf("%s is no key: leave it out of finnKeys", key)
		}
	}
}

// schemaKeys returns the keys of docs/schemas, without those of FINN's files.
func schemaKeys(t *testing.T) (keys []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(tier.Root(t), "docs", "schemas", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for _, name := range files {
		if slices.Contains(finnFiles, strings.TrimSuffix(filepath.Base(name), ".json")) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var schema any
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keys = properties(schema, keys)
	}
	return keys
}

// properties adds the keys that a schema, or a part of one, gives objects.
func properties(schema any, keys []string) []string {
	switch x := schema.(type) {
	case []any:
		for _, e := range x {
			keys = properties(e, keys)
		}
	case map[string]any:
		if named, ok := x["properties"].(map[string]any); ok {
			keys = append(keys, sorted(named)...)
		}
		for _, k := range sorted(x) {
			keys = properties(x[k], keys)
		}
	}
	return keys
}
