package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/render"
)

type runOptions struct {
	threadOptions
	json bool
}

func newRun(f *frame) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [PROMPT…] [flags]",
		Short: "send one prompt and print the answer",
		Long: `Send PROMPT to a model and print only its answer on stdout. The prompt can come
from stdin; a - among the words stands for stdin. @path attaches a file, and
@path:10-20 attaches lines of it.

Each run is a new session, unless --continue, --resume or --key names one. Tools
that change things ask first; if nobody can be asked, they do not run unless
--allow names them. On a terminal, continuing a session first shows its last
messages. These, and the output of --full-history, --replay and --show-thinking,
go to stderr. With --json, the session's events are printed as they are stored.`,
		Example: `skein run --model echo "hello"
	git diff | skein run "what is wrong with this?" -
	skein run --agent reviewer --allow shell "run the tests and look at @main.go"
	skein run -c "and now in German"`,
		Args: cobra.ArbitraryArgs,
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			return o.once(ctx, j, args, freshThread, "skein run")
		}),
	}
	o.pickFlags(c)
	o.flags(c)
	o.showFlags(c)
	jsonFlag(c, &o.json)
	return c
}

// once says the prompt from args and stdin, and prints the answer.
func (o *runOptions) once(ctx context.Context, j *job, args []string, start start, program string) error {
	prompt, err := j.prompt(ctx, args)
	if err != nil {
		return err
	}
	if prompt == "" && o.agent == "" {
		return advise(usagef("%s needs a PROMPT", program), "see: %s --help", program)
	}
	return o.with(ctx, j, start, program, func(t *thread) (agent.Outcome, error) {
		if prompt == "" && t.team.Definition.Task == "" {
			return agent.Outcome{}, advise(usagef("%s needs a PROMPT: the agent %s has no task of its own", program, t.team.Name), "see: %s --help", program)
		}
		return t.answer(ctx, prompt)
	})
}

// with opens the thread, lets turn run one turn in it, prints its outcome and
// closes the thread.
func (o *runOptions) with(ctx context.Context, j *job, start start, program string, turn func(*thread) (agent.Outcome, error)) (err error) {
	w := &runFace{job: j, json: o.json, thinking: o.thinking, titles: map[string]string{}}
	f := face{program: program, observe: w.observe}
	if j.Terminal.In && j.Terminal.Err {
		f.ask = j.ask
	}
	t, err := o.open(ctx, j, start, f)
	if err != nil {
		return err
	}
	w.thread = t
	if err := w.past(ctx); err != nil {
		return errors.Join(err, t.close(ctx, string(agent.Error)))
	}
	out, err := turn(t)
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	failed := w.print(out, err)
	if failed == nil {
		failed = t.titled(ctx, out, nil) // the answer is printed already
	}
	return errors.Join(failed, t.close(ctx, how))
}

// A runFace shows a turn on stderr, and the answer, or the events, on stdout.
type runFace struct {
	job      *job
	json     bool
	thinking bool // show the reasoning
	thread   *thread
	titles   map[string]string // titles of running calls, by ID
	thought  string            // reasoning not shown yet
	err      error             // the first error from writing events
}

// observe shows what happens.
func (w *runFace) observe(u agent.Update) {
	j := w.job
	switch u.Kind {
	case agent.Stored:
		if w.json && w.err == nil {
			w.err = w.events(u)
		}
	case agent.Reasoning:
		w.thought += u.Text
	case agent.Text, agent.Answered:
		w.ponder()
	case agent.Running:
		w.titles[u.Call.ID] = u.Text
	case agent.Ran:
		j.say("%s", toolLine(u, w.titles[u.Call.ID]))
	case agent.Waiting:
		j.say("%v; again in %s", u.Err, seconds(u.Wait))
	case agent.Compacting:
		j.say("summing up what is older")
	case agent.Compacted:
		if u.Err != nil {
			j.say("it was not summed up: %v", u.Err)
		}
	}
}

// A threadEvent is a stored event in JSON, with the ID of its session.
type threadEvent struct {
	Session  skein.SessionID `json:"session"`
	Seq      skein.Seq       `json:"seq"`
	Time     skein.Time      `json:"time"`
	Kind     skein.Kind      `json:"kind"`
	ClientID skein.ClientID  `json:"client_id,omitempty"`
	Payload  json.RawMessage `json:"payload"`
}

func (w *runFace) events(u agent.Update) error {
	id := u.Child
	if id == "" && w.thread != nil {
		id = w.thread.ID()
	}
	for _, e := range u.Events {
		if err := writeJSON(w.job.Stdout, threadEvent{id, e.Seq, e.Time, e.Kind, e.ClientID, e.Payload}); err != nil {
			return err
		}
	}
	return nil
}

// print prints the answer, and returns err or its own error.
func (w *runFace) print(out agent.Outcome, err error) error {
	j := w.job
	if w.err != nil {
		err = errors.Join(w.err, err)
	}
	if !w.json && out.Text != "" {
		text := out.Text
		if j.Terminal.Out {
			text = render.Clean(text)
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if _, werr := io.WriteString(j.Stdout, text); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	switch {
	case err != nil:
		return noModel(err)
	case out.Stop == agent.Interrupted:
		return context.Canceled
	case out.Stop == agent.MaxSteps:
		return advise(fmt.Errorf("the turn came to its end after %s, before the model was done", count(out.Steps, "request")), "go on with: skein continue \"go on\"")
	case out.Stop == agent.Timeout:
		return advise(errors.New("the turn took longer than its agent allows"), "go on with: skein continue \"go on\"")
	}
	return nil
}

// prompt returns the text of args, with - replaced by stdin. Without args, it
// returns the text of stdin, if that is not a terminal. Text that is all white
// space counts as no prompt.
func (j *job) prompt(ctx context.Context, args []string) (string, error) {
	text, err := j.given(ctx, args)
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	return text, err
}

// given is prompt, but keeps white space.
func (j *job) given(ctx context.Context, args []string) (string, error) {
	at := slices.Index(args, "-")
	if at < 0 && (len(args) > 0 || j.Terminal.In) {
		return strings.Join(args, " "), nil
	}
	b, err := readAll(ctx, j.Stdin)
	switch {
	case err != nil:
		return "", err
	case len(b) > skein.MaxPayload:
		return "", usagef("stdin: it has more than %d bytes", skein.MaxPayload)
	case !utf8.Valid(b):
		return "", usagef("stdin: it is not UTF-8 text")
	}
	text := strings.TrimRight(string(b), "\r\n")
	if at < 0 {
		return text, nil
	}
	before, after := strings.Join(args[:at], " "), strings.Join(args[at+1:], " ")
	return joined(joined(before, text), after), nil
}
