package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/sqlite"
)

// ofToken is the maximum number of streams per token.
const ofToken = 100

// mark surrounds the time at which a message was sent.
var mark = []byte("@@")

// readers has many clients follow all events, while messages arrive.
func readers(ctx context.Context, s *server, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	ready, ended := make(chan error, o.readers), make(chan times, o.readers)
	sent := int(o.seconds.Seconds() * float64(o.rate))
	token := ""
	for i := range o.readers {
		if i%ofToken == 0 {
			var err error
			if token, err = s.tokens.Add(door.Token{Name: fmt.Sprintf("readers %d %d", time.Now().UnixNano(), i), Scope: "read"}); err != nil {
				return err
			}
		}
		mine := token
		wait.Go(func() { ended <- s.follow(ctx, mine, sent, ready) })
	}
	for range o.readers {
		if err := <-ready; err != nil {
			return err
		}
	}
	if err := s.speak(ctx, sent, o.rate); err != nil {
		return err
	}
	var all times
	whole := 0
	late := time.AfterFunc(10*time.Second, cancel)
	for range o.readers {
		t := <-ended
		if all = append(all, t...); len(t) == sent {
			whole++
		}
	}
	late.Stop()
	wait.Wait()
	memory := s.memory()
	row("readers", fmt.Sprintf("%d of %d had each of %d messages, %d/s; median %.0f ms, p99 %.0f ms; %d MB of memory", whole, o.readers, sent, o.rate, ms(all.at(.5)), ms(all.at(.99)), memory>>20),
		"all, p99 250 ms, 300 MB", whole == o.readers && all.at(.99) < 250*time.Millisecond && memory < 300<<20)
	return nil
}

// speak sends n messages, rate per second, each with the time at which it was
// sent.
func (s *server) speak(ctx context.Context, n, rate int) error {
	const lanes = 16
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	free, failed := make(chan int, lanes), make(chan error, n)
	for i := range lanes {
		free <- i
	}
	var wait sync.WaitGroup
	for range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		lane := <-free
		wait.Go(func() {
			body := fmt.Sprintf(`{"role":"user","text":"@@%d@@ is when this was sent"}`, time.Now().UnixNano())
			_, _, err := s.ask(ctx, http.MethodPost, "/v1/sessions/"+string(sessionID(lane))+"/messages", body)
			if err != nil {
				failed <- err
			}
			free <- lane
		})
	}
	wait.Wait()
	close(failed)
	return <-failed
}

// follow reads the stream until it has n messages, and returns how long each
// took to arrive.
func (s *server) follow(ctx context.Context, token string, n int, ready chan<- error) (all times) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/stream?from=now", nil)
	if err != nil {
		ready <- err
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+token)
	w, err := s.client.Do(r)
	if err == nil && w.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("GET /v1/stream: %s", w.Status), w.Body.Close())
	}
	if err != nil {
		ready <- err
		return nil
	}
	defer w.Body.Close() //nolint:errcheck // it was read
	rest, told := make([]byte, 0, 64<<10), false
	for piece := make([]byte, 32<<10); len(all) < n; {
		k, err := w.Body.Read(piece)
		now := time.Now().UnixNano()
		rest = append(rest, piece[:k]...)
		if !told && bytes.Contains(rest, []byte("event: ready")) {
			told = true
			ready <- nil
		}
		for {
			frame, behind, ok := bytes.Cut(rest, []byte("\n\n"))
			if !ok {
				break
			}
			if _, from, ok := bytes.Cut(frame, mark); ok {
				moment, _, _ := bytes.Cut(from, mark)
				if at, err := strconv.ParseInt(string(moment), 10, 64); err == nil {
					all = append(all, time.Duration(now-at))
				}
			}
			rest = append(rest[:0], behind...)
		}
		if err != nil {
			break
		}
	}
	if !told {
		ready <- errors.New("GET /v1/stream ended before it was ready")
	}
	return all
}

// messagesOf counts the messages of a session of the store in dir.
func messagesOf(ctx context.Context, dir string, id skein.SessionID) (_ int64, err error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	one, err := s.Session(ctx, id)
	return int64(one.Messages), err
}
