// Package pageserver serves pages to a browser on this machine, and takes orders from them, one at a time. Nobody else
// gets an answer: requests need a random token in their path, the server's own address as their host, and no foreign
// page as their origin.
//
// In come pages and a function that carries out orders; out come answers over HTTP on 127.0.0.1.
package pageserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// MaxBodyBytes is the largest body of an order.
const MaxBodyBytes = 1 << 20

// A Content is the content of a page or of data, with its media type. Read returns nil if there is none at the moment.
type Content struct {
	Type string
	Read func() ([]byte, error)
}

// A Site holds what a server has. Paths are relative to the address that Serve announces; the page itself has the empty
// path.
type Site struct {
	Files map[string]Content
	// Orders carry out the body of a POST, and write their answer as lines of JSON. The context ends when the browser
	// hangs up.
	Orders map[string]func(ctx context.Context, body io.Reader, answer io.Writer) error
}

// A refusal is the answer to a request that is not for this server, or not now.
type refusal struct {
	status int
	Error  string `json:"error"`
	Hint   string `json:"hint"`
}

// The refusals.
var (
	foreignHost   = refusal{http.StatusForbidden, "the request has another host", "use the address that hlsgen prints"}
	foreignOrigin = refusal{http.StatusForbidden, "the request comes from a page of another origin",
		"use the page that hlsgen serves"}
	noToken = refusal{http.StatusForbidden, "the token is missing or is another one",
		"use the whole address that hlsgen prints"}
	noPath   = refusal{http.StatusNotFound, "there is nothing of this name", "use the page's own links"}
	noMethod = refusal{http.StatusMethodNotAllowed, "the method is another one", "GET a page, POST an order"}
	tooLarge = refusal{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("the body has more than %d bytes", MaxBodyBytes), "send less"}
	atWork  = refusal{http.StatusConflict, "another order is carried out", "wait for its end, or close its page"}
	cutBody = refusal{http.StatusBadRequest, "the body ends early", "send it again"}
)

// A server answers requests about a site.
type server struct {
	Site
	host, token string
	busy        sync.Mutex     // held while an order is carried out
	orders      sync.WaitGroup // orders at work
}

// Times that a browser may take for the head of a request and for its body.
const (
	headTime = 10 * time.Second
	bodyTime = 30 * time.Second
)

// Serve serves the site until the context ends, on a port that the system chooses. It calls announce with the address.
// At the end it waits for the order at work, which the context ends, too.
func Serve(ctx context.Context, site Site, announce func(address string) error) error {
	in, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{Site: site, host: in.Addr().String(), token: rand.Text()}
	defer s.orders.Wait()
	h := &http.Server{Handler: s, ReadHeaderTimeout: headTime, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { h.Close() })()
	if err := announce("http://" + s.host + "/" + s.token + "/"); err != nil {
		in.Close()
		return err
	}
	if err := h.Serve(in); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	path, no, ok := s.admitted(r)
	if !ok {
		no.write(w)
		return
	}
	if f, ok := s.Files[path]; ok {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			noMethod.write(w)
			return
		}
		f.write(w)
		return
	}
	order, ok := s.Orders[path]
	switch {
	case !ok:
		noPath.write(w)
	case r.Method != http.MethodPost:
		noMethod.write(w)
	default:
		s.carryOut(order, w, r)
	}
}

// admitted returns the path below the token, or the refusal of a request that is not from the server's own page.
func (s *server) admitted(r *http.Request) (path string, no refusal, ok bool) {
	if r.Host != s.host {
		return "", foreignHost, false
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+s.host {
			return "", foreignOrigin, false
		}
	}
	token, path, whole := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !whole || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 0 {
		return "", noToken, false
	}
	return path, refusal{}, true
}

// carryOut carries out an order, unless another one is at work.
func (s *server) carryOut(order func(context.Context, io.Reader, io.Writer) error, w http.ResponseWriter,
	r *http.Request) {
	if r.ContentLength > MaxBodyBytes {
		tooLarge.write(w)
		return
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		cutBody.write(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		tooLarge.write(w)
		return
	}
	if err == nil {
		err = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	if err != nil {
		cutBody.write(w)
		return
	}
	if !s.busy.TryLock() {
		atWork.write(w)
		return
	}
	defer s.busy.Unlock()
	s.orders.Add(1)
	defer s.orders.Done()
	w.Header().Set("Content-Type", "application/x-ndjson")
	if err := order(r.Context(), bytes.NewReader(body), flushed{w}); err != nil && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // the browser sees that the answer has no end
	}
}

// A flushed sends each line on at once.
type flushed struct{ http.ResponseWriter }

// Write implements io.Writer.
func (f flushed) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}

// write answers with the file.
func (f Content) write(w http.ResponseWriter) {
	content, err := f.Read()
	switch {
	case err != nil:
		refusal{http.StatusInternalServerError, err.Error(), "make the page again"}.write(w)
	case content == nil:
		noPath.write(w)
	default:
		w.Header().Set("Content-Type", f.Type)
		w.Write(content) // a browser that hangs up needs no answer
	}
}

// write answers with the refusal.
func (no refusal) write(w http.ResponseWriter) {
	text, err := json.Marshal(no)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(no.status)
	w.Write(append(text, '\n'))
}
