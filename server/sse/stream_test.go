package sse

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// paper is a recorder that is read while it is written to.
type paper struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ResponseRecorder.Write(b)
}

func (p *paper) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ResponseRecorder.Flush()
}

func (p *paper) read() (text string, flushed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Body.String(), p.Flushed
}

func TestAStreamOnWhichNothingComesSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &paper{ResponseRecorder: httptest.NewRecorder()}
		p := &pen{w: w, control: http.NewResponseController(w)}
		p.begin()
		waiting, done := make(chan []byte), make(chan error)
		go func() { done <- p.write(ctx, waiting, nil) }()
		is := func(after time.Duration, want string) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			if got, flushed := w.read(); strings.ReplaceAll(got, "\n", "|") != want || !flushed {
				t.Errorf("%v later the stream is %q, want %q", after, got, want)
			}
		}
		is(heartbeat-time.Second, ": skein||")
		is(2*time.Second, ": skein||:||")
		is(10*time.Second, ": skein||:||")
		waiting <- []byte("id: 1\ndata: {}")
		is(10*time.Second, ": skein||:||id: 1|data: {}||") // a frame postpones the next heartbeat
		is(heartbeat, ": skein||:||id: 1|data: {}||:||")
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the stream ends with %v, want nil", err)
		}
	})
}
