package main

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// tiny is just enough work for every experiment to run.
var tiny = size{
	appends: 50, producers: 4, each: 10, steady: 20, sustained: time.Millisecond,
	long: 1_200, sessions: 600, perOne: 10, corpus: 1 << 20, files: 20,
}

func TestEveryExperimentMeasures(t *testing.T) {
	for _, x := range experiments() {
		t.Run(x.name, func(t *testing.T) {
			e := &fixture{size: tiny, dir: t.TempDir()}
			if err := x.run(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			if len(e.rows) == 0 {
				t.Error("it added no row to the table")
			}
			for _, r := range e.rows {
				if (x.name == "memory" || x.name == "counts") && r.holds == no { // they do not depend on time
					t.Errorf("%s: %s, want %s", r.what, r.got, r.goal)
				}
				_, cc := exec.LookPath("cc")
				if strings.Contains(r.got, "NOT MEASURED") && cc == nil {
					t.Errorf("%s: %s", r.what, r.got)
				}
			}
		})
	}
}

// A program's memory is its own, however much this process has.
func TestWatchedReturnsTheMemoryOfTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not say how much memory an ended process had")
	}
	ours := make([]byte, 300<<20)
	for i := 0; i < len(ours); i += 4096 {
		ours[i] = 1
	}
	peak, err := watched(exec.Command("sleep", "0.2"))
	runtime.KeepAlive(ours)
	if err != nil || peak == 0 || peak > 100<<20 {
		t.Errorf("watched(sleep) = %d, %v; want what sleep needs, in bytes", peak, err)
	}
}

func TestAtReturnsAShareOfTheSeries(t *testing.T) {
	s := series{5, 1, 4, 2, 3}
	for p, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := s.at(p); got != want {
			t.Errorf("%v.at(%v) = %d, want %d", s, p, got, want)
		}
	}
	if got := (series{}).at(0.5); got != 0 {
		t.Errorf("an empty series has the median %v, want 0", got)
	}
}

func TestTableIsMarkdown(t *testing.T) {
	e := &fixture{rows: []row{{what: "a", got: "1 ms", goal: "2 ms", holds: yes}}}
	want := "| what | measured | beside it | ratio | to reach | reached |\n| --- | --- | --- | --- | --- | --- |\n| a | 1 ms | – | – | 2 ms | yes |\n"
	if got := e.table(); got != want {
		t.Errorf("table() =\n%swant\n%s", got, want)
	}
}
