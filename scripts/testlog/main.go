package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	strict := flag.Bool("noskip", false, "fail if a test was skipped")
	flag.Parse()
	l := log{out: os.Stdout, said: map[string]*strings.Builder{}}
	if err := l.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
	l.end()
	if l.failed || *strict && len(l.skipped) > 0 {
		os.Exit(1)
	}
}

// An event is one line of go test -json: see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// A log keeps each test's output until the test's result is known.
type log struct {
	out     io.Writer
	said    map[string]*strings.Builder // by package and test
	skipped []string
	failed  bool
}

func (l *log) read(r io.Reader) error {
	dec := json.NewDecoder(r)
	for {
		var e event
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		l.take(e)
	}
}

func (l *log) take(e event) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		l.output(name, e)
	case "pass":
		l.forget(name)
	case "skip":
		if e.Test != "" {
			l.skipped = append(l.skipped, e.Package+" "+e.Test+": "+reason(l.takeOutput(name)))
		}
	case "fail", "build-fail":
		l.failed = true
		fmt.Fprint(l.out, l.takeOutput(name))
		if e.Test == "" {
			l.unfinished(e.Package)
		}
	}
}

// unfinished prints what the tests of a package said that have no result: they ran when
// it was killed, and one of them may have the stacks.
func (l *log) unfinished(of string) {
	for _, name := range slices.Sorted(maps.Keys(l.said)) {
		if test, ok := strings.CutPrefix(name, of+" "); ok && test != "" {
			fmt.Fprintf(l.out, "UNFINISHED %s\n%s", name, l.takeOutput(name))
		}
	}
}

// output keeps a line, or prints it if it is a package's last.
func (l *log) output(name string, e event) {
	if e.Action == "build-output" {
		fmt.Fprint(l.out, e.Output)
		return
	}
	if e.Test == "" && (strings.HasPrefix(e.Output, "ok  ") || strings.HasPrefix(e.Output, "FAIL\t") || strings.HasPrefix(e.Output, "?   ")) {
		fmt.Fprint(l.out, e.Output)
		return
	}
	if strings.HasPrefix(strings.TrimLeft(e.Output, " "), "=== ") || e.Output == "PASS\n" {
		return
	}
	b := l.said[name]
	if b == nil {
		b = &strings.Builder{}
		l.said[name] = b
	}
	b.WriteString(e.Output)
}

// takeOutput returns the output of a test and drops it.
func (l *log) takeOutput(name string) string {
	defer l.forget(name)
	if b := l.said[name]; b != nil {
		return b.String()
	}
	return ""
}

func (l *log) forget(name string) { delete(l.said, name) }

// reason returns the output of a skipped test, on one line.
func reason(said string) string {
	var words []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "--- SKIP") {
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// end lists the skipped tests.
func (l *log) end() {
	for _, s := range l.skipped {
		fmt.Fprintln(l.out, "SKIPPED", s)
	}
}
