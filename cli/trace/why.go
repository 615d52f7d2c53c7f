package trace

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/provenance"
)

type whyOptions struct {
	revision string
	json     bool
	secrets  sessions.Secrets
}

// NewWhy returns the command why.
func NewWhy(f *job.Frame) *cobra.Command {
	var o whyOptions
	c := &cobra.Command{
		Use:   "why FILE:LINE [flags]",
		Short: "show why a line is there: the prompt, the reasoning, the edit",
		Long: `Show what led to a line of a file: which session wrote it, what it was asked for,
what the model said and thought before the edit, and the edit itself. It ends
with the commands that open the session there. skein blame shows the sessions of
all lines, and tells how certain that is.`,
		Example: `skein why main.go:42
	skein why main.go:42 --rev v1.2 --json`,
		Args: job.Words(1, 1, "FILE:LINE"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.revision, "rev", "", "the file as it is in this `revision`, such as HEAD~3 or a tag")
	job.JSONFlag(c, &o.json)
	sessions.SecretsFlag(c, &o.secrets)
	return c
}

// A because is why a line is there, in JSON.
type because struct {
	line
	Asked   string   `json:"asked,omitempty"` // all of the prompt
	Said    string   `json:"said,omitempty"`  // by the model, before the edit
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}

func (o *whyOptions) run(ctx context.Context, j *job.Job, args []string) error {
	q, err := question(args[0], o.revision)
	if err != nil {
		return err
	}
	if q.First == 0 || q.First != q.Last {
		return fault.Usage("%s: want FILE:LINE", args[0])
	}
	return blamed(ctx, j, q, o.secrets.Mask(), func(t *maskedTracer, r *provenance.Report, lines []line) error {
		b := because{line: lines[0]}
		if w := r.Answers[0].Write; w != nil && w.Seq > 0 {
			reason, err := provenance.Why(ctx, j.Store, w)
			if err != nil {
				return err
			}
			b.Asked, b.Said = t.hide.Text(reason.Prompt), t.hide.Text(reason.Said)
			b.Removed, b.Added = t.texts(w.Edit.Removed), t.texts(w.Edit.Added)
		}
		if o.json {
			return job.WriteJSON(j.Stdout, b)
		}
		return j.Page(ctx, func(out io.Writer) error { return b.write(out, j, q.File) })
	})
}

// texts hides the secrets in lines.
func (t *maskedTracer) texts(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(t.hide.Text(strings.Join(lines, "\n")), "\n")
}

// says describes a certainty to a person.
func says(c provenance.Certainty) string {
	switch c {
	case provenance.Exact:
		return "wrote this line"
	case provenance.Partial:
		return "wrote this line, but for spaces or punctuation"
	case provenance.Moved:
		return "wrote this line in another file"
	case provenance.Noted:
		return "wrote this line, as a note of Git AI says"
	case provenance.Made:
		return "made the commit; who wrote the line is not known"
	case provenance.Earlier:
		return "may have written this line: its author committed in between without it"
	}
	return "may have written this line: no other session changed the file then"
}

// write prints b for people.
func (b *because) write(out io.Writer, j *job.Job, file string) error {
	var w strings.Builder
	p := j.Paint
	fmt.Fprintf(&w, "%s:%d  %s\n", file, b.Line, render.Line(b.Text))
	switch {
	case b.Commit == "":
		w.WriteString("not committed\n")
	default:
		fmt.Fprintf(&w, "commit %.8s by %s, %s\n", b.Commit, render.Line(b.Author), terminal.Stamp(b.Time, j.Now()))
	}
	if b.Session == "" {
		w.WriteString("no session is known to have written it\n")
		_, err := io.WriteString(out, w.String())
		return err
	}
	fmt.Fprintf(&w, "\n%s %s\n", p.Cyan(sessions.ShortID(b.Session)), says(b.Certainty))
	about := []string{terminal.Cut(b.Name, 60), strings.TrimSpace(b.Agent + " " + b.Model)}
	if b.Turn > 0 {
		about = append(about, fmt.Sprintf("turn %d", b.Turn), terminal.Stamp(b.Written, j.Now()))
	}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	fmt.Fprintf(&w, "%s\n", p.Dim(render.Line(strings.Join(about, " · "))))
	if b.Earlier != "" {
		fmt.Fprintf(&w, "%s may have written the line earlier: skein show %[1]s\n", sessions.ShortID(b.Earlier))
	}
	paragraph(&w, p.Bold("Asked"), b.Asked)
	paragraph(&w, p.Bold("Said before the edit"), b.Said)
	if len(b.Added)+len(b.Removed) > 0 {
		fmt.Fprintf(&w, "\n%s\n", p.Bold("Edit of "+render.Line(b.Path)))
		edit(&w, j, b)
	}
	if b.Turn > 0 {
		fmt.Fprintf(&w, "\nopen it: skein show %s --turn %d\n", sessions.ShortID(b.Session), b.Turn)
	} else {
		fmt.Fprintf(&w, "\nopen it: skein show %s\n", sessions.ShortID(b.Session))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

const (
	paragraphLines = 30 // of a text that are shown
	editLines      = 12 // of those that an edit puts in, before and after the line
	removedLines   = 8  // of those that it takes out
)

func paragraph(w *strings.Builder, head, text string) {
	text = strings.TrimSpace(render.Clean(text))
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	rest := len(lines) - paragraphLines
	fmt.Fprintf(w, "\n%s\n", head)
	for _, l := range lines[:min(len(lines), paragraphLines)] {
		fmt.Fprintf(w, "  %s\n", l)
	}
	if rest > 0 {
		fmt.Fprintf(w, "  … %s more\n", terminal.Count(rest, "line"))
	}
}

// edit prints the lines that an edit takes out, and those that it puts in near b's line.
func edit(w *strings.Builder, j *job.Job, b *because) {
	at := max(0, slices.IndexFunc(b.Added, func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(b.Text) }))
	from, to := max(0, at-editLines), min(len(b.Added), at+editLines)
	gone := min(len(b.Removed), removedLines)
	for _, l := range b.Removed[:gone] {
		fmt.Fprintln(w, j.Paint.Red("- "+render.Clean(l)))
	}
	if rest := len(b.Removed) - gone; rest > 0 {
		fmt.Fprintf(w, "  … %s\n", terminal.Count(rest, "line"))
	}
	if from > 0 {
		fmt.Fprintf(w, "  … %s\n", terminal.Count(from, "line"))
	}
	for _, l := range b.Added[from:to] {
		fmt.Fprintln(w, j.Paint.Green("+ "+render.Clean(l)))
	}
	if rest := len(b.Added) - to; rest > 0 {
		fmt.Fprintf(w, "  … %s\n", terminal.Count(rest, "line"))
	}
}
