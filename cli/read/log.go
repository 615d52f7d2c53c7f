package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

type logOptions struct {
	follow, commits bool
	format          string
	json            bool
	secrets         sessions.Secrets
	list            CommitLister
}

// A CommitLister prints commits of the repository here with their sessions, as text or
// JSON Lines: those of the session or revision that args name, or the newest.
type CommitLister func(ctx context.Context, j *job.Job, args []string, format string, hide sessions.Mask) error

// NewLog returns the command log.
func NewLog(f *job.Frame, list CommitLister) *cobra.Command {
	o := logOptions{list: list}
	c := &cobra.Command{
		Use:   "log NAME [flags]",
		Short: "read the log of a session that skein ran",
		Long: `Read the log of a session that skein ran: who said what, when each agent and
tool started and ended, and with what result. The log is a JSON Lines file that
is derived from the session and repaired if it is damaged; log = "off" in the
settings turns logs off. --format jsonl prints the lines unchanged. Secrets are
hidden; --raw shows them. To read a session that another program ran, use skein
show. With --commits, the log is that of the repository here: its newest commits,
or those of NAME, with the sessions that wrote their lines, as skein commits
shows them.`,
		Example: `skein log -
	skein log --commits
	skein log - --follow
	skein log 4f1d22a0 --format jsonl | jq -r 'select(.kind == "final_result").finalResult.text'`,
		Args: func(c *cobra.Command, args []string) error {
			least := 1
			if o.commits {
				least = 0
			}
			return job.Words(least, 1, "the NAME of a session")(c, args)
		},
		RunE: f.WithStore(o.run),
	}
	c.Flags().BoolVar(&o.commits, "commits", false, "show commits of the repository here with their sessions; NAME is a session, a revision or a range")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new entries until Ctrl-C")
	c.Flags().StringVar(&o.format, "format", "text", "output `FORMAT`: text, or jsonl, the lines unchanged")
	c.Flags().BoolVar(&o.json, "json", false, "the same as --format jsonl")
	sessions.SecretsFlag(c, &o.secrets)
	job.Fixed(c, "format", "text", "jsonl")
	c.AddGroup(&cobra.Group{ID: "all", Title: "of all sessions"})
	stream := newLogStream(f)
	stream.GroupID = "all"
	c.AddCommand(stream)
	return c
}

func (o *logOptions) run(ctx context.Context, j *job.Job, args []string) error {
	switch o.format {
	case "jsonl":
		o.json = true
	case "text":
	default:
		return fault.Usage("--format %q: want text or jsonl", o.format)
	}
	if o.commits {
		if o.follow {
			return fault.Usage("--commits and --follow: want one of them")
		}
		format := "text"
		if o.json {
			format = "json"
		}
		return o.list(ctx, j, args, format, o.secrets.Mask())
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	path, err := sessions.LogOf(ctx, j, s)
	if err != nil {
		return err
	}
	if o.follow {
		return o.print(j, j.Stdout, sessionlog.Follow(ctx, path))
	}
	return j.Page(ctx, func(w io.Writer) (err error) {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if o.json && bool(o.secrets) {
			_, err := io.Copy(w, f)
			return err
		}
		return o.print(j, w, sessionlog.Read(f))
	})
}

// print prints entries as they arrive.
func (o *logOptions) print(j *job.Job, w io.Writer, entries iter.Seq2[sessionlog.Entry, error]) error {
	text, hide := logText{w: w, j: j, steps: true, events: true}, o.secrets.Mask()
	for e, err := range entries {
		if err == nil {
			hide.Log(&e)
		}
		switch {
		case err != nil:
			return err
		case o.json:
			_, err = w.Write(append(e.Raw, '\n'))
		default:
			err = text.entry(&e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type streamOptions struct {
	steps, json bool
	secrets     sessions.Secrets
	dir         string
}

func newLogStream(f *job.Frame) *cobra.Command {
	var o streamOptions
	c := &cobra.Command{
		Use:   "stream [flags]",
		Short: "read all logs, then follow them",
		Long: `Read the logs of all sessions, the one with the oldest change first, then follow
all of them, including those of new sessions, until Ctrl-C. A line announces
each switch to another session. If the folder does not exist yet, the command
waits for it. --logs-dir can also name a folder of Skillet's logs. With --json,
each line is an object with log, the USER/SESSION of the log, and either line,
the line unchanged, or damage, what is wrong with it. Secrets are hidden; --raw
shows them.`,
		Example: `skein log stream
	skein log stream --steps
	skein log stream --logs-dir ~/skillet/logs`,
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&o.steps, "steps", false, "include when agents and tools started and ended")
	c.Flags().StringVar(&o.dir, "logs-dir", "", "read the logs below this `FOLDER`")
	sessions.SecretsFlag(c, &o.secrets)
	job.JSONFlag(c, &o.json)
	return c
}

// A streamLine is a line of a log in JSON.
type streamLine struct {
	Log    string          `json:"log"`            // USER/SESSION
	Line   json.RawMessage `json:"line,omitempty"` // as it is in the log
	Damage string          `json:"damage,omitempty"`
}

func (o *streamOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	dir := o.dir
	if dir == "" {
		dir = sessions.LogDir(j)
	} else if !filepath.IsAbs(dir) {
		cwd, err := j.Getwd()
		if err != nil {
			return err
		}
		dir = filepath.Join(cwd, dir)
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		j.Say("waiting for the first log in %s", j.Tilde(dir))
	case err != nil:
		return err
	case !info.IsDir():
		return fault.Usage("--logs-dir %q: not a folder", o.dir)
	}
	return o.print(ctx, j, dir)
}

func (o *streamOptions) print(ctx context.Context, j *job.Job, dir string) error {
	text, hide := logText{w: j.Stdout, j: j, steps: o.steps}, o.secrets.Mask()
	last := ""
	for e, err := range sessionlog.Stream(ctx, dir) {
		if err == nil {
			hide.Log(&e.Entry)
		}
		switch {
		case err != nil:
			return err
		case o.json:
			if err := job.WriteJSON(j.Stdout, jsonOf(e)); err != nil {
				return err
			}
			continue
		case e.Kind == "" && e.Damage == "", e.Kind == sessionlog.Step && !o.steps:
			continue
		case e.Log != last && e.Damage == "":
			head := "── " + render.Line(e.Log) + " ──"
			if last != "" {
				head = "\n" + head
			}
			if _, err := fmt.Fprintln(j.Stdout, j.Paint.Bold(head)); err != nil {
				return err
			}
			last, text.said = e.Log, ""
		}
		text.name = e.Log + ": "
		if err := text.entry(&e.Entry); err != nil {
			return err
		}
	}
	return nil
}

func jsonOf(e sessionlog.Streamed) streamLine {
	l := streamLine{Log: e.Log, Damage: e.Damage}
	if e.Damage == "" {
		l.Line = e.Raw
	}
	return l
}

// A logText writes log entries for people, one line or paragraph each.
type logText struct {
	w      io.Writer
	j      *job.Job
	steps  bool   // also show what agents and tools began and ended
	events bool   // also show what is not part of a turn
	name   string // name of the log, for messages about damage; "" if there is only one log
	said   string // what the agent said last, in this turn
}

// entry writes e, if it is to be shown.
func (t *logText) entry(e *sessionlog.Entry) error {
	switch {
	case e.Damage != "":
		t.j.Say("%sline %d cannot be read: %s", t.name, e.Line, e.Damage)
		return nil
	case e.Kind == sessionlog.User:
		t.said = ""
		return t.write(e, t.j.Paint.Bold(t.j.Paint.Green("user>")), string(e.Text))
	case e.Kind == sessionlog.Final:
		return t.final(e)
	case e.Kind == sessionlog.Step && t.steps:
		return t.step(e)
	case e.Kind == "" && t.events && e.Event != "llm:request" && e.Event != "llm:response": // their results are in the log too
		return t.line(e, "  "+render.Line(e.Event))
	}
	return nil
}

// final writes the last words of a turn, unless they were just written.
func (t *logText) final(e *sessionlog.Entry) error {
	p := t.j.Paint
	if t.said != "" && t.said == string(e.Text) {
		return nil
	}
	who := p.Bold(p.Cyan("agent>"))
	if e.Model != "" {
		who += p.Dim(" (" + render.Line(e.Model) + ")")
	}
	text := string(e.Text)
	if text == "" {
		text = "(nothing)"
	}
	if e.Level == "WARNING" || e.Level == "ERROR" {
		text += " " + p.Red("(it broke off here)")
	}
	return t.write(e, who, text)
}

func (t *logText) step(e *sessionlog.Entry) error {
	p := t.j.Paint
	switch e.Step {
	case "agent_start":
		return t.line(e, "  "+render.Line(e.Agent)+" begins")
	case "agent_end":
		return t.line(e, "  "+render.Line(e.Agent)+" is done")
	case "handoff":
		return t.line(e, "  "+render.Line(e.Agent)+" hands over to "+render.Line(e.To))
	case "agent_tool_start":
		return t.line(e, "  "+p.Yellow("→ "+render.Line(e.Tool))+" "+Gist([]byte(e.Input)))
	case "agent_tool_end":
		mark := "←"
		if e.Level == "ERROR" {
			mark = p.Red("✗")
		}
		return t.line(e, "  "+mark+" "+render.Line(e.Tool)+" "+render.Line(firstLine(e.Text.UTF8())))
	case "text":
		t.said = string(e.Text)
		return t.write(e, p.Bold(p.Cyan("agent>")), t.said)
	}
	return t.line(e, "  "+render.Line(e.Step))
}

// firstLine returns the first line of text that is not blank, with … if others
// follow.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}

// at returns the time of e in brackets.
func (t *logText) at(e *sessionlog.Entry) string {
	at := "-------------------"
	if e.Time != 0 {
		at = e.Time.Std().In(t.j.Now().Location()).Format("2006-01-02 15:04:05")
	}
	return t.j.Paint.Dim("[" + at + "]")
}

// write writes a paragraph spoken by who.
func (t *logText) write(e *sessionlog.Entry, who, text string) error {
	text = strings.TrimRight(render.Clean(skein.Text(text).UTF8()), "\n")
	text = strings.ReplaceAll(text, "\n", "\n    ")
	_, err := fmt.Fprintf(t.w, "%s %s %s\n", t.at(e), who, text)
	return err
}

// line writes one line, cut to the width of the terminal.
func (t *logText) line(e *sessionlog.Entry, text string) error {
	if width := t.j.Terminal.Columns(); width > 0 {
		text = terminal.Cut(text, max(width-22, 20))
	}
	_, err := fmt.Fprintf(t.w, "%s %s\n", t.at(e), text)
	return err
}
