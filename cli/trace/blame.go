package trace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/provenance"
)

type blameOptions struct {
	revision        string
	porcelain, json bool
	secrets         sessions.Secrets
}

// NewBlame returns the command blame.
func NewBlame(f *job.Frame) *cobra.Command {
	var o blameOptions
	c := &cobra.Command{
		Use:   "blame FILE[:LINE[-LINE]] [flags]",
		Short: "show which session wrote each line of a file",
		Long: `Show a file with the session that wrote each line: its agent, model and turn, and
what was asked for. Git tells which commit a line is from; the sessions of all
agents tell who put its text into the file before that. A line that a person
wrote, or a bot, shows its commit and author.

The mark before the line number tells how this is known:

    the session put exactly this text into this file
  ~ the same, but spaces or punctuation differ
  > the session put this text into another file, and it was moved or copied
  n a note of Git AI in the repository names the session
  c the session made the commit; who wrote the line is not known
  ? the session put this text into this file, but the author committed in
    between without it: only a hint

A session that only changed the same file is not shown, but by --json.`,
		Example: `skein blame main.go
	skein blame main.go:40-60
	skein blame main.go --rev v1.2 --json`,
		Args: job.Words(1, 1, "the FILE"),
		RunE: f.WithStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.revision, "rev", "", "the file as it is in this `revision`, such as HEAD~3 or a tag")
	g.BoolVar(&o.porcelain, "porcelain", false, "print git blame's porcelain format, with the session in lines of its own")
	job.JSONFlag(c, &o.json)
	f.WideFlag(c)
	sessions.SecretsFlag(c, &o.secrets)
	return c
}

// question parses FILE[:LINE[-LINE]]. The error wraps fault.ErrUsage.
func question(word, revision string) (provenance.Question, error) {
	q := provenance.Question{File: word, Revision: revision}
	at := strings.LastIndexByte(word, ':')
	if _, err := os.Lstat(word); err == nil || at < 0 {
		return q, nil
	}
	first, last, some := strings.Cut(word[at+1:], "-")
	if !some {
		last = first
	}
	var err, err2 error
	q.File = word[:at]
	q.First, err = strconv.Atoi(first)
	q.Last, err2 = strconv.Atoi(last)
	if err != nil || err2 != nil || q.First < 1 || q.Last < q.First {
		return q, fault.Usage("%s: want FILE, FILE:LINE or FILE:LINE-LINE", word)
	}
	return q, nil
}

func (o *blameOptions) run(ctx context.Context, j *job.Job, args []string) error {
	q, err := question(args[0], o.revision)
	if err != nil {
		return err
	}
	return blamed(ctx, j, q, o.secrets.Mask(), func(_ *maskedTracer, r *provenance.Report, lines []line) error {
		return j.Page(ctx, func(w io.Writer) error {
			switch {
			case o.json:
				for i := range lines {
					if err := job.WriteJSON(w, &lines[i]); err != nil {
						return err
					}
				}
				return nil
			case o.porcelain:
				return writePorcelain(w, r, lines)
			}
			return writeBlame(w, j, lines)
		})
	})
}

// A line is whose a line of a file is, in JSON.
type line struct {
	Line      int                  `json:"line"`
	Text      string               `json:"text"`
	Commit    string               `json:"commit,omitempty"` // "" if it is not committed
	Author    string               `json:"author"`
	Time      skein.Time           `json:"time"` // of the commit's author
	Path      string               `json:"path"` // of the file in the commit
	Certainty provenance.Certainty `json:"certainty,omitempty"`
	Near      bool                 `json:"near,omitempty"`    // the line is short, and goes with those beside it
	Session   skein.SessionID      `json:"session,omitempty"` // "" if no session is known
	Origin    string               `json:"origin,omitempty"`  // the session's ID in the program that it was imported from
	Name      string               `json:"name,omitempty"`
	Agent     string               `json:"agent,omitempty"`
	Model     string               `json:"model,omitempty"`
	Seq       skein.Seq            `json:"seq,omitempty"`  // of the call that wrote it
	Turn      int                  `json:"turn,omitempty"` // of that
	Call      string               `json:"call,omitempty"`
	Written   skein.Time           `json:"written_at,omitzero"`
	Prompt    string               `json:"prompt,omitempty"`  // the first words of the turn
	Earlier   skein.SessionID      `json:"earlier,omitempty"` // of certainty commit: the session that may have written it
}

// describe says whose lines are.
func (t *maskedTracer) describe(ctx context.Context, r *provenance.Report) ([]line, error) {
	all := make([]line, len(r.Lines))
	type turn struct {
		session skein.SessionID
		number  int
	}
	prompts := map[turn]string{}
	for i := range r.Lines {
		g, a := &r.Lines[i], &r.Answers[i]
		l := line{Line: g.Number, Text: g.Text, Commit: g.Commit.Hash, Author: g.Commit.Author, Time: g.Commit.Time, Path: g.Path}
		w := a.Write
		if w == nil {
			all[i] = l
			continue
		}
		s, err := t.session(ctx, w.Session)
		if err != nil {
			return nil, err
		}
		of := turn{w.Session, w.Turn}
		prompt, ok := prompts[of]
		if !ok && w.Seq > 0 {
			why, err := provenance.Why(ctx, t.job.Store, w)
			if err != nil {
				return nil, err
			}
			prompt = t.hide.Text(skein.FirstWords(why.Prompt))
			prompts[of] = prompt
		}
		l.Certainty, l.Near, l.Seq, l.Turn, l.Call, l.Written, l.Prompt = a.Certainty, a.Near, w.Seq, w.Turn, w.Call, w.Time, prompt
		l.Session, l.Name, l.Agent, l.Model = s.ID, s.Name(), sessions.AgentOf(&s), cmp.Or(w.Model, s.Model)
		if s.Origin != nil {
			l.Origin = s.Origin.ID
		}
		if a.Earlier != nil {
			l.Earlier = a.Earlier.Session
		}
		all[i] = l
	}
	return all, nil
}

func mark(c provenance.Certainty) string {
	switch c {
	case provenance.Partial:
		return "~"
	case provenance.Moved:
		return ">"
	case provenance.Made:
		return "c"
	case provenance.Noted:
		return "n"
	case provenance.Earlier:
		return "?"
	}
	return " "
}

// writeBlame prints lines for people.
func writeBlame(w io.Writer, j *job.Job, lines []line) error {
	digits := 0
	if len(lines) > 0 {
		digits = len(strconv.Itoa(lines[len(lines)-1].Line))
	}
	for i := range lines {
		l := &lines[i]
		who := j.Paint.Dim(fmt.Sprintf("%-8.8s  %-33s  %-30s", l.Commit, terminal.Cut(render.Line(l.Author), 33), terminal.Stamp(l.Time, j.Now())))
		if l.Session != "" && l.Certainty != provenance.File {
			about := terminal.Cut(render.Line(l.Agent), 11) + " " + terminal.Cut(render.Line(l.Model), 16)
			if l.Turn > 0 {
				about += " turn " + strconv.Itoa(l.Turn)
			}
			who = j.Paint.Cyan(fmt.Sprintf("%-8s", sessions.ShortID(l.Session))) + fmt.Sprintf("  %-33s  %-30s", about, terminal.Cut(render.Line(l.Prompt), 30))
		}
		if _, err := fmt.Fprintf(w, "%s %s%*d) %s\n", who, mark(l.Certainty), digits, l.Line, render.Clean(l.Text)); err != nil {
			return err
		}
	}
	return nil
}

// writePorcelain prints lines as git blame --line-porcelain does, as far as it is known
// here, and for each line with a session lines that begin with "skein-".
func writePorcelain(w io.Writer, r *provenance.Report, lines []line) error {
	for i := range lines {
		l := &lines[i]
		var b strings.Builder
		hash := l.Commit
		if hash == "" {
			hash = strings.Repeat("0", 40)
		}
		c := r.Lines[i].Commit
		fmt.Fprintf(&b, "%s %d %d\nauthor %s\nauthor-mail <%s>\nauthor-time %d\nsummary %s\nfilename %s\n", hash, r.Lines[i].Original, l.Line, c.Author, c.Mail, c.Time.Std().Unix(), c.Subject, l.Path)
		if l.Session != "" {
			fmt.Fprintf(&b, "skein-session %s\nskein-certainty %s\nskein-agent %s\nskein-model %s\n", l.Session, l.Certainty, render.Line(l.Agent), render.Line(l.Model))
			if l.Turn > 0 {
				fmt.Fprintf(&b, "skein-turn %d\nskein-seq %d\nskein-prompt %s\n", l.Turn, l.Seq, render.Line(l.Prompt))
			}
		}
		if _, err := fmt.Fprintf(w, "%s\t%s\n", b.String(), l.Text); err != nil {
			return err
		}
	}
	return nil
}
