package talk

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
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// toolLine returns one line that says that a tool ran; title is what the call is
// about.
func toolLine(u agent.Update, title string) string {
	mark, name := "→", u.Call.Name
	if u.Result != nil && u.Result.Failed {
		mark = "✗"
	}
	if u.Child != "" {
		mark = "  " + mark // in a delegate's session
	}
	if title != "" && title != name {
		name += ": " + title
	}
	return fmt.Sprintf("%s %s (%s)", mark, terminal.Cut(render.Line(name), 100), terminal.Seconds(u.Wait))
}

type runOptions struct {
	thread.Options
	json bool
}

// NewRun returns the command run.
func NewRun(f *job.Frame) *cobra.Command {
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
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			return o.once(ctx, j, args, thread.FreshThread, "skein run")
		}),
	}
	o.PickFlags(c)
	o.Flags(c)
	o.ShowFlags(c)
	job.JSONFlag(c, &o.json)
	return c
}

// once says the prompt from args and stdin, and prints the answer.
func (o *runOptions) once(ctx context.Context, j *job.Job, args []string, start thread.Start, program string) error {
	prompt, err := prompt(ctx, j, args)
	if err != nil {
		return err
	}
	if prompt == "" && o.Agent == "" {
		return fault.Advise(fault.Usage("%s needs a PROMPT", program), "see: %s --help", program)
	}
	return o.with(ctx, j, start, program, func(t *thread.Thread) (agent.Outcome, error) {
		if prompt == "" && t.Team.Definition.Task == "" {
			return agent.Outcome{}, fault.Advise(fault.Usage("%s needs a PROMPT: the agent %s has no task of its own", program, t.Team.Name), "see: %s --help", program)
		}
		return t.Answer(ctx, prompt, thread.Attached{})
	})
}

// with opens the thread, lets turn run one turn in it, prints its outcome and
// closes the thread.
func (o *runOptions) with(ctx context.Context, j *job.Job, start thread.Start, program string, turn func(*thread.Thread) (agent.Outcome, error)) (err error) {
	w := &runFace{job: j, json: o.json, thinking: o.Show.Thinking, titles: map[string]string{}}
	f := thread.Face{Program: program, Observe: w.observe}
	if j.Terminal.In && j.Terminal.Err {
		f.Ask = j.Ask
	}
	t, err := o.Open(ctx, j, start, f)
	if err != nil {
		return err
	}
	w.thread = t
	if err := w.past(ctx); err != nil {
		return errors.Join(err, t.End(ctx, string(agent.Error)))
	}
	out, err := turn(t)
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	failed := w.print(out, err)
	if failed == nil {
		failed = t.Titled(ctx, out, nil) // the answer is printed already
	}
	return errors.Join(failed, t.End(ctx, how))
}

// A runFace shows a turn on stderr, and the answer, or the events, on stdout.
type runFace struct {
	job      *job.Job
	json     bool
	thinking bool // show the reasoning
	thread   *thread.Thread
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
		j.Say("%s", toolLine(u, w.titles[u.Call.ID]))
	case agent.Waiting:
		j.Say("%v; trying again in %s", u.Err, terminal.Seconds(u.Wait))
	case agent.Compacting:
		j.Say("summarizing older turns")
	case agent.Compacted:
		if u.Err != nil {
			j.Say("older messages were not summarized: %v", u.Err)
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
		if err := job.WriteJSON(w.job.Stdout, threadEvent{id, e.Seq, e.Time, e.Kind, e.ClientID, e.Payload}); err != nil {
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
		return thread.NoModel(err)
	case out.Stop == agent.Interrupted:
		return context.Canceled
	case out.Stop == agent.MaxSteps:
		return fault.Advise(fmt.Errorf("the turn ended after %s, before the model was done", terminal.Count(out.Steps, "request")), "continue with: skein continue \"go on\"")
	case out.Stop == agent.Timeout:
		return fault.Advise(errors.New("the turn took longer than its agent allows"), "continue with: skein continue \"go on\"")
	}
	return nil
}

// prompt returns the text of args, with - replaced by stdin. Without args, it
// returns the text of stdin, if that is not a terminal. Text that is all white
// space counts as no prompt.
func prompt(ctx context.Context, j *job.Job, args []string) (string, error) {
	text, err := given(ctx, j, args)
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	return text, err
}

// given is prompt, but keeps white space.
func given(ctx context.Context, j *job.Job, args []string) (string, error) {
	at := slices.Index(args, "-")
	if at < 0 && (len(args) > 0 || j.Terminal.In) {
		return strings.Join(args, " "), nil
	}
	text, err := job.ReadAll(ctx, j.Stdin)
	switch {
	case err != nil:
		return "", err
	case len(text) > skein.MaxPayload:
		return "", fault.Usage("stdin: more than %d bytes", skein.MaxPayload)
	case !utf8.ValidString(text):
		return "", fault.Usage("stdin: not UTF-8 text")
	}
	text = strings.TrimRight(text, "\r\n")
	if at < 0 {
		return text, nil
	}
	before, after := strings.Join(args[:at], " "), strings.Join(args[at+1:], " ")
	return thread.Joined(thread.Joined(before, text), after), nil
}

// past shows earlier messages of the thread on stderr, as the flags ask; without
// such a flag, the last few on a terminal. Stdout is for the answer.
func (w *runFace) past(ctx context.Context) error {
	o := w.thread.Options
	few := !o.Show.Full && !o.Show.Replay
	if few && (o.Show.None || w.json || !w.job.Terminal.Err) {
		return nil
	}
	s := w.thread.At.Session // for a fork, its parent
	if w.thread.Begun() {
		var err error
		if s, err = w.thread.Session(ctx); err != nil {
			return err
		}
	}
	if s.ID == "" {
		return nil
	}
	j := w.onStderr()
	show := &read.ShowOptions{Thinking: o.Show.Thinking}
	if o.Show.Replay {
		return read.Replay(ctx, j, j.Stdout, s, &read.Replaying{Speed: o.Show.Speed}, show)
	}
	t := read.NewTranscript(j.Stdout, j, show)
	if few {
		return w.few(ctx, j, s, t)
	}
	for e, err := range (sessions.Reader{Ctx: ctx, Store: j.Store, Session: s}).Entries(0) {
		if err != nil {
			return err
		}
		if e.Rewound {
			continue
		}
		if err := t.Entry(&e); err != nil {
			return err
		}
	}
	return nil
}

// few writes the newest messages of s.
func (w *runFace) few(ctx context.Context, j *job.Job, s skein.Session, t *read.Transcript) error {
	shown, earlier, err := newestShown(ctx, j, s, resumed)
	if err != nil {
		return err
	}
	if earlier > 0 {
		j.Say("(%s; --full-history shows them)", terminal.Count(earlier, "earlier message"))
	}
	for i := range shown {
		if err := t.Entry(&shown[i]); err != nil {
			return err
		}
	}
	return nil
}

// onStderr returns the job with the store as the session's user sees it, and stderr
// in place of stdout.
func (w *runFace) onStderr() *job.Job {
	j, env := *w.job, *w.job.Env
	env.Stdout, env.Terminal.Out = env.Stderr, env.Terminal.Err
	j.Env, j.Store, j.Paint = &env, w.thread.Store, prose.Paint{On: w.job.Paint.On && env.Terminal.Err}
	return &j
}

// ponder shows the reasoning received so far on stderr, if that is wanted.
func (w *runFace) ponder() {
	text := strings.TrimSpace(w.thought)
	w.thought = ""
	if text != "" && w.thinking {
		w.job.Say("┊ %s", strings.ReplaceAll(text, "\n", "\n┊ "))
	}
}
