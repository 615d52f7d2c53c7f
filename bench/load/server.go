package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/sqlite"
)

// server is the program that is loaded.
type server struct {
	url, token string
	tokens     *door.Tokens
	process    *exec.Cmd
	took       time.Duration // from the start until it answers
	size       int64         // bytes of the store
	word       string        // that is in some messages
	client     *http.Client
}

func build(ctx context.Context, dir string) (string, error) {
	where, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/skein-dev/skein").Output()
	if err != nil {
		return "", fmt.Errorf("go list, run in the folder bench: %w", err)
	}
	bin := filepath.Join(dir, "skein")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(where)), "-o", bin, "./cmd/skein")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return bin, nil
}

const (
	perSession = 10
	atOnce     = 50   // sessions
	sampled    = 1000 // sessions whose words are counted
)

func sessionID(i int) skein.SessionID { return skein.SessionID(fmt.Sprintf("load-%06d", i)) }

// fill makes a store of n sessions of 10 messages of 400 bytes, and returns a
// middling word: one that is in about one of 200 messages.
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
	return middling(seen, min(n, sampled)*perSession/200), nil
}

// middling returns the word that was seen about that often.
func middling(seen map[string]int, often int) string {
	best, off := "", 1<<30
	for word, n := range seen {
		if d := max(n-often, often-n); d < off && len(word) > 4 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			best, off = word, d
		}
	}
	return best
}

// start starts the server on the store in dir, and waits until it answers.
func start(ctx context.Context, bin, dir string) (*server, error) {
	s := &server{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "skein.db") {
			if info, err := d.Info(); err == nil {
				s.size += info.Size()
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.tokens, err = door.OpenTokens(filepath.Join(dir, "state", "tokens"), time.Now); err != nil {
		return nil, err
	}
	s.token = s.tokens.First()
	s.process = exec.CommandContext(ctx, bin, "serve", "--listen", "127.0.0.1:0", "--store", filepath.Join(dir, "skein.db"))
	s.process.Env = append(os.Environ(), "SKEIN_HOME="+dir, "HOME="+dir)
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("skein serve said %q: %w", line, err)
	}
	s.url = strings.TrimSpace(line)
	if _, _, err = s.ask(ctx, http.MethodGet, "/v1/sessions?limit=1", ""); err != nil {
		return nil, err
	}
	s.took = time.Since(began)
	return s, nil
}

// ask sends a request and returns the body of the answer, and how long it took.
func (s *server) ask(ctx context.Context, method, path, body string) ([]byte, time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	w, err := s.client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	b, err := io.ReadAll(w.Body)
	if err = errors.Join(err, w.Body.Close()); err == nil && w.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, w.Status, b)
	}
	return b, time.Since(began), err
}

// memory returns the most memory that the server has had, in bytes; 0 if the
// system does not say.
func (s *server) memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// kill ends the server if it has not ended.
func (s *server) kill() {
	if s.process.ProcessState == nil {
		s.process.Process.Kill() //nolint:errcheck // it has just ended
		s.process.Wait()         //nolint:errcheck // it was killed
	}
}
