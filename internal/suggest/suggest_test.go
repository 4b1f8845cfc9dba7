package suggest

import (
	"slices"
	"testing"
)

// TestNearest tells typos and beginnings from other words.
func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"board", "fps", "max-use", "no-csim", "passes-until", "passes"}
	for word, want := range map[string]string{
		"bord": "board", "boards": "board", "fsp": "fps", "max_use": "max-use", "nocsim": "no-csim", "FPS": "fps",
		"Board": "board", "passes": "passes", "no-c": "no-csim", "pass": "passes",
		"x": "", "": "", "colour": "", "max-users-of-it": "",
	} {
		if got := NearestWord(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{"bord": ", did you mean board?", "colour": ""} {
		if got := DidYouMeanSuffix(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := NearestWords("pases", known, 2); !slices.Equal(got, []string{"passes"}) {
		t.Errorf("near pases are %q", got)
	}
	if got := NearestWords("t1", []string{"t12", "t2", "t", "far away"}, 2); !slices.Equal(got, []string{"t12", "t2"}) {
		t.Errorf("near t1 are %q", got)
	}
}
