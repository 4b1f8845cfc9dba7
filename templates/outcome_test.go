package templates

import (
	"errors"
	"slices"
	"testing"
)

// TestOutcome reads the output of test benches.
func TestOutcome(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	for _, c := range []struct {
		stdout, stderr string
		exit           error
		passed         bool
		want           []LayerVerdict
	}{
		{"run  a\nok   a\nPASS 1 checks on 2 frames\n", "", nil, true, []LayerVerdict{{"a", true, ""}}},
		{"run  a\nok   a\nPASS 1 checks on 2 frames\n", "", killed, false,
			[]LayerVerdict{{"a", true, ""}, {"test bench", false, "PASS 1 checks on 2 frames"}}},
		{"run  a\nFAIL a: stream s1, frame 0, word 2: no word\nrun  b\nok   b\nFAIL 1 of 2 checks on 2 frames\n", "",
			killed, false, []LayerVerdict{{"a", false, "stream s1, frame 0, word 2: no word"}, {"b", true, ""}}},
		{"run  a\nok   a\nrun  b\n", "hls::stream b.in is empty and is read, words so far: 3\nmore\n", killed, false,
			[]LayerVerdict{{"a", true, ""}, {"b", false, "hls::stream b.in is empty and is read, words so far: 3"}}},
		{"run  a\n", "", killed, false, []LayerVerdict{{"a", false, "the program ended: killed"}}},
		{"run  a\nok   a\nFAIL tb/data/s1.dat: 3 words\n", "", killed, false,
			[]LayerVerdict{{"a", true, ""}, {"test bench", false, "tb/data/s1.dat: 3 words"}}},
		{"", "", nil, false, []LayerVerdict{{"test bench", false, ""}}},
	} {
		o := outcome(c.stdout, c.stderr, c.exit)
		if o.Passed != c.passed || !slices.Equal(o.Verdicts, c.want) || o.Log != c.stdout+c.stderr {
			t.Errorf("%q: got %+v, want %v", c.stdout, o, c.want)
		}
	}
}
