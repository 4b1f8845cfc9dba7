package schema

import (
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

type whole struct {
	Version int      `json:"version"`
	Names   []string `json:"names"`
	Part    *part    `json:"part,omitempty"`
}

// A part is a type within the tested form.
type part struct {
	Size float64 `json:"size"` // in metres
}

// TestCheckBites checks that JSON which does not match the form fails.
func TestCheckBites(t *testing.T) {
	t.Parallel()
	c := comments{root: tier.Root(t)}
	text := generate(t, &c, "a title", whole{}, true)
	for _, want := range []string{`"title": "a title"`, `"description": "in metres"`,
		`"description": "A part is a type within the tested form."`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	f := &Form{"whole", compile(t, "whole", text), compile(t, "whole", generate(t, &c, "", whole{}, false))}
	for text, ok := range map[string]bool{
		`{"version": 1, "names": []}`:                              true,
		`{"version": 1, "names": ["a"], "part": {"size": 0.5}}`:    true,
		`{"version": 1, "names": null}`:                            false,
		`{"version": 1.5, "names": []}`:                            false,
		`{"names": []}`:                                            false,
		`{"version": 1, "names": [], "more": 1}`:                   false,
		`{"version": 1, "names": [], "part": {"size": 1, "x": 1}}`: false,
		`{"version": 1, "names": [1]}`:                             false,
		`{"version": 1, "names": []`:                               false,
	} {
		r := &recorder{TB: t}
		if f.Check(r, []byte(text)); r.failed == ok {
			t.Errorf("%s: failed is %v", text, r.failed)
		}
	}
}

// A recorder records that a test failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
