package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/skein-dev/skein/bench/gen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// An experiment measures some rows of the table.
type experiment struct {
	name string
	run  func(context.Context, *fixture) error
}

func experiments() []experiment {
	return []experiment{
		{"append-one", appendOne},
		{"append-sustained", appendSustained},
		{"append-many", appendMany},
		{"append-many-sustained", appendManySustained},
		{"long", longSession},
		{"turn", turns},
		{"wide", wideStore},
		{"import", importCorpus},
		{"import-real", importReal},
		{"import-stages", importStages},
		{"import-amplifier", importAmplifier},
		{"watch", watchFile},
		{"counts", countPaths},
		{"memory", memoryBound},
	}
}

func run(ctx context.Context) error {
	name := flag.String("size", "short", "how much to measure: short or full")
	only := flag.String("only", "", "only experiments whose name this expression matches")
	dir := flag.String("dir", "", "folder for what is built and stored; made and removed if empty")
	profile := flag.String("profile", "", "folder for CPU profiles")
	flag.Parse()
	s, ok := sizes()[*name]
	if !ok {
		return fmt.Errorf("size %q: want short or full", *name)
	}
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	e := &fixture{size: s, dir: *dir}
	if e.dir == "" {
		if e.dir, err = os.MkdirTemp("", "skein-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(e.dir)
	}
	if e.dir, err = filepath.Abs(e.dir); err != nil {
		return err
	}
	for _, x := range experiments() {
		if !pick.MatchString(x.name) {
			continue
		}
		e.say("%s", x.name)
		start := time.Now()
		if err := profiled(*profile, x, func() error { return x.run(ctx, e) }); err != nil {
			why, _, _ := strings.Cut(err.Error(), "\n")
			e.add(row{what: x.name, got: "NOT MEASURED: " + why})
		}
		e.say("%s took %s", x.name, time.Since(start).Round(time.Second))
	}
	fmt.Printf("size %s, %s/%s, %d CPUs, %s, %s\n\n%s", *name, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		time.Now().Format(time.DateOnly), e.table())
	return ctx.Err()
}

// profiled runs f, with a CPU profile in folder if that is not empty.
func profiled(folder string, x experiment, f func() error) error {
	if folder == "" {
		return f()
	}
	out, err := os.Create(filepath.Join(folder, x.name+".prof"))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

// A row is a line of the table.
type row struct {
	what, got, beside, ratio, goal string
	holds                          verdict
}

// A verdict says whether a row reaches its goal.
type verdict string

const (
	unknown verdict = ""
	yes     verdict = "yes"
	no      verdict = "NO"
)

func holds(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// A fixture is shared by the experiments.
type fixture struct {
	size size
	dir  string
	rows []row
	bins map[string]string     // programs built so far, by their tags
	made map[string]gen.Corpus // transcripts made so far, by the folder of real ones that they are copies of
}

func (e *fixture) add(r row) {
	e.rows = append(e.rows, r)
	e.say("  %s: %s (beside: %s, ratio %s, goal %s)", r.what, r.got, r.beside, r.ratio, r.goal)
}

func (e *fixture) say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// folder returns a new folder of that name.
func (e *fixture) folder(name string) (string, error) {
	d := filepath.Join(e.dir, name)
	if err := os.RemoveAll(d); err != nil {
		return "", err
	}
	return d, os.MkdirAll(d, 0o700)
}

// table returns the rows as a Markdown table.
func (e *fixture) table() string {
	var b strings.Builder
	b.WriteString("| what | measured | beside it | ratio | to reach | reached |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, r := range e.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.got, cmp.Or(r.beside, "–"), cmp.Or(r.ratio, "–"), r.goal, r.holds)
	}
	return b.String()
}
