package pageserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// started starts a server of a site, and returns its address. The server ends with the test, and must then return nil.
func started(t *testing.T, site Site) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, site, func(a string) error {
			address <- a
			return nil
		})
	}()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server does not end with its context")
		}
	})
	return <-address
}

// asked sends a request and returns the status and the body of the answer.
func asked(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// echo is an order that answers with its body.
func echo(_ context.Context, body io.Reader, answer io.Writer) error {
	_, err := io.Copy(answer, body)
	return err
}

// page is a site with a page and an order.
var page = Site{Files: map[string]Content{"": {"text/html", func() ([]byte, error) { return []byte("<p>"), nil }},
	"gone": {"text/html", func() ([]byte, error) { return nil, nil }},
	"lost": {"text/html", func() ([]byte, error) { return nil, errors.New("no disk") }}},
	Orders: map[string]func(context.Context, io.Reader, io.Writer) error{"echo": echo}}

func TestServe(t *testing.T) {
	t.Parallel()
	base := started(t, page)
	at, err := url.Parse(base)
	if err != nil || at.Hostname() != "127.0.0.1" || len(at.Path) < 20 {
		t.Fatal(base, err)
	}
	other := "http://" + at.Host
	large := strings.Repeat("x", MaxBodyBytes+1)
	for _, c := range []struct {
		name, method, url, body string
		change                  func(*http.Request)
		status                  int
		want                    string // in the answer
	}{
		{"the page", "GET", base, "", nil, 200, "<p>"},
		{"its own origin", "POST", base + "echo", "hi", func(r *http.Request) { r.Header.Set("Origin", other) }, 200,
			"hi"},
		{"no origin", "POST", base + "echo", "hi", nil, 200, "hi"},
		{"another host", "GET", base, "", func(r *http.Request) { r.Host = "example.com" }, 403, "another host"},
		{"localhost", "GET", base, "", func(r *http.Request) { r.Host = "localhost:" + at.Port() }, 403,
			"another host"},
		{"another origin", "POST", base + "echo", "", func(r *http.Request) {
			r.Header.Set("Origin", "http://example.com")
		}, 403, "another origin"},
		{"a file's origin", "POST", base + "echo", "", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403,
			"another origin"},
		{"two origins", "POST", base + "echo", "", func(r *http.Request) {
			r.Header.Set("Origin", other)
			r.Header.Add("Origin", "http://example.com")
		}, 403, "another origin"},
		{"another origin for the page", "GET", base, "", func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:1")
		}, 403, "another origin"},
		{"no token", "GET", other + "/", "", nil, 403, "token"},
		{"no token for an order", "POST", other + "/echo", "", nil, 403, "token"},
		{"another token", "POST", other + "/" + strings.Repeat("A", 26) + "/echo", "", nil, 403, "token"},
		{"a part of the token", "GET", base[:len(base)-2] + "/", "", nil, 403, "token"},
		{"a token without end", "GET", strings.TrimSuffix(base, "/"), "", nil, 403, "token"},
		{"no such file", "GET", base + "etc/passwd", "", nil, 404, "nothing of this name"},
		{"upwards", "GET", base + "../", "", nil, 404, "nothing of this name"},
		{"no page at the moment", "GET", base + "gone", "", nil, 404, "nothing of this name"},
		{"a page that fails", "GET", base + "lost", "", nil, 500, "no disk"},
		{"a page is no order", "POST", base, "", nil, 405, "method"},
		{"an order is no page", "GET", base + "echo", "", nil, 405, "method"},
		{"as much as goes", "POST", base + "echo", large[1:], nil, 200, large[1:]},
		{"a body over 1 MB", "POST", base + "echo", large, nil, 413, "more than 1048576 bytes"},
		{"one of unknown length", "POST", base + "echo", large, func(r *http.Request) { r.ContentLength = -1 }, 413,
			"more than 1048576 bytes"},
	} {
		r, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(r)
		}
		status, got := asked(t, r)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %.200q; want %d, %.40q", c.name, status, got, c.status, c.want)
		}
	}
}

// TestOneOrder checks that a second order is refused while one is carried out, that lines come as they are written, and
// that an order ends when the browser hangs up and when the server ends.
func TestOneOrder(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan bool, 1), make(chan error, 1)
	base := started(t, Site{Orders: map[string]func(context.Context, io.Reader, io.Writer) error{
		"wait": func(ctx context.Context, _ io.Reader, answer io.Writer) error {
			begun <- true
			io.WriteString(answer, "begun\n")
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}, "echo": echo}})
	for _, hangUp := range []bool{true, false} {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"wait", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		line := make([]byte, 6)
		if _, err := io.ReadFull(got.Body, line); err != nil || !bytes.Equal(line, []byte("begun\n")) {
			t.Errorf("%q, %v", line, err)
		}
		second, err := http.NewRequest(http.MethodPost, base+"echo", strings.NewReader("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if status, text := asked(t, second); status != http.StatusConflict || !strings.Contains(text, "another order") {
			t.Errorf("%d, %s", status, text)
		}
		if hangUp {
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			for range 100 { // the server learns of the end a little later
				again, err := http.NewRequest(http.MethodPost, base+"echo", strings.NewReader("hi"))
				if err != nil {
					t.Fatal(err)
				}
				if status, _ := asked(t, again); status == http.StatusOK {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}

// TestEnd checks that nothing listens once the context has ended, and that an address nobody can be told ends the
// server.
func TestEnd(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	address := ""
	err := Serve(ctx, page, func(a string) error {
		address = strings.Split(a, "/")[2]
		stop()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		c.Close()
		t.Error("it listens after its end")
	}
	broken := errors.New("no screen")
	if err := Serve(context.Background(), page, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
