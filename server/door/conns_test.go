package door_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/door"
)

func TestTooManyConnectionsAreToldToComeBack(t *testing.T) {
	for _, c := range []struct {
		tls  *tls.Config
		want int // status of connections over the limit; 0: no answer
	}{{nil, http.StatusServiceUnavailable}, {&tls.Config{MinVersion: tls.VersionTLS12}, 0}} {
		inner, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(door.Limit(inner, 2, c.tls)) }()
		ask := func(conn net.Conn) int {
			if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return 0
			}
			var b [12]byte
			if _, err := io.ReadFull(conn, b[:]); err != nil {
				return 0
			}
			return int(b[9]-'0')*100 + int(b[10]-'0')*10 + int(b[11]-'0')
		}
		dial := func() net.Conn {
			conn, err := net.Dial("tcp", inner.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		first, second := dial(), dial()
		if a, b := ask(first), ask(second); a != 200 || b != 200 {
			t.Errorf("two connections of two = %d and %d, want 200", a, b)
		}
		for range 3 {
			if got := ask(dial()); got != c.want {
				t.Errorf("a third connection of two = %d, want %d", got, c.want)
			}
		}
		first.Close() //nolint:errcheck // a test
		got := 0
		tick := time.NewTicker(5 * time.Millisecond)
		for end := time.Now().Add(5 * time.Minute); got != 200 && time.Now().Before(end); <-tick.C {
			got = ask(dial())
		}
		tick.Stop()
		if got != 200 {
			t.Errorf("a connection after one of two was closed = %d, want 200", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	}
}
