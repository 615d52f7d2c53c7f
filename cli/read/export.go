package read

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/replay"
)

// place writes s, and the sessions that it started, as another program's files.
func (o *ExportOptions) place(ctx context.Context, j *job.Job, s skein.Session) error {
	f, err := exchange.Named("--to", o.To)
	if err != nil {
		return err
	}
	if o.File == "" || o.File == "-" {
		return fault.Usage("--to %s: name the folder for its files with -o FOLDER", o.To)
	}
	home, err := j.Absolute(o.File)
	if err != nil {
		return err
	}
	done, err := writeback.Export(ctx, j.Store, f, s.ID, home, writeback.Exports{Now: j.Now(), Over: o.over})
	if err := (&exchange.Reporter{JSON: o.json}).Exported(j, f, home, done); err != nil {
		return err
	}
	if err == nil && slices.ContainsFunc(done, func(d writeback.Exported) bool { return len(d.Damaged) > 0 }) {
		err = fault.ErrSilent
	}
	return exchange.AdviseExport(err, f)
}

// ExportOptions are the flags of export.
type ExportOptions struct {
	name, To, File   string // name is what the user called the session
	thinking, noTool bool
	json             bool
	secrets          sessions.Secrets
	rewound, over    bool
	gaps             *writeback.GapError // what is missing from a source; nil if nothing is
}

// NewExport returns the command export.
func NewExport(f *job.Frame) *cobra.Command {
	var o ExportOptions
	c := &cobra.Command{
		Use:   "export NAME --to FORMAT [-o FILE] [flags]",
		Short: "write a session as a document, as data, or in an agent's format",
		Long: `Write a session to stdout or to a new file:

  md      Markdown, for people
  html    one self-contained page, for a browser
  json    the session and its messages, as one object
  skein   every event and blob; skein import makes an equal session of it
  source  the file that the session was imported from, byte for byte

With the name of an agent's format and a folder, write the session as files of
that agent: the files that it was imported from, byte for byte, or files with
which the agent can continue. What the agent's format cannot hold is listed, and
kept beside the files so that an import restores it. Some agents' formats can
only be read; for those, export works only for sessions that came from the agent
and did not continue in skein.

Exporting again updates the files. Files that another program has changed are
not overwritten without --over.

md, html and json are for reading: secrets are hidden unless you use --raw, and
messages that were taken back are left out unless you use --rewound. All other
formats are exact and include secrets; skein scrub removes secrets for good.`,
		Example: `skein export last --to md
	skein export 4f1d22a0 --to html -o session.html
	skein export 4f1d22a0 --to skein -o session.jsonl
	skein export 4f1d22a0 --to agentuse -o ~/agentuse`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.Run),
	}
	g := c.Flags()
	g.StringVar(&o.To, "to", "", "`format`: "+strings.Join(exportTo(), ", "))
	g.StringVarP(&o.File, "output", "o", "", "write to this new `file`; for an agent's format, to this folder")
	g.BoolVar(&o.thinking, "thinking", false, "md and html: include the models' reasoning")
	g.BoolVar(&o.noTool, "no-tools", false, "md and html: leave out tool calls and results")
	g.BoolVar(&o.json, "json", false, "agents' formats: list what was written as JSON, one object per line")
	g.BoolVar(&o.rewound, "rewound", false, "md, html and json: include messages that were taken back, marked")
	exchange.OverFlag(c, &o.over)
	sessions.SecretsFlag(c, &o.secrets)
	job.Fixed(c, "to", exportTo()...)
	return c
}

// ExportNames are the documents that export writes.
var ExportNames = []string{"md", "html", "json", "skein", "source"}

// exportTo returns the values that --to accepts. The flag also accepts a format that
// can only be read, for a session that came from there and was not continued here.
func exportTo() []string { return append(slices.Clone(ExportNames), exchange.Written()...) }

// Run writes the session that args name. The error wraps fault.ErrUsage,
// skein.ErrNotFound or skein.ErrExists, or is that of the store.
func (o *ExportOptions) Run(ctx context.Context, j *job.Job, args []string) error {
	if err := o.check(j); err != nil {
		return err
	}
	o.name = args[0]
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	if !slices.Contains(ExportNames, o.To) {
		return o.place(ctx, j, s)
	}
	told := sessions.AroundDamage(j)
	return told(o.missed(j, s, o.asText(ctx, j, s)))
}

// asText writes the session as one of exportNames.
func (o *ExportOptions) asText(ctx context.Context, j *job.Job, s skein.Session) error {
	if o.File == "" || o.File == "-" {
		return j.Page(ctx, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			return cmp.Or(o.write(ctx, j, b, s), b.Flush()) // both may return the same error
		})
	}
	path, err := j.Absolute(o.File)
	if err != nil {
		return err
	}
	if err := job.WriteNew(path, func(w io.Writer) error { return o.write(ctx, j, w, s) }); err != nil {
		return err
	}
	j.Say("wrote %s %q to %s", sessions.ShortID(s.ID), sessions.Called(s), j.Tilde(path))
	return nil
}

func (o *ExportOptions) check(j *job.Job) error {
	switch {
	case o.To == "":
		return fault.Usage("export needs --to: %s", strings.Join(exportTo(), ", "))
	case !slices.Contains(exportTo(), o.To) && !slices.Contains(exchange.OfAgents(), o.To):
		return fault.Usage("--to %q: want one of %s", o.To, strings.Join(exportTo(), ", "))
	case o.json && slices.Contains(ExportNames, o.To):
		return fault.Usage("--json works only with an agent's format, not with %s", o.To)
	case o.over && slices.Contains(ExportNames, o.To):
		return fault.Usage("--over works only with an agent's format; %s is written to a new file", o.To)
	case o.To == "source" && o.File == "" && j.Terminal.Out: // a source is not cleaned of terminal escape sequences
		return fault.Advise(fault.Usage("--to source: the bytes of a file are not written to a terminal"), "write them to a new file with -o FILE, or into a pipe")
	case bool(o.secrets) && !slices.Contains(ExportNames[:3], o.To):
		return fault.Usage("--raw works only with --to md, html and json; %s is exact", o.To)
	case o.rewound && !slices.Contains(ExportNames[:3], o.To):
		return fault.Usage("--rewound works only with --to md, html and json; %s has everything", o.To)
	case (o.thinking || o.noTool) && o.To != "md" && o.To != "html":
		return fault.Usage("--thinking and --no-tools work only with --to md and html; %s has everything", o.To)
	}
	return nil
}

func (o *ExportOptions) write(ctx context.Context, j *job.Job, w io.Writer, s skein.Session) error {
	hide := o.secrets.Mask()
	entries, shown := hide.Entries(sessions.Reader{Ctx: ctx, Store: j.Store, Session: s}.Entries(0)), hide.Session(s)
	if !o.rewound {
		entries = render.Live(entries)
	}
	switch o.To {
	case "json":
		told, err := render.ProgressOfCalls(&s, j.Store.Events(ctx, s.ID, 0), s.Last)
		if err != nil {
			return err
		}
		return render.JSON(w, &shown, entries, told)
	case "skein":
		_, err := replay.Write(ctx, w, j.Store, s.ID)
		return err
	case "source":
		return o.source(ctx, j, w, s)
	}
	costs, err := sessions.Costs(ctx, j, []skein.Session{s})
	if err != nil {
		return err
	}
	told, err := render.ProgressOf(&s, j.Store.Events(ctx, s.ID, 0), s.Last, hide.Text)
	if err != nil {
		return err
	}
	if !o.rewound {
		told = told.Live()
	}
	ro := render.Options{
		Reasoning: o.thinking, Told: told, NoTools: o.noTool, Zone: j.Now().Location(), Cost: costs[s.ID].Costs(),
		Image: func(h skein.Hash) ([]byte, error) { return j.Store.Blob(ctx, s.ID, h) },
	}
	if o.To == "html" {
		return render.HTML(w, &shown, entries, ro)
	}
	return render.Markdown(w, &shown, entries, ro)
}

// source writes the file that s was imported from, byte for byte. If the name given
// is that of a file that only copies s, it writes that file.
func (o *ExportOptions) source(ctx context.Context, j *job.Job, w io.Writer, s skein.Session) error {
	for f, err := range skein.SourcesOf(j.Store).Files(ctx, "") {
		if err != nil {
			return err
		}
		if f.CopyOf == s.ID && partOf(f.ID, o.name) && !partOf(string(s.ID), o.name) {
			return o.readable(writeback.WriteFile(ctx, j.Store, f.Format, f.Path, w))
		}
	}
	err := fault.Usage("--to source: session %s was not imported from a file", sessions.ShortID(s.ID))
	if s.Origin != nil && s.Origin.Path != "" {
		err = o.readable(writeback.WriteFile(ctx, j.Store, s.Origin.Format, s.Origin.Path, w))
		if !sessions.Gone(err) {
			return err
		}
		err = fault.Missing("--to source: the file that session %s came from is not in this store", sessions.ShortID(s.ID))
	}
	return fault.Advise(err, "export all of its events: skein export %s --to skein", sessions.ShortID(s.ID))
}

// readable accepts that parts of a source are missing, and keeps which: everything
// else was written.
func (o *ExportOptions) readable(err error) error {
	if errors.As(err, &o.gaps) {
		return nil
	}
	return err
}

// missed says what is missing from a source, which makes the command fail.
func (o *ExportOptions) missed(j *job.Job, s skein.Session, err error) error {
	if err != nil || o.gaps == nil {
		return err
	}
	for _, g := range o.gaps.Gaps {
		j.Say("damaged, left out of the source of session %s: %v: %v", sessions.ShortID(s.ID), g, g.Err)
	}
	j.Say("see what can be repaired: skein doctor")
	return fault.ErrSilent
}

// partOf reports whether a person may call id by name, its beginning or end.
func partOf(id, name string) bool { return strings.HasPrefix(id, name) || strings.HasSuffix(id, name) }
