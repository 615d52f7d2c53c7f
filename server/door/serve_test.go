package door_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve listens on loopback, as skein serve does, and returns the address, and
// a function that stops it and returns its error.
func (h *house) serve(t *tls.Config) (addr string, stop func() error) {
	h.Helper()
	l, err := door.Listen(h.Context(), "127.0.0.1:0", t, "")
	if err != nil {
		h.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.door.Serve(ctx, l) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	h.Cleanup(func() {
		if err := stop(); err != nil {
			h.Errorf("Serve = %v", err)
		}
	})
	return l.Addr().String(), stop
}

func TestNoClearTextLeavesTheMachine(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		l, err := door.Listen(t.Context(), addr, nil, "")
		if err == nil {
			l.Close() //nolint:errcheck // the test has failed
		}
		if !errors.Is(err, skein.ErrRefused) {
			t.Errorf("Listen(%q) in clear text = %v, want ErrRefused", addr, err)
		}
		l, err = door.Listen(t.Context(), addr, nil, door.ClearText)
		if err != nil {
			t.Errorf("Listen(%q) with ClearText = %v", addr, err)
			continue
		}
		l.Close() //nolint:errcheck // it was only tried
	}
}

// A guest listens beyond loopback, on one address.
type guest struct {
	net.Listener
	addr net.TCPAddr
}

func (g guest) Addr() net.Addr { return &g.addr }

func TestTheAddressItListensAtIsItsOwnName(t *testing.T) {
	h := newHouse(t)
	h.wants(403, "GET /v1/read", "", "Host: 192.0.2.7:7433")
	l, err := door.Listen(t.Context(), "127.0.0.1:0", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.door.Serve(ctx, guest{l, net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7433}}); err != nil {
		t.Fatal(err)
	}
	h.wants(200, "GET /v1/read", "", "Host: 192.0.2.7:7433")
	h.wants(403, "GET /v1/read", "", "Host: 192.0.2.8:7433")
}

func TestOverTLSBothProtocolsPassTheSameDoor(t *testing.T) {
	h := newHouse(t)
	own := httptest.NewUnstartedServer(nil) // for its certificate
	own.StartTLS()
	defer own.Close()
	addr, _ := h.serve(&tls.Config{Certificates: own.TLS.Certificates, MinVersion: tls.VersionTLS12})
	for _, proto := range []int{1, 2} {
		transport := own.Client().Transport.(*http.Transport).Clone()
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP1(proto == 1)
		transport.Protocols.SetHTTP2(proto == 2)
		client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		ask := func(method, path, body string, headers ...string) *http.Response {
			r, err := http.NewRequestWithContext(t.Context(), method, "https://"+addr+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for _, head := range headers {
				name, value, _ := strings.Cut(head, ": ")
				if r.Header.Set(name, value); name == "Host" {
					r.Host = value
				}
			}
			w, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Body.Close()        //nolint:errcheck // it was read
			io.Copy(io.Discard, w.Body) //nolint:errcheck // it is a test's
			if w.ProtoMajor != proto {
				t.Errorf("HTTP/%d was answered with %s", proto, w.Proto)
			}
			return w
		}
		bearer := "Authorization: Bearer " + h.tokens.First()
		code, _ := h.door.Code()
		for _, c := range []struct {
			want    int
			request *http.Response
		}{
			{200, ask("GET", "/v1/read", "", bearer)},
			{401, ask("GET", "/v1/read", "")},
			{403, ask("GET", "/v1/read", "", bearer, "Host: evil.example")},
			{403, ask("GET", "/v1/read", "", bearer, "Origin: http://"+addr)}, // the page came in clear text: anybody could have sent it
			{200, ask("GET", "/v1/read", "", bearer, "Origin: https://"+addr)},
			{413, ask("POST", "/v1/write", strings.Repeat(" ", 101), bearer, "Content-Type: application/json")},
		} {
			if c.request.StatusCode != c.want {
				t.Errorf("HTTP/%d %s = %d, want %d", proto, c.request.Request.URL, c.request.StatusCode, c.want)
			}
		}
		if in := ask("POST", "/login", "code="+code, "Content-Type: application/x-www-form-urlencoded").Cookies(); len(in) != 1 || !in[0].Secure || !in[0].HttpOnly || in[0].SameSite != http.SameSiteStrictMode {
			t.Errorf("HTTP/%d: the cookie over TLS is %v, want one, Secure, HttpOnly and strict", proto, in)
		}
		client.CloseIdleConnections()
	}
}

// TestWhatIsUnderWayIsEndedWhenItStops stops a server with an open stream, a
// running request, one that never ends, and one that does not even begin.
func TestWhatIsUnderWayIsEndedWhenItStops(t *testing.T) {
	h := newHouse(t)
	in, goOn := make(chan string, 3), make(chan struct{})
	hold := func(w http.ResponseWriter, r *http.Request, until <-chan struct{}) {
		in <- r.URL.Path
		<-until
		io.WriteString(w, "whole") //nolint:errcheck // the test reads it
	}
	h.door = h.with(
		door.Route{Pattern: "GET /stream", Scope: door.Read, Stream: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush() //nolint:errcheck // the test would hang
			hold(w, r, r.Context().Done())
		})},
		door.Route{Pattern: "GET /slow", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hold(w, r, goOn) })},
		door.Route{Pattern: "GET /stuck", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { hold(w, r, r.Context().Done()) })},
	)
	over := h.door.Grace()
	addr, stop := h.serve(nil)
	idle, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()                    //nolint:errcheck // the server closes it
	io.WriteString(idle, "GET /slow HTT") //nolint:errcheck // it never gets further
	type answer struct {
		path, body string
		err        error
	}
	answers := make(chan answer, 3)
	for _, path := range []string{"/stream", "/slow", "/stuck"} {
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
			if err != nil {
				answers <- answer{path, "", err}
				return
			}
			r.Header.Set("Authorization", "Bearer "+h.tokens.First())
			w, err := http.DefaultClient.Do(r)
			if err != nil {
				answers <- answer{path, "", err}
				return
			}
			defer w.Body.Close() //nolint:errcheck // it was read
			b, err := io.ReadAll(w.Body)
			answers <- answer{path, string(b), err}
		}()
		<-in
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	first := <-answers
	if first.path != "/stream" || first.err != nil {
		t.Errorf("the first that ends is %+v, want the stream, without an error", first)
	}
	close(goOn)
	if second := <-answers; second.path != "/slow" || second.body != "whole" {
		t.Errorf("what was under way ends with %+v, want it whole", second)
	}
	over()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if last := <-answers; last.err == nil {
		t.Errorf("what never ends = %+v, want an error: it was not done", last)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestStreamsAreCounted(t *testing.T) {
	h := newHouse(t)
	in := make(chan struct{})
	h.door = h.with(door.Route{Pattern: "GET /stream", Scope: door.Read, Stream: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		in <- struct{}{}
		<-r.Context().Done()
	})})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var open sync.WaitGroup
	stream := func(token string) {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/stream", nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		open.Go(func() { h.door.ServeHTTP(httptest.NewRecorder(), r) })
		<-in
	}
	for i := range 10 {
		token, err := h.tokens.Add(door.Token{Name: fmt.Sprint(i), Scope: "read"})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			stream(token)
		}
		h.wants(429, "GET /stream", "", "Authorization: Bearer "+token)
	}
	h.wants(429, "GET /stream", "") // the first token has no open stream: there are 1,000 in all
	h.wants(200, "GET /healthz", "")
	cancel()
	open.Wait()
	ctx, cancel = context.WithCancel(t.Context())
	stream(h.tokens.First())
	cancel()
	open.Wait()
}
