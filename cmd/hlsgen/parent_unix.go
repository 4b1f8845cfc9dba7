//go:build !windows

package main

import (
	"context"
	"os"
	"time"
)

// stopWithParent calls stop when the process that started this one has ended, also where others still hold the other
// end of standard input.
func stopWithParent(ctx context.Context, stop func()) {
	parent := os.Getppid()
	t := time.NewTicker(200 * time.Millisecond)
	defer t.Stop()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
	stop()
}
