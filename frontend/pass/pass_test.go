package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/diag"
)

// words is the graph of these tests: a list of words.
type words = *[]string

func adds(name string, after ...string) Pass[words] {
	return Pass[words]{Name: name, Doc: "adds its name", After: after, Run: func(g words, _ *diag.List) bool {
		*g = append(*g, name)
		return true
	}}
}

func does(name string, run func(words, *diag.List) bool) Pass[words] {
	return Pass[words]{Name: name, Doc: "does what a test needs", Run: run}
}

func idle(words, *diag.List) bool { return false }

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		table []Pass[words]
		want  string
	}{
		{nil, ""},
		{[]Pass[words]{adds("a"), adds("b", "a"), adds("c", "a", "b")}, ""},
		{[]Pass[words]{adds("b", "a"), adds("a")}, "pass b must stand after a"},
		{[]Pass[words]{adds("a", "a")}, "pass a must stand after a"},
		{[]Pass[words]{adds("a", "gone")}, "pass a must stand after gone"},
		{[]Pass[words]{adds("a"), adds("a")}, "two passes are called a"},
		{[]Pass[words]{adds("a"), {Name: "b", Doc: "no body"}}, `pass 2 ("b") lacks`},
		{[]Pass[words]{{Name: "a", Run: idle}}, `pass 1 ("a") lacks`},
		{[]Pass[words]{does("", idle)}, `pass 1 ("") lacks`},
	} {
		err := checkPasses(c.table)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	table := []Pass[words]{adds("a"), does("idle", idle), adds("b"), adds("c")}
	for _, c := range []struct {
		until                   int
		graph, dumps            string
		verifications, failWith int
	}{
		{0, "a b c", "1a:a 3b:a,b 4c:a,b,c", 4, 0},
		{1, "a", "1a:a", 1, 0},
		{2, "a", "1a:a", 2, 0},
		{9, "a b c", "1a:a 3b:a,b 4c:a,b,c", 4, 0},
		{0, "a b", "1a:a 3b:a,b", 3, 3},
	} {
		var g, dumps []string
		verified := 0
		full := errors.New("disk full")
		err := RunPasses(table, &g, Options[words]{
			Until:  c.until,
			Verify: func(words) error { verified++; return nil },
			Dump: func(n int, pass string, g words) error {
				dumps = append(dumps, fmt.Sprintf("%d%s:%s", n, pass, strings.Join(*g, ",")))
				if n == c.failWith {
					return full
				}
				return nil
			},
		}, &diag.List{})
		if got := strings.Join(g, " "); got != c.graph || strings.Join(dumps, " ") != c.dumps ||
			verified != c.verifications {
			t.Errorf("until %d: graph %q, dumps %v, %d verifications; want %+v", c.until, got, dumps, verified, c)
		}
		if errors.Is(err, full) != (c.failWith > 0) || err != nil && err.Error() != "dump after pass b: disk full" {
			t.Errorf("until %d: error %v", c.until, err)
		}
	}
}

func TestRunGoesOnAfterDiagnostics(t *testing.T) {
	t.Parallel()
	var d diag.List
	var g []string
	table := []Pass[words]{does("picky", func(_ words, d *diag.List) bool {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.OpInvalid, Msg: "bad"})
		return false
	}), adds("a")}
	if err := RunPasses(table, &g, Options[words]{}, &d); err != nil || !d.HasErrors() || !slices.Equal(g,
		[]string{"a"}) {
		t.Errorf("error %v, diagnostics %v, graph %v", err, d.Diags, g)
	}
}

func TestRunPanics(t *testing.T) {
	t.Parallel()
	broken := errors.New("two writers")
	for _, c := range []struct {
		table  []Pass[words]
		verify func(words) error
		want   string
		is     error
	}{
		{[]Pass[words]{adds("a"), does("boom", func(words, *diag.List) bool { panic("no such axis") })}, nil,
			"pass boom: no such axis", nil},
		{[]Pass[words]{does("boom", func(words, *diag.List) bool { panic(broken) })}, nil, "pass boom: two writers",
			broken},
		{[]Pass[words]{does("idle", idle), adds("a")}, func(g words) error {
			if len(*g) > 0 {
				return broken
			}
			return nil
		}, "pass a: left a graph that is not well formed: two writers", broken},
		{[]Pass[words]{adds("a", "b")}, nil, "pass a must stand after b", nil},
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				if err == nil || err.Error() != c.want || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("panic %v, want %q", err, c.want)
				}
			}()
			var g []string
			if err := RunPasses(c.table, &g, Options[words]{Verify: c.verify}, &diag.List{}); err != nil {
				t.Error(err)
			}
		}()
	}
}
