package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// arriving is a world with something on standard input.
func arriving(dir string, stdin io.Reader) (w world, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return world{env: noEnv, dir: dir, stdin: stdin, stdout: stdout, stderr: stderr}, stdout, stderr
}

// onIris is a folder with a network, and its samples.
func onIris(t *testing.T) (dir string, samples []byte) {
	t.Helper()
	dir = filesIn(t, nil)
	samples, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(irisInputs)))
	if err != nil {
		t.Fatal(err)
	}
	return dir, samples
}

// TestSamplesPass reads samples from standard input and writes outputs to standard output. Messages go to standard
// error, and a reader that stops early is no error.
func TestSamplesPass(t *testing.T) {
	t.Parallel()
	dir, samples := onIris(t)
	file := say(dir, nil, "simulate", iris, "--input", irisInputs, "--output", "y.npy")
	if file.code != exitOK {
		t.Fatal(file)
	}
	want, err := os.ReadFile(filepath.Join(dir, "y.npy"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"simulate", iris, "--input", "-", "--output", "-"}
	w, stdout, stderr := arriving(dir, bytes.NewReader(samples))
	if code := run(t.Context(), args, w); code != exitOK || !bytes.Equal(stdout.Bytes(), want) {
		t.Errorf("exit code %d, %d bytes: %s", code, stdout.Len(), stderr)
	}
	if got := strings.Replace(stderr.String(), "written      -\n", "written      DIR/y.npy\n", 1); got != file.stdout {
		t.Errorf("%q, of a file %q", got, file.stdout)
	}
	w, _, stderr = arriving(dir, bytes.NewReader(samples))
	w.stdout = broken{syscall.EPIPE}
	if code := run(t.Context(), args, w); code != exitDiagnostics || stderr.Len() > 0 {
		t.Errorf("a reader that ends: exit code %d, %s", code, stderr)
	}
	w, _, stderr = arriving(dir, bytes.NewReader(samples[:len(samples)-1]))
	if code := run(t.Context(), args, w); code != exitDiagnostics {
		t.Errorf("cut off: exit code %d", code)
	}
	expect(t, "stderr", stderr.String(), "standard input: the file is cut off, at sample 87")
	got := say(dir, nil, append(args, "--json")...)
	if got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

// TestSamplesInterrupted interrupts a command that waits for samples. It must end, say that there is no file, and leave
// none.
func TestSamplesInterrupted(t *testing.T) {
	t.Parallel()
	dir, samples := onIris(t)
	to := filepath.Join(dir, "to")
	if err := os.Mkdir(to, 0o777); err != nil {
		t.Fatal(err)
	}
	for had, want := range map[int]string{
		0:                 "hlsgen: interrupted\n",
		len(samples) - 17: "hlsgen: interrupted; y.npy is not written\n",
	} {
		ctx, stop := context.WithCancel(t.Context())
		arrives, writes := io.Pipe()
		go func() {
			writes.Write(samples[:had])
			time.Sleep(100 * time.Millisecond) // until it waits
			stop()
		}()
		w, _, stderr := arriving(dir, arrives)
		code := run(ctx, []string{"simulate", iris, "--input", "-", "--output", filepath.Join(to, "y.npy")}, w)
		if code != exitInterrupted || stderr.String() != want {
			t.Errorf("after %d bytes: exit code %d, %q", had, code, stderr)
		}
		if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
			t.Errorf("after %d bytes: %v, %v", had, left, err)
		}
		writes.Close()
	}
}
