package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// times are durations.
type times []time.Duration

// at returns the time within which a share of the operations was done.
func (t times) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	slices.Sort(t)
	return t[min(len(t)-1, int(share*float64(len(t))))]
}

// appends adds messages of 1 KB over many connections, each to a session of its
// own.
func appends(ctx context.Context, s *server, o options) error {
	body := `{"role":"user","text":"` + strings.Repeat("word and ", 110) + `"}`
	var mu sync.Mutex
	var all times
	var first error
	var wait sync.WaitGroup
	began := time.Now()
	for i := range o.conns {
		wait.Go(func() {
			path := fmt.Sprintf("/v1/sessions/%s/messages", sessionID(i%max(1, o.sessions)))
			var own times
			var err error
			for err == nil && time.Since(began) < o.seconds {
				var took time.Duration
				_, took, err = s.ask(ctx, http.MethodPost, path, body)
				own = append(own, took)
			}
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, own...); first == nil {
				first = err
			}
		})
	}
	wait.Wait()
	if first != nil {
		return first
	}
	rate := float64(len(all)) / time.Since(began).Seconds()
	p99 := all.at(.99)
	row("appends", fmt.Sprintf("%.0f/s over %d connections, median %.1f ms, p99 %.1f ms", rate, o.conns, ms(all.at(.5)), ms(p99)), "2,000/s, p99 100 ms", rate >= 2000 && p99 < 100*time.Millisecond)
	return nil
}

// pages requests what people view, one page after the other.
func pages(ctx context.Context, s *server, o options) error {
	session := string(sessionID(o.sessions / 2))
	for _, p := range []struct{ name, path string }{
		{"list, API", "/v1/sessions?limit=50"},
		{"sessions, page", "/"},
		{"session, API", "/v1/sessions/" + session + "/messages?limit=50"},
		{"session, page", "/sessions/" + session},
		{"search, a middling word, API", "/v1/search?q=" + s.word},
		{"search, a middling word, page", "/search?q=" + s.word},
		{"search, a common word, API", "/v1/search?q=the"},
		{"search, a common word, page", "/search?q=the"},
	} {
		var all times
		size := 0
		for range 50 {
			b, took, err := s.ask(ctx, http.MethodGet, p.path, "")
			if err != nil {
				return err
			}
			size = len(b)
			all = append(all, took)
		}
		goal, most := "30 ms", 30*time.Millisecond
		if strings.Contains(p.name, "common") { // in a large store, it is cut off, and says so
			goal, most = "200 ms", 200*time.Millisecond
		}
		row(p.name, fmt.Sprintf("median %.1f ms, p95 %.1f ms, %d KB", ms(all.at(.5)), ms(all.at(.95)), size>>10), goal, all.at(.5) < most)
	}
	return nil
}

// stopping stops the server while appends are under way, and checks that each
// acknowledged one is stored afterward.
func stopping(ctx context.Context, s *server, o options) error {
	var acknowledged atomic.Int64
	var wait sync.WaitGroup
	path := "/v1/sessions/stopping/messages"
	if _, _, err := s.ask(ctx, http.MethodPost, "/v1/sessions", `{"id":"stopping"}`); err != nil {
		return err
	}
	for range o.conns {
		wait.Go(func() {
			for {
				if _, _, err := s.ask(ctx, http.MethodPost, path, `{"role":"user","text":"x"}`); err != nil {
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	for acknowledged.Load() < 500 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	began := time.Now()
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	wait.Wait()
	err := s.process.Wait()
	took := time.Since(began)
	home := s.process.Env[len(s.process.Env)-2]
	kept, err2 := messagesOf(ctx, strings.TrimPrefix(home, "SKEIN_HOME="), "stopping")
	if err2 != nil {
		return err2
	}
	row("stop", fmt.Sprintf("%.0f ms, ended with %v, %d appends acknowledged, %d kept", ms(took), err, acknowledged.Load(), kept), "5 s, none lost", took < 5*time.Second && kept >= acknowledged.Load())
	return nil
}
