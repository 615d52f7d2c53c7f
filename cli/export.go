package cli

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
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/replay"
)

type exportOptions struct {
	name, to, file   string // name is what the user called the session
	thinking, noTool bool
	json             bool
	secrets          secretsShown
	rewound, over    bool
	gaps             *interop.GapError // what is missing from a source; nil if nothing is
}

func newExport(f *frame) *cobra.Command {
	var o exportOptions
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
messages that were taken back are left out unless you use --rewound. All other formats are
exact and include secrets; skein scrub removes secrets for good.`,
		Example: `skein export last --to md
	skein export 4f1d22a0 --to html -o session.html
	skein export 4f1d22a0 --to skein -o session.jsonl
	skein export 4f1d22a0 --to agentuse -o ~/agentuse`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.to, "to", "", "`format`: "+strings.Join(exportTo(), ", "))
	g.StringVarP(&o.file, "output", "o", "", "write to this new `file`; for an agent's format, to this folder")
	g.BoolVar(&o.thinking, "thinking", false, "md and html: include the models' reasoning")
	g.BoolVar(&o.noTool, "no-tools", false, "md and html: leave out tool calls and results")
	g.BoolVar(&o.json, "json", false, "agents' formats: list what was written as JSON, one object per line")
	g.BoolVar(&o.rewound, "rewound", false, "md, html and json: include messages that were taken back, marked")
	overFlag(c, &o.over)
	secretsFlag(c, &o.secrets)
	fixed(c, "to", exportTo()...)
	return c
}

var exportNames = []string{"md", "html", "json", "skein", "source"}

// exportTo returns the values that --to accepts. The flag also accepts a format that
// can only be read, for a session that came from there and was not continued here.
func exportTo() []string { return append(slices.Clone(exportNames), writtenFormats()...) }

func (o *exportOptions) run(ctx context.Context, j *job, args []string) error {
	if err := o.check(j); err != nil {
		return err
	}
	o.name = args[0]
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	if !slices.Contains(exportNames, o.to) {
		return o.place(ctx, j, s)
	}
	told := j.goAround()
	return told(o.missed(j, s, o.asText(ctx, j, s)))
}

// asText writes the session as one of exportNames.
func (o *exportOptions) asText(ctx context.Context, j *job, s skein.Session) error {
	if o.file == "" || o.file == "-" {
		return j.page(ctx, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			return cmp.Or(o.write(ctx, j, b, s), b.Flush()) // both may return the same error
		})
	}
	path, err := j.absolute(o.file)
	if err != nil {
		return err
	}
	if err := writeNew(path, func(w io.Writer) error { return o.write(ctx, j, w, s) }); err != nil {
		return err
	}
	j.say("wrote %s %q to %s", shortID(s.ID), called(s), j.tilde(path))
	return nil
}

func (o *exportOptions) check(j *job) error {
	switch {
	case o.to == "":
		return usagef("export needs --to: %s", strings.Join(exportTo(), ", "))
	case !slices.Contains(exportTo(), o.to) && !slices.Contains(agentFormats(), o.to):
		return usagef("--to %q: want one of %s", o.to, strings.Join(exportTo(), ", "))
	case o.json && slices.Contains(exportNames, o.to):
		return usagef("--json goes with the formats of agents; %s says nothing besides", o.to)
	case o.over && slices.Contains(exportNames, o.to):
		return usagef("--over goes with the formats of agents; %s is written to a new file", o.to)
	case o.to == "source" && o.file == "" && j.Terminal.Out: // a source is not cleaned of terminal escape sequences
		return advise(usagef("--to source: a terminal is no place for the bytes of a file"), "write them to a new file with -o FILE, or into a pipe")
	case bool(o.secrets) && !slices.Contains(exportNames[:3], o.to):
		return usagef("--raw goes with --to md, html and json; %s is exact", o.to)
	case o.rewound && !slices.Contains(exportNames[:3], o.to):
		return usagef("--rewound goes with --to md, html and json; %s has everything", o.to)
	case (o.thinking || o.noTool) && o.to != "md" && o.to != "html":
		return usagef("--thinking and --no-tools go with --to md and html; %s has everything", o.to)
	}
	return nil
}

func (o *exportOptions) write(ctx context.Context, j *job, w io.Writer, s skein.Session) error {
	hide := o.secrets.curtain()
	entries, shown := hide.entries(reader{ctx, j.store, s}.entries(0)), hide.session(s)
	if !o.rewound {
		entries = render.Live(entries)
	}
	switch o.to {
	case "json":
		told, err := render.ProgressOfCalls(&s, j.store.Events(ctx, s.ID, 0), s.Last)
		if err != nil {
			return err
		}
		return render.JSON(w, &shown, entries, told)
	case "skein":
		_, err := replay.Write(ctx, w, j.store, s.ID)
		return err
	case "source":
		return o.source(ctx, j, w, s)
	}
	costs, err := j.costs(ctx, []skein.Session{s})
	if err != nil {
		return err
	}
	told, err := render.ProgressOf(&s, j.store.Events(ctx, s.ID, 0), s.Last, hide.text)
	if err != nil {
		return err
	}
	if !o.rewound {
		told = told.Live()
	}
	ro := render.Options{
		Reasoning: o.thinking, Told: told, NoTools: o.noTool, Zone: j.Now().Location(), Cost: costs[s.ID].Costs(),
		Image: func(h skein.Hash) ([]byte, error) { return j.store.Blob(ctx, s.ID, h) },
	}
	if o.to == "html" {
		return render.HTML(w, &shown, entries, ro)
	}
	return render.Markdown(w, &shown, entries, ro)
}

// source writes the file that s was imported from, byte for byte. If the name given
// is that of a file that only copies s, it writes that file.
func (o *exportOptions) source(ctx context.Context, j *job, w io.Writer, s skein.Session) error {
	for f, err := range skein.SourcesOf(j.store).Files(ctx, "") {
		if err != nil {
			return err
		}
		if f.CopyOf == s.ID && partOf(f.ID, o.name) && !partOf(string(s.ID), o.name) {
			return o.readable(interop.WriteFile(ctx, j.store, f.Format, f.Path, w))
		}
	}
	err := usagef("--to source: session %s was not imported from a file", shortID(s.ID))
	if s.Origin != nil && s.Origin.Path != "" {
		err = o.readable(interop.WriteFile(ctx, j.store, s.Origin.Format, s.Origin.Path, w))
		if !gone(err) {
			return err
		}
		err = missing("--to source: the file that session %s came from was not read here", shortID(s.ID))
	}
	return advise(err, "all that there is of it: skein export %s --to skein", shortID(s.ID))
}

// readable accepts that parts of a source are missing, and keeps which: everything
// else was written.
func (o *exportOptions) readable(err error) error {
	if errors.As(err, &o.gaps) {
		return nil
	}
	return err
}

// missed says what is missing from a source, which makes the command fail.
func (o *exportOptions) missed(j *job, s skein.Session, err error) error {
	if err != nil || o.gaps == nil {
		return err
	}
	for _, g := range o.gaps.Gaps {
		j.say("left out of the source of session %s, as damaged: %v: %v", shortID(s.ID), g, g.Err)
	}
	j.say("see what can be mended: skein doctor")
	return errSilent
}

// partOf reports whether a person may call id by name, its beginning or end.
func partOf(id, name string) bool { return strings.HasPrefix(id, name) || strings.HasSuffix(id, name) }
