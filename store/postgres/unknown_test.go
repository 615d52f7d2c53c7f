package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// A proxy is in front of a server and can lose what goes through it.
type proxy struct {
	to   string
	loss atomic.Int32
}

// mark is in a request that is lost.
const resumePoint = "lose this"

// What a proxy loses, once, and the connection with it.
const (
	nothing  = iota
	requests // the next one with the mark is not passed on
	answers  // the next one with the mark is passed on, its answer is not
)

// newProxy returns a proxy in front of the server of dsn, and the address of the
// database through it.
func newProxy(t *testing.T, dsn string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: u.Host}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // it is to be cut
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	var deaf atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer client.Close() //nolint:errcheck // see above
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil || deaf.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			break
		}
		if bytes.Contains(buf[:n], []byte(resumePoint)) {
			if p.loss.CompareAndSwap(requests, nothing) {
				break
			}
			deaf.Store(p.loss.CompareAndSwap(answers, nothing))
		}
		if _, err := server.Write(buf[:n]); err != nil {
			break
		}
	}
	if deaf.Load() { // the server answers when it has committed
		<-done
	}
	_ = server.Close() // it may have been closed by the other side
	<-done
}

func TestALostAnswerIsUnknownAndTheClientIDSettlesIt(t *testing.T) {
	for name, loss := range map[string]int32{"the request is lost": requests, "the answer is lost": answers} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.DSN(t)
			p, through := newProxy(t, dsn)
			s := open(t, through).As("ann")
			sure := open(t, dsn).As("ann")
			add(t, s, "a", created(), said("first"))

			p.loss.Store(loss)
			_, err := skein.Add(context.Background(), s, "a", said(resumePoint))
			if !errors.Is(err, skein.ErrUnknown) {
				t.Errorf("Append whose connection is cut = %v, want an error that wraps %v", err, skein.ErrUnknown)
			}
			x, err := sure.Session(t.Context(), "a")
			if want := skein.Seq(2 + map[int32]int{answers: 1}[loss]); err != nil || x.Last != want {
				t.Errorf("Session(a) ends at %d, %v, want %d", x.Last, err, want)
			}

			add(t, s, "a", said("another")) // the cached head is no longer used
			end := x.Last + 1
			e := said(resumePoint)
			e.ClientID = "c1"
			p.loss.Store(loss)
			if last, err := skein.Add(context.Background(), s, "a", e); err != nil || last != end+1 {
				t.Errorf("Append with a client ID whose connection is cut = %d, %v, want %d", last, err, end+1)
			}
			if last, err := skein.Add(context.Background(), sure, "a", e); err != nil || last != end+1 {
				t.Errorf("the same again = %d, %v, want %d", last, err, end+1)
			}
		})
	}
}

func TestALostCommitOfATransactionIsUnknown(t *testing.T) {
	for name, loss := range map[string]int32{"the request is lost": requests, "the answer is lost": answers} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.DSN(t)
			p, through := newProxy(t, dsn)
			s, sure := open(t, through), open(t, dsn)
			p.loss.Store(loss)
			_, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{created(), said(resumePoint)}})
			if !errors.Is(err, skein.ErrUnknown) {
				t.Errorf("Append whose connection is cut in the commit = %v, want an error that wraps %v", err, skein.ErrUnknown)
			}
			_, err = sure.Session(t.Context(), "a")
			if stored := err == nil; stored != (loss == answers) || err != nil && !errors.Is(err, skein.ErrNotFound) {
				t.Errorf("Session(a): %v, want it to be there: %v", err, loss == answers)
			}
		})
	}
}
