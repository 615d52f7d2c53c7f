//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
)

// appends is the number of appends of a turn with one tool call: the prompt, the
// begin of a request, its answer, the begin and the result of the tool call, the
// begin of a request, its answer, the end.
const appends = 8

// A run that is killed at any of its appends can be resumed.
func TestAKilledRunIsTakenUp(t *testing.T) {
	for n := 1; n <= appends; n++ {
		for _, when := range []string{"before", "after"} {
			place := fmt.Sprint(when, " ", n)
			t.Run(place, func(t *testing.T) {
				at(t, []llmtest.Reply{runs("echo done")}, func(d *desk) {
					d.start(place, d.first()...).wait().want(-1, "")
					ran := 0
					if n > 4 { // the tool's result is the fifth append
						ran = 1
					}
					d.takeUp(ran, n == 4 && when == "after" || n == 5 && when == "before")
				})
			})
		}
	}
}

// first returns the command of a first turn in which a tool runs.
func (d *desk) first() []string {
	return []string{"run", "--key", "k", "--model", d.model, "--allow", "shell", "go", "ahead"}
}

// takeUp resumes the session k of a run that was killed. By then the tool has run
// so many times; uncertain says whether the outcome of its call is unknown.
func (d *desk) takeUp(ran int, uncertain bool) {
	d.Helper()
	if n := d.effects(); n != ran {
		d.Fatalf("the tool ran %d times before its process was killed, want %d", n, ran)
	}
	asked := len(d.server.Requests())
	d.goOn().want(0, "It is so.\n")
	d.types("resume", "k", "and", "now?").want(0, "It is so.\n")
	if n := d.effects(); n > 1 || ran == 0 && n == 1 && asked > 0 {
		d.Errorf("the tool ran %d times, %d of them before its process was killed", n, ran)
	}
	d.whole()
	d.wantUncertain(uncertain)
	var said []string
	for line := range strings.Lines(d.types("show", "k", "--json").want(0, "").out.String()) {
		var e struct{ Message skein.Message }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			d.Fatal(err)
		}
		if e.Message.Role == skein.RoleUser {
			said = append(said, e.Message.Words())
		}
	}
	if !slices.Equal(slices.Compact(said), []string{"go ahead", "and now?"}) || len(said) > 3 {
		d.Errorf("the person has said %q", said)
	}
}

// goOn answers the last prompt, if it has no answer; else it says something.
func (d *desk) goOn() *process {
	d.Helper()
	p := d.types("resume", "k")
	switch {
	case p.code == 3: // nothing of it was stored
		return d.types(d.first()...)
	case strings.Contains(p.errs.String(), "has its answer"):
		return d.types("resume", "k", "and now?")
	}
	return p
}

// wantUncertain checks that list and show report a call with an unknown outcome,
// and that the model was told; or that none of them does.
func (d *desk) wantUncertain(want bool) {
	d.Helper()
	lists, shows := d.types("list").want(0, ""), d.types("show", "k").want(0, "")
	const unknown = "1 call with unknown outcome"
	if got := strings.Contains(lists.out.String(), unknown); got != want {
		d.Errorf("%s\nwant %q: %t", lists, unknown, want)
	}
	if got := strings.Contains(shows.errs.String(), unknown); got != want {
		d.Errorf("%s\nwant %q: %t", shows, unknown, want)
	}
	sent := d.server.Requests()
	told := false
	for _, m := range sent[len(sent)-1].Messages {
		for _, p := range m.Parts {
			told = told || p.Result != nil && strings.Contains(string(p.Result.Text), "unknown")
		}
	}
	if want && !told {
		d.Errorf("the model was not told that the outcome is unknown:\n%s", sent[len(sent)-1].Body)
	}
}

func TestARunKilledInAStreamIsTakenUp(t *testing.T) {
	for _, bytes := range []int{0, 100, 400, 700} {
		t.Run(fmt.Sprint("first answer, byte ", bytes), func(t *testing.T) {
			at(t, []llmtest.Reply{llmtest.Breaks(runs("echo done"), llmtest.Hang, bytes)}, func(d *desk) {
				p := d.start("1", d.first()...)
				d.asked(1)
				p.signal(syscall.SIGKILL)
				p.wait().want(-1, "")
				d.takeUp(0, false)
			})
		})
		t.Run(fmt.Sprint("second answer, byte ", bytes), func(t *testing.T) {
			at(t, []llmtest.Reply{runs("echo done"), llmtest.Breaks(llmtest.Says("This is what became of it."), llmtest.Hang, bytes)}, func(d *desk) {
				p := d.start("1", d.first()...)
				d.asked(2)
				p.signal(syscall.SIGKILL)
				p.wait().want(-1, "")
				d.takeUp(1, false)
			})
		})
	}
}

func TestARunKilledInAToolIsTakenUp(t *testing.T) {
	at(t, []llmtest.Reply{runs(held)}, func(d *desk) {
		g := d.gate()
		p := d.start("1", d.first()...)
		g.reached(p)
		p.signal(syscall.SIGKILL)
		g.open() // the tool has outlived its run
		p.wait().want(-1, "")
		d.types("list").want(0, "1 call left running by a program that died")
		d.takeUp(1, true)
	})
}
