package operators_test

import (
	"strings"
	"testing"

	"hlsgen/frontend/graph"
)

// TestModule reads the module of a node from the metadata that torch.onnx.export writes, in its two spellings.
func TestModule(t *testing.T) {
	t.Parallel()
	const scopes = "pkg.torch.onnx.name_scopes"
	for _, c := range []struct {
		meta map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"namespace": ": Net/a.fc: Linear/linear: aten.linear.default"}, "a.fc"},
		{map[string]string{"namespace": ": Net/linear: aten.linear.default"}, ""},
		{map[string]string{scopes: "['', 'a', 'a.fc', 'linear']"}, "a.fc"},
		{map[string]string{scopes: "['', 'linear']"}, ""},
		{map[string]string{scopes: "['linear']"}, ""},
		{map[string]string{scopes: "[]"}, ""},
		{map[string]string{scopes: "anything"}, ""},
		{map[string]string{scopes: "['', '" + strings.Repeat("x", 2000) + "', 'linear']"}, ""},
		{map[string]string{"namespace": ": Net/fc: Linear/mm: m", scopes: "['', 'other', 'mm']"}, "fc"},
	} {
		if got := (&graph.Node{Meta: c.meta}).ModuleName(); got != c.want {
			t.Errorf("%v: %q, want %q", c.meta, got, c.want)
		}
	}
}
