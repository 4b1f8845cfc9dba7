// Command hlsgen makes a streaming FPGA accelerator of a quantised ONNX network.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to remove what it has not finished.
const patience = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, os.Args[1:], world{env: os.Getenv, environ: os.Environ, stdout: os.Stdout, stderr: os.Stderr})
	}()
	select {
	case c := <-code:
		os.Exit(c)
	case <-ctx.Done():
		stop() // a second signal ends the process at once
	}
	select {
	case c := <-code:
		os.Exit(c)
	case <-time.After(patience):
		os.Exit(exitInterrupted)
	}
}
