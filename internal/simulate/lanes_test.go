package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/crash"
)

// TestLanes holds that parts are read and done in order, all of them or those before the first that fails, however many
// lanes there are.
func TestLanes(t *testing.T) {
	t.Parallel()
	const n, size = 1003, 10
	fails := errors.New("no")
	for _, lanes := range []int{1, 2, 7, 200} {
		for _, at := range []int{-1, 0, 300, 1000} {
			for _, stage := range []string{"read", "work", "done", "panic"} {
				var read, done []int
				var mu sync.Mutex // work is beside
				worked := 0
				err := inLanes(t.Context(), n, size, lanes, func() lane {
					var from, to int
					is := func(s string) error {
						if s == stage && from == at {
							return fmt.Errorf("%d: %w", from, fails)
						}
						return nil
					}
					return lane{
						read: func(a, b int) error {
							from, to = a, b
							read = append(read, a)
							return is("read")
						},
						work: func() error {
							mu.Lock()
							worked += to - from
							mu.Unlock()
							if stage == "panic" && from == at {
								panic(fails)
							}
							if at >= 0 && from == at+2*size { // comes later, and may be there earlier
								return errors.New("later")
							}
							return is("work")
						},
						done: func() error {
							if err := is("done"); err != nil {
								return err
							}
							done = append(done, from)
							return nil
						},
					}
				})
				var want []int
				for from := 0; from < n && (at < 0 || from < at); from += size {
					want = append(want, from)
				}
				what := fmt.Sprintf("%d lanes, %s fails at %d", lanes, stage, at)
				if !slices.Equal(done, want) || !slices.IsSorted(read) {
					t.Errorf("%s: done %v, read %v", what, done, read)
				}
				switch internal := new(crash.InternalError); {
				case at < 0 && (err != nil || worked != n):
					t.Errorf("%s: %v, %d of %d", what, err, worked, n)
				case at < 0:
				case stage == "panic" && !errors.As(err, &internal),
					stage != "panic" && (!errors.Is(err, fails) || !strings.HasPrefix(err.Error(), fmt.Sprint(at))):
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	parts := 0
	err := inLanes(ctx, n, size, 2, func() lane {
		return lane{func(int, int) error { return nil }, func() error { return nil }, func() error {
			if parts++; parts == 5 {
				stop()
			}
			return nil
		}}
	})
	if !errors.Is(err, context.Canceled) || parts == 101 {
		t.Errorf("%v after %d parts", err, parts)
	}
}
