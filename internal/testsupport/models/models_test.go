package models

import (
	"strings"
	"testing"

	"hlsgen/internal/diag"
)

// families lists the kinds of network that a clone of the repository must contain.
var families = []string{
	"mlp", "a2q", "powers of two", "pruned", "minifloats", "convolution", "one dimension", "post-training quantisation",
	"global average pool", "depthwise", "residual", "lstm", "bilstm", "scan", "onnx operator",
}

// TestOwn checks that the repository has a model of each family, with the expected files in its folder.
func TestOwn(t *testing.T) {
	t.Parallel()
	list, imported := InRepository(t), 0
	for _, m := range list {
		r := m.Recorded(t)
		n := r.X.Shape[0]
		if r.Y.Shape[0] != n || n < 8 {
			t.Errorf("%s: %d samples, %d outputs", m.Name, n, r.Y.Shape[0])
		}
		for _, c := range r.Codes {
			if c.Data == nil || c.Data.Shape[0] > n {
				t.Errorf("%s: codes of %s: %+v", m.Name, c.Tensor, c.Data)
			}
		}
		if refused, formats := m.Expect(t, m.Files[0]); refused == "" || formats != nil {
			imported++
		}
	}
	if imported < 15 {
		t.Errorf("%d models give a design", imported)
	}
	for _, f := range families {
		found := false
		for _, m := range list {
			found = found || strings.Contains(m.Info.Family, f)
		}
		if !found {
			t.Errorf("no model of the repository is of family %q", f)
		}
	}
}

// TestByOperators compares the outcome that byOperators derives with the outcome that the repository's models
// state.
func TestByOperators(t *testing.T) {
	t.Parallel()
	seen := map[diag.Code]bool{}
	for _, m := range InRepository(t) {
		for _, file := range m.Files {
			seen[m.Info.Refused] = true
			if got := byOperators(m.Read(t, file)); got.Refused != m.Info.Refused || got.LSTM != m.Info.LSTM {
				t.Errorf("%s: %s: %+v, info.json says %+v", m.Name, file, got, m.Info)
			}
		}
	}
	if len(seen) < 2 {
		t.Errorf("only %v are seen", seen)
	}
}
