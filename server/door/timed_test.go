package door_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// pipes is a listener without a network, so that a test can control its time.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7433} }

// slowly sends the pieces of a request with a pause before each, and reads the
// answer at once if takes is set. It returns the answer, and how long the
// connection lasted.
func slowly(t *testing.T, takes bool, pause time.Duration, pieces ...string) (answer string, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.door = h.with(
			door.Route{Pattern: "POST /v1/write", Scope: door.Write, Body: door.MaxBody, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err == nil {
					<-time.After(time.Hour) // the client is not to blame for this delay
				}
				fmt.Fprintf(w, "%d %v", len(b), err) //nolint:errcheck // the test reads it
			})},
			door.Route{Pattern: "GET /v1/long", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Write(make([]byte, 10<<20)) //nolint:errcheck // the test counts it
			})},
		)
		p := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.door.Serve(ctx, p) }()
		client, server := net.Pipe()
		p.conns <- server
		began := time.Now()
		read := make(chan string, 1)
		if takes {
			go func() {
				b, err := io.ReadAll(client)
				if err != nil && !errors.Is(err, io.ErrClosedPipe) {
					t.Error(err)
				}
				read <- string(b)
			}()
		}
		for _, s := range pieces {
			<-time.After(pause)
			if _, err := io.WriteString(client, strings.ReplaceAll(s, "TOKEN", h.tokens.First())); err != nil {
				break
			}
		}
		if takes {
			answer = <-read
		} else {
			<-time.After(slowTake)
			synctest.Wait()
			if _, err := io.WriteString(client, "x"); err == nil {
				t.Error("a connection that takes nothing stays open")
			}
		}
		took = time.Since(began)
		client.Close() //nolint:errcheck // the server has
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return answer, took
}

const (
	slowTake = 31 * time.Second
	posting  = "POST /v1/write HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
)

func TestWhoSendsSlowlyIsCutOff(t *testing.T) {
	bytes := make([]string, 1000)
	for i := range bytes {
		bytes[i] = "x"
	}
	for _, c := range []struct {
		name   string
		pieces []string
		most   time.Duration
		status string
	}{
		{"headers", strings.Split("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", ""), 6 * time.Second, ""},
		{"nothing", nil, 6 * time.Second, ""},
		{"a body", append([]string{posting}, bytes...), 33 * time.Second, "timeout"},
		{"a body that nobody wants", append([]string{strings.Replace(posting, "TOKEN", "x", 1)}, bytes...), 33 * time.Second, "401"},
		{"a body to nowhere", append([]string{strings.Replace(posting, "/v1/write", "/none", 1)}, bytes...), 8 * time.Second, "404"},
	} {
		answer, took := slowly(t, true, time.Second, c.pieces...)
		if took > c.most || !strings.Contains(answer, c.status) {
			t.Errorf("%s, a byte a second: cut off after %v with %q, want %v at most, %q", c.name, took, answer, c.most, c.status)
		}
	}
}

func TestWhoSendsSteadilyMayTakeItsTime(t *testing.T) {
	piece := strings.Repeat("x", 20_000)
	answer, took := slowly(t, true, time.Second, append([]string{posting}, strings.Split(strings.Repeat(piece+" ", 50), " ")[:50]...)...)
	if !strings.HasSuffix(answer, "1000000 <nil>") || took < 50*time.Second {
		t.Errorf("1,000,000 bytes, 20,000 a second: %q after %v, want them taken", answer, took)
	}
}

func TestWhoTakesNothingIsCutOff(t *testing.T) {
	slowly(t, false, 0, "GET /v1/long HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n\r\n")
}
