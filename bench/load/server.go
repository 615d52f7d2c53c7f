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

	"github.com/skein-dev/skein/server/door"
)

// server is the program under load.
type server struct {
	url, token string
	tokens     *door.Tokens
	process    *exec.Cmd
	took       time.Duration // from the start until it answers
	size       int64         // bytes of the store
	word       string        // a word that is in some messages
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
// system does not report it.
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

// kill kills the server if it is still running.
func (s *server) kill() {
	if s.process.ProcessState == nil {
		s.process.Process.Kill() //nolint:errcheck // it has just ended
		s.process.Wait()         //nolint:errcheck // it was killed
	}
}
