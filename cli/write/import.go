package write

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/render"
)

type importOptions struct {
	exchange.Reporter
	watch, again, list bool
	fromPrompts        bool
	toldOf             bool   // import what hooks have named
	hooks              string // the board of their news; "" for the usual one
}

// NewImport returns the command import.
func NewImport(f *job.Frame) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import [PATH…] [flags]",
		Short: "import the sessions of the agents on this machine",
		Long: `Import other agents' sessions, from their usual places or from the files and
folders that you name. What is already imported is not imported again, and new
messages in a file are added, so you can import as often as you like, even while
an agent is writing. The agents' files are never changed. Damaged records
are kept, counted and named; files that are not sessions are counted and
ignored. If a file or session cannot be imported, it is named with the error,
everything else is imported, the exit code is 1, and the next import tries
again. The exit code is also 1 if a file that you named contains no session.

With --list, import nothing, and list what could be imported: the places of each
format, even those that do not exist, with the environment variable that changes
the place; the number of files and sessions there; and how many of them are
stored. For a file that was never read, --list cannot tell whether its session is
a copy of another, or whether it also contains sessions of sub-agents.

With --watch, keep running after the import, and import what the agents write as
they write it, with a line on stderr for each change. Ctrl-C ends this with exit
code 0. Agents that you use for the first time meanwhile are noticed.

Claude Code deletes its transcripts after a month, but keeps the prompts. --prompts
recovers these from ~/.claude/history.jsonl for sessions whose transcript is gone:
each becomes a session of its prompts, with the tag recovered. If the transcript
is imported later, the recovered session goes to the bin.`,
		Example: `skein import
	skein import ~/old-laptop/.claude
	skein import session.jsonl --format skein
	skein import --list
	skein import --watch
	skein import --prompts`,
		Args: job.Words(0, -1, ""),
		RunE: f.WithStore(o.run),
	}
	g := c.Flags()
	g.BoolVar(&o.watch, "watch", false, "keep running, and import what the agents write as they write it")
	g.BoolVar(&o.list, "list", false, "list what could be imported, and import nothing")
	g.StringVar(&o.Format, "format", "", "import only files of this `format`: "+strings.Join(exchange.Names(), ", "))
	g.BoolVar(&o.fromPrompts, "prompts", false, "recover the prompts of sessions that Claude Code has deleted")
	g.BoolVar(&o.again, "again", false, "import sessions again that were destroyed here")
	g.BoolVar(&o.toldOf, "told", false, "import what the hooks of agents have named, unless a watch does")
	g.StringVar(&o.hooks, "hooks", "", "the `folder` of what the hooks of agents say")
	job.Hide(c, "told")
	job.Hide(c, "hooks")
	f.WideFlag(c)
	job.JSONFlag(c, &o.JSON)
	job.Fixed(c, "format", exchange.Names()...)
	return c
}

func (o *importOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if o.toldOf || o.watch {
		giveWay()
	}
	switch {
	case o.toldOf:
		return o.takeNews(ctx, j)
	case o.fromPrompts:
		return o.prompts(ctx, j, args)
	}
	fs, err := o.formats()
	if err != nil {
		return err
	}
	if o.list {
		if o.watch || o.again {
			return fault.Usage("--list imports nothing; it cannot be combined with --watch or --again")
		}
		return o.find(ctx, j, fs, args)
	}
	paths, err := o.paths(j, fs, args)
	if err != nil {
		return err
	}
	if len(paths) == 0 && (!o.watch || len(places(j, fs)) == 0) {
		return o.nothing(j, fs)
	}
	bar := &exchange.Bar{Job: j}
	opts := interop.Options{Checkout: j.LookUp, Again: o.again, Named: len(args) > 0, All: exchange.All(), Progress: bar.Imported}
	if o.watch {
		return o.stay(ctx, j, fs, paths, opts, bar)
	}
	rep, err := importer.Import(ctx, j.Store, fs, paths, opts)
	bar.End()
	switch {
	case err != nil && rep.Events == 0:
		return err
	case err != nil:
		return errors.Join(o.Broken(j, rep), err)
	}
	return cmp.Or(o.Report(ctx, j, rep), exchange.Failed(rep))
}

// nothing returns the error that there is nothing to import.
func (o *importOptions) nothing(j *job.Job, formats []interop.Format) error {
	if o.JSON {
		return exchange.WriteImportReport(j, interop.Report{})
	}
	var looked []string
	for _, p := range places(j, formats) {
		looked = append(looked, "  "+j.Tilde(p))
	}
	if len(looked) == 0 {
		j.Say("%s files have no usual place; name a file or folder: skein import PATH", o.Format)
		return nil
	}
	j.Say("no agent keeps sessions here:\n%s\nname a file or folder: skein import PATH", strings.Join(looked, "\n"))
	return nil
}

func (o *importOptions) formats() ([]interop.Format, error) {
	all := exchange.All()
	if o.Format == "" {
		return all, nil
	}
	for _, f := range all {
		if f.Name == o.Format {
			return []interop.Format{f}, nil
		}
	}
	return nil, fault.Usage("--format %q: want one of %s", o.Format, strings.Join(exchange.Names(), ", "))
}

// paths returns what to read: the paths in args, else the usual places that exist;
// for a watch also those that do not exist yet.
func (o *importOptions) paths(j *job.Job, formats []interop.Format, args []string) (paths []string, err error) {
	var absent []string
	for _, a := range args {
		if a, err = j.Absolute(a); err != nil {
			return nil, err
		}
		if _, err := os.Stat(a); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			absent = append(absent, a)
		}
		paths = append(paths, a)
	}
	if len(absent) > 0 && len(absent) == len(args) {
		return nil, fault.Advise(fault.Missing("there is no file or folder %s", strings.Join(absent, ", ")), "name one that an agent wrote, or leave PATH out for the usual places")
	}
	if len(args) > 0 {
		return paths, nil
	}
	for _, p := range places(j, formats) {
		if _, err := os.Stat(p); err == nil || o.watch && errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// places returns where the agents keep their sessions.
func places(j *job.Job, formats []interop.Format) (paths []string) {
	home := exchange.Home(j)
	for _, f := range formats {
		paths = append(paths, f.Places(home)...)
	}
	return paths
}

// A foundPlace is what skein import --list says about a format's place, in JSON.
type foundPlace struct {
	Format    string   `json:"format"`
	Place     string   `json:"place"`
	There     bool     `json:"there"`
	Variable  string   `json:"variable,omitempty"`  // the environment variable that names the place
	Variables []string `json:"variables,omitempty"` // all variables that can name it
	Files     int      `json:"files"`               // a folder or database of sessions counts as one
	Bytes     int64    `json:"bytes"`
	New       int      `json:"new_files"`     // never imported
	Grown     int      `json:"changed_files"` // changed since their import
	Sessions  int      `json:"sessions"`
	Stored    int      `json:"stored"` // sessions from here that skein has
}

// find lists what there is to import, and how much of it is already imported.
func (o *importOptions) find(ctx context.Context, j *job.Job, formats []interop.Format, args []string) error {
	paths, err := o.paths(j, formats, args)
	if err != nil {
		return err
	}
	found, rep, err := discover.Find(ctx, j.Store, formats, paths)
	if err != nil {
		return err
	}
	var all []foundPlace
	if len(args) == 0 {
		all = usual(j, formats)
	}
	for _, f := range found {
		all = put(all, f)
	}
	if o.JSON {
		for _, p := range all {
			if err := job.WriteJSON(j.Stdout, p); err != nil {
				return err
			}
		}
		return exchange.Failed(rep)
	}
	t := foundTable(j, all)
	if err := j.Page(ctx, func(w io.Writer) error { return j.Table(w, t) }); err != nil {
		return err
	}
	if lines := o.Remarks(j, interop.Report{Unmatched: rep.Unmatched, Ambiguous: interop.Ambiguous{Alike: rep.Alike, Others: rep.Others}, Removed: rep.Removed, Unimported: interop.Unimported{Skipped: rep.Skipped, Skips: rep.Skips}}); len(lines) > 0 {
		j.Say("%s", strings.Join(lines, "\n"))
	}
	if len(found) == 0 && rep.Removed == 0 && len(args) > 0 {
		j.Say("no session that skein recognizes was found there")
	}
	return exchange.Failed(rep)
}

// usual returns the places where formats keep sessions.
func usual(j *job.Job, formats []interop.Format) (all []foundPlace) {
	home := exchange.Home(j)
	for _, f := range formats {
		places, asked := interop.PlacesOf(f, home)
		for _, p := range places {
			_, err := os.Stat(p.Path)
			all = append(all, foundPlace{Format: f.Name, Place: p.Path, There: err == nil, Variable: p.Variable, Variables: asked})
		}
	}
	return all
}

// put adds what was found to the line of its place, or adds a new line if it is in
// another format's place.
func put(all []foundPlace, f discover.Discovery) []foundPlace {
	at := 0
	for at < len(all) && (all[at].Format != f.Format || all[at].Place != f.Path) {
		at++
	}
	if at == len(all) {
		all = append(all, foundPlace{Format: f.Format, Place: f.Path, There: true})
	}
	p := &all[at]
	p.Files, p.Bytes, p.New, p.Grown, p.Sessions, p.Stored = f.Files, f.Bytes, f.New, f.Grown, f.Sessions, f.Stored
	return all
}

// foundTable lists the places that exist before those that do not.
func foundTable(j *job.Job, all []foundPlace) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "FORMAT", Rank: 0, Paint: j.Paint.Cyan},
		{Title: "PLACE", Rank: 1, Min: 20, Left: true, Whole: true},
		{Title: "NAMED BY", Rank: 4, Paint: j.Paint.Dim},
		{Title: "FILES", Rank: 2, Right: true},
		{Title: "SIZE", Rank: 5, Right: true},
		{Title: "SESSIONS", Rank: 2, Right: true},
		{Title: "STORED", Rank: 2, Right: true},
		{Title: "NEW", Rank: 3, Right: true},
		{Title: "CHANGED", Rank: 6, Right: true},
	}}
	var missing [][]string
	for _, p := range all {
		row := []string{p.Format, render.Line(j.Tilde(p.Place)), p.Variable}
		if !p.There {
			missing = append(missing, append(row, "–", "", "", "", "", ""))
			continue
		}
		row = append(row, strconv.Itoa(p.Files), terminal.BytesText(p.Bytes), strconv.Itoa(p.Sessions), strconv.Itoa(p.Stored), strconv.Itoa(p.New), strconv.Itoa(p.Grown))
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, missing...)
	return t
}
