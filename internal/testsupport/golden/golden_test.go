package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A recorder is a test that only records how it fails.
type recorder struct {
	testing.TB
	log      []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool     { return len(r.log) > 0 }
func (r *recorder) Skipped() bool    { return false }

func (r *recorder) Errorf(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// runs runs f as a test on the folder and returns its failures.
func runs(dir string, update bool, f func(*Folder, testing.TB)) []string {
	r := &recorder{}
	done := make(chan bool)
	go func() {
		defer close(done)
		folder := Dir(r, dir)
		folder.update = update
		f(folder, r)
	}()
	<-done
	for _, c := range slices.Backward(r.cleanups) {
		c()
	}
	return r.log
}

const sum = "Adds.\n-- input --\n1 2\n-- sum --\n3\n"

// sums reads the input of case a and compares a sum.
func sums(f *Folder, t testing.TB, sum string) {
	c := f.Case(t, "a")
	c.Input("input")
	c.Want("sum", []byte(sum))
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		files  map[string]string
		update bool
		test   func(*Folder, testing.TB)
		log    string
		after  map[string]string // if files change
	}{
		{
			name: "equal", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) {
				c := f.Case(t, "a")
				if string(c.Input("input")) != "1 2\n" {
					t.Errorf("input %q", c.Input("input"))
				}
				c.Want("sum", []byte("3"))
			},
		}, {
			name: "different", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { sums(f, t, "4") },
			log:  "a.txtar: section sum (-update to accept)\ngot:\n4\nwant:\n3\n",
		}, {
			name: "update", files: map[string]string{"a": sum}, update: true,
			test: func(f *Folder, t testing.TB) {
				c := f.Case(t, "a")
				c.Want("product", []byte("2\n"))
				c.Want("sum", append(c.Input("input"), "=4"...))
			},
			after: map[string]string{"a": "Adds.\n-- input --\n1 2\n-- sum --\n1 2\n=4\n-- product --\n2\n"},
		}, {
			name: "update writes new files and drops unused sections", files: map[string]string{"a": sum}, update: true,
			test: func(f *Folder, t testing.TB) {
				f.Case(t, "a").Want("sum", []byte("3"))
				f.Case(t, "b").Want("empty", nil)
			},
			after: map[string]string{"a": "Adds.\n-- sum --\n3\n", "b": "-- empty --\n"},
		}, {
			name: "unclaimed file", files: map[string]string{"a": sum, "old": sum},
			test: func(f *Folder, t testing.TB) { sums(f, t, "3") },
			log:  "old.txtar: no test claims it",
		}, {
			name: "unclaimed file on update", files: map[string]string{"old": sum}, update: true,
			test:  func(f *Folder, t testing.TB) { f.Case(t, "a").Want("x", []byte("y")) },
			log:   "old.txtar: no test claims it",
			after: map[string]string{"old": sum, "a": "-- x --\ny\n"},
		}, {
			name: "unused section", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { f.Case(t, "a").Want("sum", []byte("3")) },
			log:  "a.txtar: no test uses section input",
		}, {
			name: "missing section", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { f.Case(t, "a").Want("product", []byte("2")) },
			log:  "a.txtar: no section product (run the test with -update to write it):\n2\n",
		}, {
			name: "missing input", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { f.Case(t, "a").Input("output") },
			log:  "a.txtar: no section output",
		}, {
			name: "claimed twice", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { f.Case(t, "a"); f.Case(t, "a") },
			log:  "a.txtar: two tests claim it",
		}, {
			name: "used twice", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) {
				c := f.Case(t, "a")
				c.Want("sum", []byte("3"))
				c.Want("sum", []byte("3"))
			},
			log: "a.txtar: section sum is used twice",
		}, {
			name: "not for txtar", files: map[string]string{"a": sum},
			test: func(f *Folder, t testing.TB) { f.Case(t, "a").Want("sum", []byte("3\n-- trap --\n")) },
			log:  "a.txtar: what section sum shall hold has a line like a section's head: trap",
		}, {
			name: "a failed update writes nothing", files: map[string]string{"a": sum}, update: true,
			test: func(f *Folder, t testing.TB) {
				f.Case(t, "a").Want("sum", []byte("5"))
				t.Errorf("for another reason")
			},
			log: "for another reason",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			log := strings.Join(runs(dir, c.update, c.test), "; ")
			if got := strings.ReplaceAll(log, dir+string(filepath.Separator), ""); got != c.log {
				t.Errorf("log %q, want %q", got, c.log)
			}
			if c.after == nil {
				c.after = c.files
			}
			for name, want := range c.after {
				if got, err := os.ReadFile(filepath.Join(dir, name+".txtar")); err != nil || string(got) != want {
					t.Errorf("%s is %q (%v), want %q", name, got, err, want)
				}
			}
		})
	}
}

func TestFolderCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b.txtar", "a.txtar", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := Dir(t, dir)
	if got := f.Cases(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("cases %v", got)
	}
	for _, name := range f.Cases() {
		f.Case(t, name)
	}
}
