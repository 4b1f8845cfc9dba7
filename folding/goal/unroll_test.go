package goal

import (
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
)

func TestParseMaxUnroll(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want dataflow.UnrollLimits
		err  string
	}{
		{"64", dataflow.UnrollLimits{Wide: 64, Few: 64, One: 64}, ""},
		{"1, 2,3", dataflow.UnrollLimits{Wide: 1, Few: 2, One: 3}, ""},
		{"1024,2048,8192", dataflow.DefaultUnrollLimits, ""},
		{"1024", dataflow.UnrollLimits{Wide: 1024, Few: 1024, One: 1024}, ""},
		{"0", dataflow.UnrollLimits{}, `"0" is not a number from 1 to 1048576`},
		{"", dataflow.UnrollLimits{}, "is not a number"},
		{"1,2", dataflow.UnrollLimits{}, "three, such as 1024,2048,8192"},
		{"1,2,3,4", dataflow.UnrollLimits{}, "three, such as"},
		{"1,x,3", dataflow.UnrollLimits{}, `"x" is not a number`},
	} {
		got, err := ParseUnrollLimits(tt.text)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %+v, %v", tt.text, got, err)
		}
		if err != nil {
			continue
		}
		if again, err := ParseUnrollLimits(got.String()); err != nil || again != got {
			t.Errorf("%q is shown as %s, which is %+v, %v", tt.text, got, again, err)
		}
	}
}
