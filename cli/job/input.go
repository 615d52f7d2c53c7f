package job

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/render"
)

// Ask asks the person at the terminal a question, on a line of its own. Any answer
// that is not a clear yes counts as no.
//
// The error is that of reading stdin, or of ctx.
func (j *Job) Ask(ctx context.Context, q Question) (Decision, error) {
	choices := "[y/N]"
	if q.Always != "" {
		choices = "[y/N, a: always " + q.Always + "]"
	}
	fmt.Fprintf(j.Stderr, "%s %s ", render.Clean(q.Text), choices)
	line, err := j.Line(ctx)
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return Yes, err
	case "a", "always":
		if q.Always != "" {
			return Always, err
		}
	}
	return No, err
}

// Line reads one line of stdin; at the end of stdin it returns an empty one. It
// returns when ctx is canceled.
//
// The error is that of reading stdin, or of ctx.
func (j *Job) Line(ctx context.Context) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readLine(j.Stdin)
		done <- result{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads r byte by byte up to the end of a line, and nothing after it.
func readLine(r io.Reader) (string, error) {
	var text []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		if n == 1 && b[0] != '\n' {
			text = append(text, b[0])
		}
		switch {
		case n == 1 && b[0] == '\n', err == io.EOF:
			return string(text), nil
		case err != nil:
			return "", err
		}
	}
}

// A Question is something that the person decides.
type Question struct {
	Text   string      // one or several lines; whoever shows it cleans it
	Always string      // what "always" would mean, such as "in this project"; "" if there is no "always"
	Call   *skein.Call // the tool call that it is about; nil if it is about none
}

// A Decision is a person's answer to a question.
type Decision string

// The replies to a question.
const (
	Yes    Decision = "yes"    // this once
	Always Decision = "always" // from now on
	No     Decision = "no"
)

// ReadAll reads at most one byte more than a payload may have. It returns when ctx
// is canceled, which a plain read from a terminal would not.
//
// The error is that of reading r, or of ctx.
func ReadAll(ctx context.Context, r io.Reader) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var b strings.Builder
		if f, ok := r.(fs.File); ok { // a text that grows is copied again and again
			if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
				b.Grow(int(min(st.Size(), skein.MaxPayload+1)))
			}
		}
		_, err := io.Copy(&b, io.LimitReader(r, skein.MaxPayload+1))
		done <- result{b.String(), err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// A Consent is what a command that destroys something for good needs first: a yes
// at the terminal, or --yes. Before that, it names what will be destroyed. With
// --dry-run it only names it.
type Consent struct{ Yes, DryRun bool }

// Flags adds the flags to c.
func (o *Consent) Flags(c *cobra.Command) {
	c.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do it without asking")
	c.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "show what would be done, and do nothing")
}

// A Destruction is what will be destroyed.
type Destruction struct {
	Lines    []string // names of what is destroyed
	Question string   // "Destroy it for good?"
	Would    string   // "it would be destroyed"
}

// Given reports whether the person agrees to the destruction. It calls what only if
// what is destroyed has to be named.
//
// The error wraps fault.ErrUsage if there is nobody to ask.
func (o *Consent) Given(ctx context.Context, j *Job, what func() (Destruction, error)) (bool, error) {
	if o.Yes && !o.DryRun {
		return true, nil
	}
	l, err := what()
	if err != nil {
		return false, err
	}
	for _, line := range l.Lines {
		Tell(j.Env, line)
	}
	switch {
	case o.DryRun:
		j.Say("nothing was done: %s", l.Would)
		return false, nil
	case !j.Terminal.In:
		return false, fault.Advise(fault.Usage("nothing was done: %s; without a terminal to ask on, this needs --yes", l.Would), "--dry-run shows what it would do, --yes does it")
	}
	answer, err := j.Ask(ctx, Question{Text: l.Question})
	if err == nil && answer != Yes {
		j.Say("nothing was done")
	}
	return answer == Yes, err
}

// ReadPayload returns what another program writes to r; nil if it does not end in time, or is
// longer than most bytes.
func ReadPayload(r io.Reader, most int64, wait time.Duration) []byte {
	all := make(chan []byte, 1)
	go func() { // ends with the process
		b, err := io.ReadAll(io.LimitReader(r, most+1))
		if err != nil || int64(len(b)) > most {
			b = nil
		}
		all <- b
	}()
	select {
	case b := <-all:
		return b
	case <-time.After(wait):
		return nil
	}
}
