package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStreamOnWhichNothingComesSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		p := &pen{w: w, control: http.NewResponseController(w)}
		p.begin()
		waiting, done := make(chan []byte), make(chan error)
		go func() { done <- p.write(ctx, waiting) }()
		is := func(after time.Duration, want string) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			if got := strings.ReplaceAll(w.Body.String(), "\n", "|"); got != want || !w.Flushed {
				t.Errorf("%v later the stream is %q, want %q", after, got, want)
			}
		}
		is(heartbeat-time.Second, ": skein||")
		is(2*time.Second, ": skein||:||")
		is(10*time.Second, ": skein||:||")
		waiting <- []byte("id: 1\ndata: {}")
		is(10*time.Second, ": skein||:||id: 1|data: {}||") // what comes puts the next one off
		is(heartbeat, ": skein||:||id: 1|data: {}||:||")
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the stream ends with %v, want nil", err)
		}
	})
}
