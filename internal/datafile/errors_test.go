package datafile

import (
	"fmt"
	"testing"

	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
)

// TestOursIsNotTheModels holds that a defect is told as ours, not as the model's.
func TestOursIsNotTheModels(t *testing.T) {
	t.Parallel()
	ours := fmt.Errorf("sample 1: %w", &crash.InternalError{Msg: "boom"})
	var d diag.List
	if got := AddModelFaultDiag(ours, "", &d); got != ours || len(d.Diags) > 0 {
		t.Errorf("%v, %v", got, d.Diags)
	}
}
