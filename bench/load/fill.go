package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite"
)

const (
	perSession = 10
	atOnce     = 50   // sessions
	sampled    = 1000 // sessions whose words are counted
)

func sessionID(i int) skein.SessionID { return skein.SessionID(fmt.Sprintf("load-%06d", i)) }

// fill creates a store of n sessions of 10 messages of 400 bytes, and returns a
// medium-frequency word: one that is in about one of 200 messages.
func fill(ctx context.Context, dir string, n int) (word string, err error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	if err != nil {
		return "", err
	}
	seen := map[string]int{}
	defer func() { err = errors.Join(err, s.Close()) }()
	words := gen.NewWords(8)
	begin := skein.At(time.Now()) - skein.Time(n)*60_000
	for i := 0; i < n; i += atOnce {
		var batches []skein.Batch
		for j := i; j < min(i+atOnce, n); j++ {
			at := begin + skein.Time(j)*60_000
			project := fmt.Sprintf("/home/ada/project-%d", j%20)
			evs := []skein.Event{skein.NewEvent(skein.KindCreated, at, skein.Created{Project: project, Agent: "load", Title: words.Prose(40)})}
			for k := range perSession {
				text := words.Prose(400)
				if j < sampled {
					for _, w := range strings.Fields(text) {
						seen[w]++
					}
				}
				m := skein.UserSays(text)
				if k%2 == 1 {
					m.Role, m.Provider, m.Model, m.Usage = skein.RoleAssistant, "anthropic", "claude-sonnet-4-5", &skein.Usage{Input: 12, Output: 300, CacheRead: 9000}
				}
				evs = append(evs, skein.Say(at+skein.Time(k+1)*1000, m))
			}
			batches = append(batches, skein.Batch{Session: sessionID(j), Events: evs})
		}
		if _, err := s.Append(ctx, batches...); err != nil {
			return "", err
		}
	}
	if err := settle(ctx, s); err != nil {
		return "", err
	}
	return middling(seen, min(n, sampled)*perSession/200), nil
}

// settle waits until the index is complete, which a search triggers.
func settle(ctx context.Context, s *sqlite.Store) error {
	for {
		if lag, err := s.Lag(ctx); err != nil || lag == (inspect.Lag{}) {
			return err
		}
		if _, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{"settle"}}}, Deadline: time.Millisecond}); err != nil {
			return err
		}
	}
}

// middling returns a word that was seen about that often.
func middling(seen map[string]int, often int) string {
	best, off := "", 1<<30
	for word, n := range seen {
		if d := max(n-often, often-n); d < off && len(word) > 4 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			best, off = word, d
		}
	}
	return best
}

// filled puts a store of n sessions into dir and returns the word of fill. If
// kept has a store from an earlier run, it is copied; if not, it is created
// there, or, if kept is "", only in dir.
func filled(ctx context.Context, dir, kept string, n int) (string, error) {
	if kept == "" {
		return fill(ctx, dir, n)
	}
	kept = filepath.Join(kept, fmt.Sprint(n))
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := keep(ctx, kept, n); err != nil {
			return "", err
		}
	}
	word, err := os.ReadFile(filepath.Join(kept, "word"))
	if err != nil {
		return "", err
	}
	return string(word), copyFile(filepath.Join(dir, "skein.db"), filepath.Join(kept, "skein.db"))
}

// keep creates the store in a folder that gets its name once it is complete.
func keep(ctx context.Context, kept string, n int) error {
	making := kept + ".part"
	if err := errors.Join(os.RemoveAll(making), os.MkdirAll(making, 0o700)); err != nil {
		return err
	}
	began := time.Now()
	word, err := fill(ctx, making, n)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(making, "word"), []byte(word), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "load: made %d sessions in %s, kept in %s\n", n, time.Since(began).Round(time.Second), kept)
	return os.Rename(making, kept)
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}
