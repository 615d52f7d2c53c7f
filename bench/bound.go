package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// Limits on the program's memory, for one large item and for many.
const (
	boundOfOne  = 256 << 20
	boundOfMany = 512 << 20

	// Skillet and OpenCode keep a message in a row of a SQLite database. A row is held
	// three times while it is inserted: as the text that is passed to the driver, as the
	// driver's copy of it, and as SQLite's record. The message of control characters is
	// 120 MiB of JSON; with the message itself and skein that must not be more than this.
	boundOfRow = 512 << 20

	// Amplifier's files are read back after they are written. For the same message that
	// takes 229 MiB, and more while the copies are not collected: it must not grow.
	boundOfAmplifier = 288 << 20
)

const (
	longMessage = 32 << 20
	longLine    = 19 << 20
	largeBatch  = 240 << 20
	batches     = 16  // sent at once
	stuck       = 100 // readers that do not read
)

// agents are the formats in which sessions are exported to an agent's files.
var agents = []string{"claude-code", "codex", "agsh", "amplifier", "agentuse", "ethos", "skillet", "pi", "opencode", "atif", "otel-genai"}

// controlCharacters is the kind of text that is 6 times as long in JSON.
const controlCharacters = "control-characters"

// kindsOfText are long messages that are other than prose, of about n bytes.
var kindsOfText = map[string]func(n int) []byte{
	"one-word":   func(n int) []byte { return bytes.Repeat([]byte("x"), n) },
	"quotes":     func(n int) []byte { return bytes.Repeat([]byte(`"`), n) },
	"line-feeds": func(n int) []byte { return bytes.Repeat([]byte("\n"), n) },
	"base64": func(n int) []byte {
		data := make([]byte, n/4*3)
		rand.NewChaCha8([32]byte{}).Read(data) //nolint:errcheck // it returns nil
		return base64.StdEncoding.AppendEncode(nil, data)
	},
	"words": func(n int) (text []byte) {
		for r := rand.New(rand.NewPCG(1, 1)); len(text) < n; {
			text = append(strconv.AppendUint(text, r.Uint64N(1<<40), 36), ' ')
		}
		return text
	},
	controlCharacters: func(n int) []byte { return bytes.Repeat([]byte{1}, n/8*5) },
	"chinese": func(n int) (text []byte) {
		for r := rand.New(rand.NewPCG(1, 1)); len(text) < n; {
			text = utf8.AppendRune(text, 0x4e00+r.Int32N(0x9fff-0x4e00))
		}
		return text
	},
}

// memoryBound measures the most memory that commands and the server use for
// large items, and for many clients that do not read.
func memoryBound(ctx context.Context, e *fixture) error {
	b, err := newBound(ctx, e)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"append", "cli:long", b.text, "--create"},
		{"show", "cli:long"},
		{"search", b.word},
		{"export", "cli:long", "--to", "md", "-o", filepath.Join(b.dir, "long.md")},
		{"export", "cli:long", "--to", "html", "-o", filepath.Join(b.dir, "long.html")},
		{"export", "cli:long", "--to", "json", "-o", filepath.Join(b.dir, "long.json")},
		{"export", "cli:long", "--to", "skein", "-o", filepath.Join(b.dir, "long.jsonl")},
	} {
		if err := b.command("a message of 33 MB: "+args[0]+exportTo(args), args...); err != nil {
			return err
		}
	}
	for name, text := range kindsOfText {
		file := filepath.Join(b.dir, name+".txt")
		if err := os.WriteFile(file, text(longMessage), 0o600); err != nil {
			return err
		}
		apart := b.in(name) // what is measured next must not also index this message
		if err := apart.command("a message of 33 MB, "+name+": append", "append", "cli:"+name, file, "--create"); err != nil {
			return err
		}
		if err := apart.command("a message of 33 MB, "+name+", while it is indexed: list", "list"); err != nil {
			return err
		}
	}
	if err := b.in(controlCharacters).exports(); err != nil {
		return err
	}
	if err := b.transfers(ctx); err != nil {
		return err
	}
	elsewhere := b.in("elsewhere")
	if err := elsewhere.command("a message of 33 MB: import skein", "import", filepath.Join(b.dir, "long.jsonl")); err != nil {
		return err
	}
	for _, to := range agents {
		if err := b.command("a message of 33 MB: export "+to, "export", "cli:long", "--to", to, "-o", filepath.Join(b.dir, "as-"+to)); err != nil {
			return err
		}
	}
	if err := b.command("a line of 19 MB: import", "import", b.line); err != nil {
		return err
	}
	if err := b.command("a line of 19 MB: import gemini", "import", b.gemini); err != nil {
		return err
	}
	if err := b.served("a batch of 240 MB: refused", boundOfOne, func(s *served) error {
		return s.post(ctx, largeBatch, http.StatusRequestEntityTooLarge)
	}); err != nil {
		return err
	}
	if err := b.served("a batch of 90 MB: POST", boundOfOne, func(s *served) error {
		return s.post(ctx, 90<<20, http.StatusCreated)
	}); err != nil {
		return err
	}
	if err := b.served(fmt.Sprintf("%d batches of 90 MB: POST", batches), boundOfMany, func(s *served) error {
		return s.crowd(ctx, 90<<20)
	}); err != nil {
		return err
	}
	for _, path := range []string{"/events", "/export?to=skein", "/events?follow=1"} {
		if err := b.served(fmt.Sprintf("a message of 33 MB: %d readers of %s that take nothing", stuck, path), boundOfMany, func(s *served) error {
			return s.stick(ctx, "/v1/sessions/"+b.session+path)
		}); err != nil {
			return err
		}
	}
	return nil
}

func exportTo(args []string) string {
	if args[0] != "export" {
		return ""
	}
	return " " + args[3]
}

// bound is the setup in which the program's memory is measured.
type bound struct {
	*fixture
	bin, dir       string
	most           int64  // bytes that a command may have
	text, word     string // a file with a long message, and a word of it
	line, gemini   string // files with a long line
	session, token string
}

func newBound(ctx context.Context, e *fixture) (_ *bound, err error) {
	b := &bound{fixture: e, most: boundOfOne}
	if b.dir, err = e.folder("bound"); err != nil {
		return nil, err
	}
	if b.bin, err = e.build(ctx, ""); err != nil {
		return nil, err
	}
	b.text, b.word = filepath.Join(b.dir, "long.txt"), "needle"
	t := gen.NewTranscript(4711)
	t.Ask(prose(longLine))
	b.line = filepath.Join(b.dir, "projects", "-home-ada-long", t.ID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(b.line), 0o700); err != nil {
		return nil, err
	}
	b.gemini = filepath.Join(b.dir, ".gemini", "tmp", "long", "chats", "session-2026-11-20T10-00-4711.jsonl")
	if err := os.MkdirAll(filepath.Dir(b.gemini), 0o700); err != nil {
		return nil, err
	}
	head := `{"sessionId":"47110000-0000-4000-8000-000000000001","projectHash":"long","startTime":"2026-11-20T10:00:00.000Z","lastUpdated":"2026-11-20T10:00:00.000Z","kind":"main"}`
	said := skein.MustJSON(map[string]any{"id": "1", "timestamp": "2026-11-20T10:00:01.000Z", "type": "user", "content": []map[string]string{{"text": prose(longLine)}}})
	err = errors.Join(os.WriteFile(b.text, []byte(prose(longMessage)), 0o600), os.WriteFile(b.line, t.Bytes(), 0o600),
		os.WriteFile(b.gemini, []byte(head+"\n"+string(said)+"\n"), 0o600))
	if err != nil {
		return nil, err
	}
	for _, what := range []struct {
		into *string
		args []string
	}{
		{&b.session, []string{"append", "cli:served", b.text, "--create"}},
		{&b.token, []string{"token", "add", "bench", "--scope", "admin,read:raw"}},
	} {
		cmd := exec.CommandContext(ctx, b.bin, what.args...)
		cmd.Env = home(b.dir)
		out, err := cmd.Output()
		words := strings.Fields(string(out))
		if err != nil || len(words) == 0 {
			return nil, fmt.Errorf("skein %s: %q, %w", what.args[0], out, err)
		}
		*what.into = words[0]
		if what.into == &b.token {
			b.token = words[len(words)-1]
		}
	}
	return b, nil
}

// in returns the setup with a store of its own.
func (b *bound) in(name string) *bound {
	apart := *b
	apart.dir = filepath.Join(b.dir, name)
	return &apart
}

// prose returns a text of n bytes, which is one message.
func prose(n int) string {
	return strings.Repeat("the quick brown fox of the file system jumps over 4711 lazy tests\n", n/66) + "needle\n"
}

// command measures the memory of a command.
func (b *bound) command(what string, args ...string) error {
	cmd := exec.Command(b.bin, args...)
	cmd.Env = append(home(b.dir), "SKEIN_TOKEN="+b.token)
	peak, err := watched(cmd)
	if err != nil {
		return err
	}
	b.peak(what, peak, b.most)
	return nil
}

// exports measures the exports of the message of control characters. Formats of JSON
// documents are left out: they refuse a document that is too long to be read again.
func (b *bound) exports() error {
	for _, to := range agents {
		if to == "atif" || to == "otel-genai" {
			continue
		}
		apart := *b
		switch to {
		case "skillet", "opencode":
			apart.most = boundOfRow
		case "amplifier":
			apart.most = boundOfAmplifier
		}
		err := apart.command("a message of 20 MB, "+controlCharacters+": export "+to, "export", "cli:"+controlCharacters, "--to", to, "-o", filepath.Join(b.dir, "as-"+to))
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bound) peak(what string, peak, most int64) {
	r := row{what: "memory: " + what, got: mega(peak), goal: "under " + mega(most)}
	if peak == 0 {
		r.got = "the system does not say"
	} else {
		r.holds = holds(peak < most)
	}
	b.add(r)
}

// served is a server of its own.
type served struct {
	*bound
	url string
}

// served measures a server's memory while do sends it requests.
func (b *bound) served(what string, most int64, do func(*served) error) error {
	cmd := exec.Command(b.bin, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = home(b.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	done, seen := make(chan struct{}), make(chan int64)
	go func() { seen <- watchMemory(cmd.Process.Pid, done) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = do(&served{b, strings.TrimSpace(line)})
	}
	close(done)
	peak := <-seen
	err = errors.Join(err, cmd.Process.Kill())
	cmd.Wait() //nolint:errcheck // it was killed
	if peak = max(peak, peakMemory(cmd.ProcessState)); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	b.peak(what, peak, most)
	return nil
}

// post sends a batch of size bytes, as events of 1 MB, and checks the status.
func (s *served) post(ctx context.Context, size, want int) error {
	status, said, err := s.send(ctx, size)
	if err == nil && status != want {
		err = fmt.Errorf("POST of %d bytes: %d %s, want %d", size, status, said, want)
	}
	return err
}

// crowd sends many batches of size bytes at once. Each must be stored.
func (s *served) crowd(ctx context.Context, size int) error {
	over := make(chan error, batches)
	for range batches {
		go func() { over <- s.post(ctx, size, http.StatusCreated) }()
	}
	var all error
	for range batches {
		all = errors.Join(all, <-over)
	}
	return all
}

// send sends a batch of size bytes, as events of 1 MB, and returns the status
// and the answer.
func (s *served) send(ctx context.Context, size int) (status int, said string, err error) {
	event := skein.MustJSON(skein.Say(1, skein.UserSays(prose(1<<20))))
	from, to := io.Pipe()
	go func() {
		_, err := io.WriteString(to, `{"events":[`)
		for n := 0; n < size && err == nil; n += len(event) {
			if n > 0 {
				_, err = io.WriteString(to, ",")
			}
			if err == nil {
				_, err = to.Write(event)
			}
		}
		if err == nil {
			_, err = io.WriteString(to, "]}")
		}
		to.CloseWithError(err) //nolint:errcheck // it returns nil
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/sessions/"+s.session+"/events", from)
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	return w.StatusCode, string(b), err
}

// stick requests a path many times, and reads only the first byte of each
// answer: the server has then sent all that it can.
func (s *served) stick(ctx context.Context, path string) error {
	host := strings.TrimPrefix(s.url, "http://")
	var dialer net.Dialer
	answered := make(chan error, stuck)
	for range stuck {
		c, err := dialer.DialContext(ctx, "tcp", host)
		if err != nil {
			return err
		}
		defer c.Close()
		if t, ok := c.(*net.TCPConn); ok {
			if err := t.SetReadBuffer(4096); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, host, s.token); err != nil {
			return err
		}
		go func() {
			if _, err := c.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) { // EOF: there was no room after the status
				answered <- err
				return
			}
			answered <- nil
		}()
	}
	for range stuck {
		if err := <-answered; err != nil {
			return err
		}
	}
	return nil
}
