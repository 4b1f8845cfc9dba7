package engines

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hlsgen/internal/crash"
)

// TestPanicInSample holds that a defect in the run of one sample is told as ours, not as the model's.
func TestPanicInSample(t *testing.T) {
	t.Parallel()
	_, err := each(context.Background(), 3, func(i int) (int, error) {
		if i == 1 {
			panic("boom")
		}
		return i, nil
	})
	var ours *crash.InternalError
	if !errors.As(err, &ours) || ours.Msg != "boom" || !strings.Contains(ours.Stack, "TestPanicInSample") ||
		!strings.HasPrefix(err.Error(), "sample 1: ") {
		t.Errorf("%v", err)
	}
}
