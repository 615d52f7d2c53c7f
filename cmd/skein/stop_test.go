//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/storetest"
)

// A run that is stopped in the middle of a tool call, while another one takes over
// its session, writes nothing more when it continues, and says why.
func TestAStoppedRunThatWasTakenOverSaysSo(t *testing.T) {
	at(t, []llmtest.Reply{runs(held)}, func(d *desk) {
		g := d.gate()
		p := d.start("1", d.first()...)
		g.reached(p)
		d.stops(p)
		d.locked("resume", "k", "let me")
		d.types("resume", "k", "--take-over", "let", "me").want(0, "It is so.\n")
		had := d.types("show", "k", "--events").want(0, "").out.String()
		p.signal(syscall.SIGCONT)
		g.open()
		p.wait()
		id, _, _ := strings.Cut(strings.TrimPrefix(p.errs.String(), "session "), "\n")
		p.want(4, "", "\nskein: another program took this session over, so nothing more was stored here\n", "\nwhat was stored before that is safe; see what is new with: skein show "+id+" --last 5\n")
		if got := d.types("show", "k", "--events").want(0, "").out.String(); got != had {
			t.Errorf("the run that was stopped has written:\n%s\nafter\n%s", got, had)
		}
		if n := d.effects(); n != 1 {
			t.Errorf("the tool ran %d times, want once", n)
		}
		d.whole()
		d.wantUncertain(true)
	})
}

// stops stops a process while it is not writing.
func (d *desk) stops(p *process) {
	d.Helper()
	s, err := sqlite.Open(d.Context(), filepath.Join(d.home, "skein.db"), sqlite.Options{})
	if err != nil {
		d.Fatal(err)
	}
	defer s.Close()
	if err := storetest.StopAtRest(d.Context(), s, p.cmd.Process); err != nil {
		d.Fatal(err)
	}
}

// locked checks that a command says who has the session.
func (d *desk) locked(args ...string) {
	d.Helper()
	p := d.types(args...).want(4, "")
	want := regexp.MustCompile(`(?m)^skein: session is locked by PID \d+ \(skein run, since \d\d:\d\d\)\n.*--fork .*--take-over .*$`)
	if !want.MatchString(p.errs.String()) {
		d.Errorf("%s\nwant who has the session, and what to do", p)
	}
}

// Of two runs on one session, the second is told about the first; it may continue in a
// fork, and the first does not notice.
func TestTwoRunsOnOneSession(t *testing.T) {
	at(t, []llmtest.Reply{runs(held)}, func(d *desk) {
		g := d.gate()
		p := d.start("1", d.first()...)
		g.reached(p)
		d.locked("run", "-r", "k", "me", "too")
		d.locked("continue", "me", "too")
		d.types("run", "-r", "k", "--fork", "on", "my", "own").want(0, "It is so.\n", "session ")
		g.open()
		p.wait().want(0, "It is so.\n")
		lists := d.types("list", "--json").want(0, "").out.String()
		if strings.Count(lists, "\n") != 2 || !strings.Contains(lists, `"why":"fork"`) || strings.Contains(lists, `"uncertain":1`) {
			t.Errorf("list --json says\n%s\nwant the session and a fork of it", lists)
		}
		d.types("resume", "k", "and", "now?").want(0, "It is so.\n")
		if n := d.effects(); n != 1 {
			t.Errorf("the tool ran %d times, want once", n)
		}
		d.whole()
	})
}
