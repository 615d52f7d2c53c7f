package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/internal/child"
	"github.com/skein-dev/skein/llm"
)

// Time limits of a command.
const (
	usualLimit = 2 * time.Minute
	maxLimit   = 10 * time.Minute
)

// Options say what commands get. The zero value is the usual.
type Options struct {
	Environ []string // environment that theirs is taken from; nil means the process's own
	Keep    []string // names of variables that commands get even though they may hold a secret
}

// New returns the tool. Every command needs approval.
func New(o Options) tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "shell",
			Doc: "Run a command in the session's folder and read its output (stdout and stderr together) and its exit status. Each command runs in a " +
				"new shell, so cd and variables do not persist. It has no terminal and no input: use options that do not ask. Long output is cut in " +
				"the middle and says how to read the rest.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "command": {"type": "string", "description": "the command line, for ` + name + `"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "description": "when to kill it; 120 if not given"}
  },
  "required": ["command"],
  "additionalProperties": false
}`),
		},
		Title: func(input json.RawMessage) string {
			in, err := read(input)
			if err != nil {
				return ""
			}
			return tool.Line(in.Command)
		},
		Ask: ask,
		Run: o.run,
	}
}

// An order is the input of the tool.
type order struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout_seconds"`
}

func read(input json.RawMessage) (o order, err error) {
	if err := tool.Read(input, &o); err != nil {
		return o, err
	}
	switch {
	case strings.TrimSpace(o.Command) == "":
		return o, fmt.Errorf("command %q: empty", o.Command)
	case strings.Contains(o.Command, "\x00"):
		return o, fmt.Errorf("command %q: a command cannot contain a NUL byte", o.Command)
	case o.Timeout < 0 || time.Duration(o.Timeout) > maxLimit/time.Second:
		return o, fmt.Errorf("timeout_seconds %d: want 1 to %d", o.Timeout, maxLimit/time.Second)
	}
	return o, nil
}

// limit returns how long the command may run.
func (o order) limit() time.Duration {
	if o.Timeout == 0 {
		return usualLimit
	}
	return time.Duration(o.Timeout) * time.Second
}

// maxAsked is how many bytes of a command an approval question shows.
const maxAsked = 8 << 10

func ask(c tool.Call) string {
	in, err := read(c.Input)
	if err != nil {
		return "" // Run reports the error
	}
	return fmt.Sprintf("Run this command in %s?\n\n%s", tool.Visible(c.Cwd, maxAsked), tool.Visible(in.Command, maxAsked))
}

func (o Options) run(ctx context.Context, c tool.Call) (tool.Output, error) {
	in, err := read(c.Input)
	if err != nil {
		return tool.Output{}, err
	}
	if s, err := os.Stat(c.Cwd); err != nil {
		return tool.Output{}, fmt.Errorf("folder: %w", err)
	} else if !s.IsDir() {
		return tool.Output{}, fmt.Errorf("%s is not a folder", c.Cwd)
	}
	limited, stop := context.WithTimeout(ctx, in.limit())
	defer stop()
	cmd := command(limited, in.Command)
	got := &collector{progress: c.Progress}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Cwd, o.environ(c.Cwd), got, got
	g, err := child.Start(cmd)
	if err != nil {
		return tool.Output{}, err
	}
	defer g.Release()
	err = cmd.Wait()
	return output(got, ending{err: err, state: cmd.ProcessState, limit: in.limit(), killed: limited.Err(), asked: ctx.Err()}), nil
}

// environ returns the environment of a command.
func (o Options) environ(cwd string) []string {
	from := o.Environ
	if from == nil {
		from = os.Environ()
	}
	// There is no terminal: programs that page or prompt would wait forever.
	return append(child.Environ(from, o.Keep...), "PWD="+cwd, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
}

// An ending is how a command ended.
type ending struct {
	err    error
	state  *os.ProcessState
	limit  time.Duration
	killed error // not nil if it was killed
	asked  error // not nil if the call's context ended
}

// output formats a command's output for the model.
func output(got *collector, e ending) (out tool.Output) {
	data, lost, last := got.end()
	out.Put("output", data)
	if lost > 0 {
		note(&out, fmt.Sprintf("%d more bytes of output were not kept", lost))
	}
	out.Text += strings.ToValidUTF8(string(last), "\ufffd")
	meta := struct {
		Exit  int   `json:"exit"`
		Size  int64 `json:"size"` // of the output, in bytes
		Limit bool  `json:"timeout,omitempty"`
	}{e.state.ExitCode(), int64(len(data)+len(last)) + lost, false}
	switch {
	case e.asked != nil:
		out.Failed = true
		note(&out, "interrupted: the command was killed before it ended")
	case e.killed != nil && !e.state.Success():
		out.Failed, meta.Limit = true, true
		note(&out, fmt.Sprintf("killed: the command had not ended after %v", e.limit))
	case errors.Is(e.err, exec.ErrWaitDelay):
		note(&out, "a program that it started is still running; its output from now on is not read")
	case e.err != nil && e.state.ExitCode() < 0:
		out.Failed = true
		note(&out, "ended by "+e.state.String())
	case e.err != nil:
		out.Failed = true
		note(&out, e.state.String())
	case len(data) == 0:
		note(&out, "no output")
	}
	out.Meta = skein.MustJSON(meta)
	return out
}

// note adds a line from skein.
func note(out *tool.Output, text string) {
	if out.Text != "" && !strings.HasSuffix(out.Text, "\n") {
		out.Text += "\n"
	}
	out.Text += "[" + text + "]\n"
}
