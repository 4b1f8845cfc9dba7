package main

import (
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"hlsgen/internal/testsupport/tier"
)

// TestReportServeEnds ends hlsgen report --serve by a key, by a signal and by closing its terminal, also while it
// builds. Nothing listens after that, and no file is left.
func TestReportServeEnds(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	unignored(t, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	dir := resnet(t)
	const build = "build model.onnx --board pynq-z1 --max-use 0.9 --fps 100 --no-csim --verify 0 --with-model " +
		"--out built"
	if got := say(dir, nil, strings.Fields(build)...); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		name   string
		do     func(*testing.T, *terminal)
		builds bool
	}{
		{"Ctrl-C", pressed, false}, {"Ctrl-C while it builds", pressed, true},
		{"SIGTERM", sent(syscall.SIGTERM), false},
		{"a closed terminal", func(t *testing.T, x *terminal) { x.Close() }, false},
		{"a closed terminal while it builds", func(t *testing.T, x *terminal) { x.Close() }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, temporary := process(t, dir, []string{"DISPLAY=", "WAYLAND_DISPLAY="}, "report", "built", "--serve")
			x := onTerminal(t, cmd)
			x.sees(t, "Ctrl-C ends it")
			address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/\w+/`).FindStringSubmatch(x.text())
			if address == nil {
				t.Fatal(x.text())
			}
			if c.builds {
				r, err := http.Post(address[0]+"rebuild", "", strings.NewReader(
					`{"id":1,"call":"build","progress":true,"options":{"fps":null}}`+"\n"))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				phase := make([]byte, 150)
				for all := ""; !strings.Contains(all, "folding"); {
					n, err := r.Body.Read(phase)
					if all += string(phase[:n]); err != nil {
						t.Fatal(err, all)
					}
				}
			}
			c.do(t, x)
			code := x.ends(t)
			if code != exitOK && code != exitInterrupted {
				t.Errorf("exit code %d: %s", code, x.text())
			}
			if conn, err := net.DialTimeout("tcp", address[1], time.Second); err == nil {
				conn.Close()
				t.Error("it still listens")
			}
			left, err := os.ReadDir(temporary)
			for _, e := range left {
				t.Errorf("%s is left", e.Name())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}
