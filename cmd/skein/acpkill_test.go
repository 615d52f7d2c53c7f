//go:build unix

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/acp/acptest"
)

// A fuse blows when so many bytes were read through it.
type fuse struct {
	io.Reader
	mu   sync.Mutex
	left int
	blow func()
}

func (f *fuse) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b[:min(len(b), 512)])
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left -= n; f.left <= 0 && f.blow != nil {
		f.blow()
		f.blow = nil
	}
	return n, err
}

// soakTurns sets how many turns TestASessionOutlivesKills has.
const soakTurns = "SKEIN_TEST_ACP_TURNS"

// sessionTurns is how many turns a session has there: each kill is followed by a load,
// which shows all turns of the session.
const sessionTurns = 100

// Wherever skein, the editor or the agent is killed, the session opens again, shows what
// was acknowledged, once, and goes on.
func TestASessionOutlivesKills(t *testing.T) {
	turns := 60
	if testing.Short() {
		turns = 12
	}
	if n, err := strconv.Atoi(os.Getenv(soakTurns)); err == nil {
		turns = n
	}
	d := newACPDesk(t, "load resume")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not a secret
	var id string
	var c *connection
	acknowledged, total := []string{}, 0
	kills := map[string]int{}
	for n := range turns {
		if n%sessionTurns == 0 && c != nil {
			c.leave()
			c = nil
		}
		if n%sessionTurns == 0 && id != "" {
			d.has(id, acknowledged)
			id, acknowledged, total = "", nil, total+len(acknowledged)
			t.Logf("%d turns, %d acknowledged, killed: %v", n, total, kills)
		}
		if c == nil {
			c = d.start("1")
			c.Initialize()
			if id == "" {
				id = c.New(filepath.Join(d.dir, "work"))
			} else {
				d.openAgain(c, id, acknowledged)
			}
		}
		text := fmt.Sprintf("say turn %d\ntool ls\nstream 40\nsay the end of %d", n, n)
		who := []string{"nobody", "nobody", "skein", "editor", "agent"}[rng.IntN(5)]
		kills[who]++
		switch who {
		case "skein":
			c.fuse.light(rng.IntN(12_000), func() { _ = c.cmd.Process.Kill() })
		case "editor":
			c.fuse.light(rng.IntN(12_000), func() { c.in.Close(); c.out.Close() })
		case "agent":
			text = strings.Replace(text, []string{"tool ls", "stream 40", "say the end"}[rng.IntN(3)], "die\nsay the end", 1)
		}
		a, ok := c.Await(c.Send("session/prompt", acptest.PromptOf(id, text)))
		if ok && a.Error == nil {
			acknowledged = append(acknowledged, text)
		} else if who == "nobody" {
			t.Fatalf("turn %d: the answer is %+v, %t", n, a.Error, ok)
		}
		if who != "nobody" {
			c.fuse.light(0, nil)
			c.leave()
			c = nil
		}
	}
	if c != nil {
		c.leave()
	}
	d.has(id, acknowledged)
	t.Logf("%d turns, %d acknowledged, killed: %v", turns, total+len(acknowledged), kills)
}

// openAgain loads a session, and checks that it shows the prompts that were acknowledged.
func (d *acpDesk) openAgain(c *connection, id string, acknowledged []string) {
	d.Helper()
	c.Ask("session/load", map[string]any{"sessionId": id, "cwd": filepath.Join(d.dir, "work"), "mcpServers": []any{}}, nil)
	shown := acptest.Texts(acptest.Updates(c.Lines(0), id), "user_message_chunk")
	for _, text := range acknowledged {
		if strings.Count(shown, text) != 1 {
			d.Fatalf("the session shows %d times %q", strings.Count(shown, text), text)
		}
	}
}

// has checks that a session has turns, whole, once, and in order.
func (d *acpDesk) has(id string, turns []string) {
	d.Helper()
	said := d.said(id)
	for _, text := range turns {
		i := slices.Index(said, "user: "+text)
		if i < 0 {
			d.Fatalf("%q is not stored, or not in order", text)
		}
		_, n, _ := strings.Cut(text[:strings.IndexByte(text, '\n')], "say turn ")
		if len(said) < i+5 || said[i+1] != "assistant: turn "+n || said[i+3] != "tool: output of ls" || !strings.HasSuffix(said[i+4], "39 the end of "+n) {
			d.Fatalf("turn %s is %q", n, said[i:min(len(said), i+5)])
		}
		said = said[i+5:]
	}
}

// light makes the fuse blow after so many more bytes; never if blow is nil.
func (f *fuse) light(n int, blow func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.blow = n, blow
}
