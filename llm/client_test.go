package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A trip answers with body after a delay.
type trip struct {
	after time.Duration // before the header
	body  io.ReadCloser
}

func (t trip) RoundTrip(req *http.Request) (*http.Response, error) {
	timer := time.NewTimer(t.after)
	defer timer.Stop()
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-timer.C:
	}
	context.AfterFunc(req.Context(), func() { _ = t.body.Close() }) // like a transport
	return &http.Response{StatusCode: http.StatusOK, Body: t.body, Request: req}, nil
}

func get(t *testing.T, next trip) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.invalid/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return silenceGuard{next, patience}.RoundTrip(req)
}

func TestClient_GivesUpOnASilentProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := get(t, trip{time.Hour, http.NoBody}); !errors.Is(err, errSilent) || time.Since(began) != patience {
			t.Errorf("RoundTrip(no header) = %v after %s, want %v after %s", err, time.Since(began), errSilent, patience)
		}
	})
}

func TestClient_GivesUpOnAStreamThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			for range 3 {
				<-time.After(patience - time.Second)
				_, _ = w.Write([]byte("x"))
			}
		}()
		res, err := get(t, trip{0, r})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if string(b) != "xxx" || !errors.Is(err, errSilent) {
			t.Errorf("a stream of three slow bytes = %q, %v, want xxx and %v", b, err, errSilent)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestClient_WaitsForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() { _, _ = w.Write([]byte("xy")); _ = w.Close() }()
		res, err := get(t, trip{0, r})
		if err != nil {
			t.Fatal(err)
		}
		one := make([]byte, 1)
		for range 2 {
			if _, err := res.Body.Read(one); err != nil {
				t.Fatalf("Read() of a slow reader = %v", err)
			}
			<-time.After(3 * patience)
		}
		if n, err := res.Body.Read(one); n != 0 || err != io.EOF { //nolint:errorlint // readers return it as it is
			t.Errorf("Read() at the end = %d, %v, want EOF", n, err)
		}
		_ = res.Body.Close()
	})
}

func TestClient_LeavesTheCallersOwnAlone(t *testing.T) {
	mine := &http.Client{Timeout: time.Minute}
	got := (&Options{Client: mine}).HTTP()
	if got == mine || got.Timeout != time.Minute || got.CheckRedirect == nil || mine.CheckRedirect != nil {
		t.Errorf("HTTP() = %+v, want a copy that follows no redirects, and %+v as it was", got, mine)
	}
	if got := (&Options{}).HTTP(); got.Transport == nil || got.Timeout != 0 {
		t.Errorf("HTTP() = %+v, want a client that watches, without a limit for the whole", got)
	}
}
