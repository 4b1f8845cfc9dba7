package report

import "testing"

// TestListed writes numbers.
func TestListed(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{"": nil, "1": {1}, "1 and 4": {1, 4}, "1, 4 and 8": {1, 4, 8}} {
		if got := FormatNumberList(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
