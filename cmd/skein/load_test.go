//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

// Many processes at once on one new store make as many sessions, each with its
// answer.
func TestFiftyRunsAtOnce(t *testing.T) {
	const runs = 50
	d := newDesk(t, makers()[0])
	all := make([]*process, runs)
	for i := range all {
		prompt := fmt.Sprint("question ", i)
		if i%2 == 0 {
			all[i] = d.start("1", "run", "--model", "echo", prompt)
		} else {
			all[i] = d.start("1", "run", "--model", d.model, prompt)
		}
	}
	for i, p := range all {
		answer := "It is so.\n"
		if i%2 == 0 {
			answer = fmt.Sprintf("question %d\n", i)
		}
		if p.wait().want(0, answer); p.out.String() != answer {
			t.Errorf("%s\nwant %q alone on stdout", p, answer)
		}
	}
	lists := d.types("list", "--json", "--limit", "0").want(0, "").out.String()
	if n := strings.Count(lists, `"turns":1,`); n != runs || strings.Count(lists, "\n") != runs {
		t.Errorf("there are %d sessions of one turn, want %d:\n%s", n, runs, lists)
	}
	for i := range runs {
		if !strings.Contains(lists, fmt.Sprintf(`"question %d"`, i)) {
			t.Errorf("there is no session with question %d", i)
		}
	}
	d.whole()
}

// Many runs at once want to continue one session: each gets its turn, or is told
// who has the session. None is lost or stored partially.
func TestManyRunsOnOneSession(t *testing.T) {
	const runs = 12
	d := newDesk(t, makers()[0])
	d.types("run", "--key", "k", "--model", "echo", "first").want(0, "first\n")
	all := make([]*process, runs)
	for i := range all {
		all[i] = d.start("1", "resume", "k", fmt.Sprint("question ", i))
	}
	done := 1
	for i, p := range all {
		if p.wait(); p.code == 4 {
			p.want(4, "", "session is locked by PID ")
			continue
		}
		p.want(0, fmt.Sprintf("question %d\n", i))
		done++
	}
	lists := d.types("list", "--json").want(0, "").out.String()
	if want := fmt.Sprintf(`"turns":%d,`, done); !strings.Contains(lists, want) || strings.Count(lists, "\n") != 1 {
		t.Errorf("list --json = %s\nwant %s", lists, want)
	}
	d.whole()
}
