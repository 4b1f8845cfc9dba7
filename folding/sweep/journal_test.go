package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/tier"
)

// TestFlips flips every bit of a journal, and checks that each flip is detected and no changed entry is used.
func TestFlips(t *testing.T) {
	t.Parallel()
	h := header{Sweep: form, Model: "m.onnx", SHA256: "1234"}
	truth := map[string][]PointResult{"a": {{Board: "b", ClockMHz: 100, FPS: 12.5, Status: PointStatusFits}}, "b": nil}
	data := []byte(line(t, h) + line(t, entry{"a", truth["a"]}) + line(t, entry{"b", nil}))
	read := func(data []byte) (*journal, []byte) {
		j := &journal{done: map[string][]PointResult{}}
		keep, err := j.read(data, h, false)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		return j, keep
	}
	if j, keep := read(data); j.broken != 0 || !reflect.DeepEqual(j.done, truth) || !bytes.Equal(keep, data) {
		t.Fatalf("%+v, %q", j, keep)
	}
	for bit := range 8 * len(data) {
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		j, keep := read(flipped)
		if j.broken == 0 {
			t.Fatalf("bit %d: %q is taken", bit, flipped)
		}
		for key, points := range j.done {
			if _, ok := truth[key]; !ok || !reflect.DeepEqual(points, truth[key]) {
				t.Fatalf("bit %d: %+v", bit, j.done)
			}
		}
		if again, _ := read(keep); again.broken != 0 || !reflect.DeepEqual(again.done, j.done) {
			t.Fatalf("bit %d: the repaired journal %q has %+v", bit, keep, again)
		}
	}
}

// TestRepair damages the journal of a finished sweep. The sweep warns, repeats the damaged searches, and writes the
// same files; the next run has no warning.
func TestRepair(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := onPynq(t)
	o.FPS = []float64{1e4, 1e5, 1e6}
	run(t, o)
	want, path := content(t, o.Out), filepath.Join(o.Out, journalFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for n, fresh := range []int{0, 1, 1} { // warnings of damaged lines
		at := len(bytes.Join(lines[:n], nil)) + len(lines[n])/2
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		r, d := told(t, o)
		if len(d.Diags) != 1 || d.Diags[0].Code != diag.SweepJournalDamaged || r.Fresh != fresh ||
			!reflect.DeepEqual(content(t, o.Out), want) {
			t.Errorf("line %d: %d fresh, %v", n, r.Fresh, d.Diags)
		}
		if r, d := told(t, o); len(d.Diags) > 0 || r.Fresh > 0 {
			t.Errorf("line %d, again: %d fresh, %v", n, r.Fresh, d.Diags)
		}
	}
}

// TestBusy checks that a second sweep to the same folder is refused.
func TestBusy(t *testing.T) {
	t.Parallel()
	o := onPynq(t)
	o.FPS = []float64{1e4}
	j, err := openJournal(o.Out, header{SHA256: source.ReadModelFile("", nil).SHA256()}, false)
	if err != nil {
		t.Fatal(err)
	}
	r, d := told(t, o)
	if r != nil || d.Diags[0].Code != diag.OutputFolderBusy || !strings.HasPrefix(d.Diags[0].Msg, o.Out+" is being") {
		t.Errorf("%v", d.Diags)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if run(t, o); len(content(t, o.Out)) == 0 {
		t.Error("no files")
	}
	// A file that is not a journal is not read.
	o.Out = t.TempDir()
	if err := os.Mkdir(filepath.Join(o.Out, journalFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if r, d := told(t, o); r != nil || !strings.Contains(d.Diags[0].Msg, "is no regular file but a folder") {
		t.Errorf("%v", d.Diags)
	}
	if there, err := outputdir.InspectFolder(o.Out, nil); err != nil || there.NotOursReason == nil {
		t.Error(there, err)
	}
}
