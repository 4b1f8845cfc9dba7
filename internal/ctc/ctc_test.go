package ctc

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// scores returns a row per letter of its text. The class of the letter in abc (blank for other letters) has the
// value of the digit behind the letter. All other classes have -1.
func scores(text string) (out []float64) {
	for i := 0; i < len(text); i += 2 {
		row := []float64{-1, -1, -1, -1}
		row[1+strings.IndexByte("abc", text[i])] = float64(text[i+1] - '0')
		out = append(out, row...)
	}
	return out
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ scores, greedy, peaks string }{
		{"", "", ""},
		{"-1", "", ""},
		{"a1-1", "a", "a"},
		{"a1a2-1a1-1", "aa", "aa"},     // repetitions count once, with a blank between them twice
		{"a1", "a", ""},                // nothing ends the peak
		{"a1b2-1", "ab", "b"},          // without a blank between, the weaker one is lost
		{"a2b2-1", "ab", "a"},          // of equal scores the first one counts
		{"a1b2-1c1-1", "abc", "bc"},    // the next peak starts anew
		{"-9a1-9b1-9c1", "abc", "ab"},  // a blank's value does not count
		{"a1-1b1-1c1-1", "abc", "abc"}, // an even length
	} {
		d := Decoder{MethodGreedy, []string{"?", "a", "b", "c"}, 0}
		if got := d.DecodeScoresToText(scores(tt.scores)); got != tt.greedy {
			t.Errorf("%s is greedily %q, want %q", tt.scores, got, tt.greedy)
		}
		d.Method = MethodBestBetweenBlanks
		if got := d.DecodeScoresToText(scores(tt.scores)); got != tt.peaks {
			t.Errorf("%s has the peaks %q, want %q", tt.scores, got, tt.peaks)
		}
		d.Method = MethodNone
		if got := d.DecodeScoresToText(scores(tt.scores)); got != "" {
			t.Errorf("%s is %q without decoding", tt.scores, got)
		}
	}
}

// TestPeaksStale checks steps without a score above zero. The hardware handles steps from the middle outwards. Such
// a step keeps the class of the step handled before it. If that class is a symbol, the step separates nothing; if
// it is a blank, the step ends a peak. The class has no other effect.
func TestPeaksStale(t *testing.T) {
	t.Parallel()
	none := []float64{0, 0, -1, -1} // not above zero
	row := func(text string) []float64 { return scores(text) }
	for _, tt := range []struct {
		steps [][]float64
		want  string
	}{
		// Four steps are handled in the order 2, 1, 3, 0. Step 1 keeps b of step 2: it is no blank, and a, not weaker
		// than b, came first.
		{[][]float64{row("a1"), none, row("b1"), row("-1")}, "a"},
		{[][]float64{row("a1"), none, row("-1"), row("-1")}, "a"}, // 1 keeps the blank of 2
		{[][]float64{none, none, none, none}, ""},                 // all blank: the hardware starts with it
		{[][]float64{none, row("-1"), row("b2"), row("a1")}, ""},  // 0 keeps a of 3, with value 0, and nothing ends b
		{[][]float64{none, row("a1"), row("b2"), row("-1")}, "b"}, // 0 keeps the blank of 3
		// Five steps are handled in the order 2, 1, 3, 0, 4.
		{[][]float64{row("-1"), row("b1"), row("a2"), row("c1"), none}, "a"}, // 4 keeps the blank of 0
		{[][]float64{row("b1"), row("b1"), row("a2"), row("c1"), none}, ""},  // 4 keeps b of 0
	} {
		d := Decoder{MethodBestBetweenBlanks, []string{"?", "a", "b", "c"}, 0}
		if got := d.DecodeScoresToText(slices.Concat(tt.steps...)); got != tt.want {
			t.Errorf("%v is %q, want %q", tt.steps, got, tt.want)
		}
	}
}

// TestTies checks that of equal scores both methods take the lowest class, whichever class is the blank.
func TestTies(t *testing.T) {
	t.Parallel()
	steps := []float64{2, 2, 2, 1, 1, 3, 0, 1, 1} // classes 0, 2, 1
	if got := (&Decoder{MethodGreedy, []string{"a", "b", "?"}, 2}).decodeClasses(steps); !slices.Equal(got, []int{0,
		1}) {
		t.Errorf("greedy: %v", got)
	}
	if got := (&Decoder{MethodBestBetweenBlanks, []string{"a", "b", "?"}, 2}).decodeClasses(steps); !slices.Equal(got,
		[]int{0}) {
		t.Errorf("peaks: %v", got)
	}
}

// TestRandom checks that no label is the blank. If every step has a score above zero, both methods take the same
// class of a step, and a peak begins where a greedy label does. So there are no more peaks than greedy labels.
func TestRandom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		d := Decoder{MethodGreedy, make([]string, 2+rnd.IntN(4)), 0}
		d.Blank = rnd.IntN(len(d.Alphabet))
		steps := make([]float64, rnd.IntN(12)*len(d.Alphabet))
		for i := range steps {
			steps[i] = float64(1 + rnd.IntN(6))
		}
		greedy := d.decodeClasses(steps)
		d.Method = MethodBestBetweenBlanks
		peaks := d.decodeClasses(steps)
		if slices.Contains(greedy, d.Blank) || slices.Contains(peaks, d.Blank) || len(peaks) > len(greedy) {
			t.Fatalf("blank %d, %v: greedy %v, peaks %v", d.Blank, steps, greedy, peaks)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const abc = `["", "a", "b"]`
	for _, tt := range []struct {
		meta   map[string]string
		method DecodingMethod
		want   DecodingMethod // "" for no decoder
		blank  int
		err    string
	}{
		{nil, "", "", 0, ""},
		{map[string]string{"decode": "greedy"}, MethodBestBetweenBlanks, "", 0, ""},
		{map[string]string{"alphabet": abc}, "", MethodGreedy, 0, ""},
		{map[string]string{"alphabet": abc, "blank": "2", "decode": "finn-l-peak"}, "", MethodBestBetweenBlanks, 2, ""},
		{map[string]string{"alphabet": abc, "decode": "finn-l-peak"}, MethodGreedy, MethodGreedy, 0, ""},
		{map[string]string{"alphabet": abc, "decode": "beam"}, MethodNone, MethodNone, 0, ""},
		{map[string]string{"alphabet": abc, "decode": "beam"}, "", "", 0, `decode is "beam"`},
		{map[string]string{"alphabet": abc, "blank": "3"}, "", "", 0, "blank is class 3 of 3"},
		{map[string]string{"alphabet": abc, "blank": "-1"}, "", "", 0, "blank is class -1 of 3"},
		{map[string]string{"alphabet": abc, "blank": "x"}, "", "", 0, `blank is "x"`},
		{map[string]string{"alphabet": "abc"}, "", "", 0, "no JSON list"},
		{map[string]string{"alphabet": "null"}, "", "", 0, "blank is class 0 of 0"},
	} {
		d, err := NewDecoderFromMetadata(tt.meta, tt.method)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v: %v, want %q", tt.meta, err, tt.err)
		}
		if (d == nil) != (tt.want == "") || d != nil && (d.Method != tt.want || d.Blank != tt.blank ||
			len(d.Alphabet) != 3) {
			t.Errorf("%v: %+v, want %q, blank %d", tt.meta, d, tt.want, tt.blank)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	d := Decoder{Alphabet: make([]string, 3)}
	for _, tt := range []struct {
		shape []int
		want  bool
	}{{[]int{7, 3}, true}, {[]int{7, 1, 3}, true}, {[]int{1, 7, 3}, true}, {[]int{1, 3}, true}, {[]int{3}, false},
		{[]int{7, 4}, false}, {[]int{2, 7, 3}, false}, {nil, false}} {
		if got := d.CanDecodeShape(tt.shape); got != tt.want {
			t.Errorf("%v: %v", tt.shape, got)
		}
	}
}
