package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/claudecode"
	"github.com/skein-dev/skein/interop/codex"
	"github.com/skein-dev/skein/interop/skeinlog"
)

// formats is every format that sessions are imported from.
func formats() []interop.Format { return []interop.Format{skeinlog.Format(), claudecode.Format(), codex.Format()} }

type importOptions struct {
	watch, again, json bool
	format             string
}

func newImport(f *frame) *cobra.Command {
	var o importOptions
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	c := &cobra.Command{
		Use:   "import [PATH…] [flags]",
		Short: "take in the sessions of the agents on this machine",
		Long: `Take in other agents' sessions, from where they keep them or from the files and
folders named. What was taken in before is not taken in again, and what is new
in a file is added, so import as often as you like, also while an agent writes.
The files themselves are never changed. Damaged records are kept, counted and
named. Formats: ` + strings.Join(names, ", ") + `.`,
		Example: `skein import
	skein import ~/old-laptop/.claude
	skein import --watch`,
		Args: words(0, -1, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.BoolVar(&o.watch, "watch", false, "stay, and take in what the agents write as they write it")
	g.StringVar(&o.format, "format", "", "only files of this format (`name`)")
	g.BoolVar(&o.again, "again", false, "bring back sessions that were deleted here")
	jsonFlag(c, &o.json)
	return c
}

func (o *importOptions) run(ctx context.Context, j *job, args []string) error {
	fs, err := o.formats()
	if err != nil {
		return err
	}
	paths, err := o.paths(j, fs, args)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		j.say("no agent's sessions are in their usual places; name a file or folder: skein import PATH")
		return nil
	}
	opts := interop.Options{Again: o.again}
	bar := newImportBar(j)
	opts.Progress = bar.show
	rep, err := interop.Import(ctx, j.store, fs, paths, opts)
	bar.end()
	if rerr := o.report(j, rep); err == nil {
		err = rerr
	}
	if err != nil || !o.watch {
		return err
	}
	j.say("watching; Ctrl-C ends it")
	return interop.Watch(ctx, j.store, fs, paths, interop.Options{Again: o.again}, nil)
}

func (o *importOptions) formats() ([]interop.Format, error) {
	all := formats()
	if o.format == "" {
		return all, nil
	}
	var names []string
	for _, f := range all {
		if f.Name == o.format {
			return []interop.Format{f}, nil
		}
		names = append(names, f.Name)
	}
	return nil, usagef("--format %q: want one of %s", o.format, strings.Join(names, ", "))
}

// paths returns what to read: what was named, else the usual places that there
// are.
func (o *importOptions) paths(j *job, formats []interop.Format, args []string) (paths []string, err error) {
	cwd, err := j.Getwd()
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if !filepath.IsAbs(a) {
			a = filepath.Join(cwd, a)
		}
		if !exists(a) {
			return nil, missing("import: there is no file or folder %s", a)
		}
		paths = append(paths, a)
	}
	if len(args) > 0 {
		return paths, nil
	}
	for _, f := range formats {
		for _, p := range f.Places(interop.Home{Dir: j.dirs.Home, Env: j.Getenv}) {
			if o.watch || exists(p) {
				paths = append(paths, p)
			}
		}
	}
	return paths, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// An importReport is what an import did, in JSON.
type importReport struct {
	Files     int            `json:"files"`
	Unchanged int            `json:"unchanged"`
	Unmatched int            `json:"unmatched"`
	Sessions  int            `json:"sessions"`
	Messages  int            `json:"messages"`
	Events    int            `json:"events"`
	Amended   int            `json:"amended"`
	Copies    int            `json:"copied_records"`
	Damaged   int            `json:"damaged_records"`
	Damage    []importDamage `json:"damage,omitempty"`
	Skipped   int            `json:"skipped_files"`
	Skips     []importSkip   `json:"skips,omitempty"`
	Removed   int            `json:"deleted_here"`
	Waiting   int            `json:"locked"`
	Bytes     int64          `json:"bytes"`
	Seconds   float64        `json:"seconds"`
}

type importDamage struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	What string `json:"what"`
}

type importSkip struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

func (o *importOptions) report(j *job, r interop.Report) error {
	if o.json {
		out := importReport{
			Files: r.Files, Unchanged: r.Unchanged, Unmatched: r.Unmatched, Sessions: r.Sessions, Messages: r.Messages, Events: r.Events,
			Amended: r.Amended, Copies: r.Copies, Damaged: r.Damaged, Skipped: r.Skipped, Removed: r.Removed, Waiting: r.Waiting,
			Bytes: r.Bytes, Seconds: r.Elapsed.Seconds(),
		}
		for _, d := range r.Damage {
			out.Damage = append(out.Damage, importDamage(d))
		}
		for _, s := range r.Skips {
			out.Skips = append(out.Skips, importSkip(s))
		}
		return writeJSON(j.Stdout, out)
	}
	lines := []string{fmt.Sprintf("%s in %s: %s, %s, %s new", count(r.Files, "file"), r.Elapsed.Round(1e6),
		count(r.Sessions, "session"), count(r.Messages, "message"), count(r.Events, "event"))}
	if r.Bytes > 0 {
		lines[0] += fmt.Sprintf(" (%s, %.1f MB/s)", bytesText(r.Bytes), r.Rate()/1e6)
	}
	for _, x := range []struct {
		n    int
		text string
	}{
		{r.Unchanged, "unchanged since the last import"},
		{r.Unmatched, "of no format that is known"},
		{r.Removed, "not taken: their session was deleted here; --again brings it back"},
		{r.Waiting, "not taken: their session is locked by another program; import again later"},
	} {
		if x.n > 0 {
			lines = append(lines, fmt.Sprintf("  %s %s", count(x.n, "file"), x.text))
		}
	}
	if r.Amended > 0 {
		lines = append(lines, fmt.Sprintf("  %s whose record changed since it was read", count(r.Amended, "event")))
	}
	if r.Copies > 0 {
		lines = append(lines, fmt.Sprintf("  %s that repeat another file's: stored once", count(r.Copies, "record")))
	}
	if r.Damaged > 0 {
		lines = append(lines, fmt.Sprintf("  %s damaged, kept as they are:", count(r.Damaged, "record")))
		for _, d := range r.Damage[:min(len(r.Damage), maxNamed)] {
			lines = append(lines, fmt.Sprintf("    %s:%d: %s", j.tilde(d.Path), d.Line, d.What))
		}
	}
	if r.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("  %s not read:", count(r.Skipped, "file")))
		for _, s := range r.Skips[:min(len(r.Skips), maxNamed)] {
			lines = append(lines, fmt.Sprintf("    %s: %s", j.tilde(s.Path), s.Why))
		}
	}
	if len(r.Damage) > maxNamed || len(r.Skips) > maxNamed {
		lines = append(lines, "    …; --json names more")
	}
	j.say("%s", strings.Join(lines, "\n"))
	return nil
}

// maxNamed is how many damaged records and skipped files people are shown.
const maxNamed = 10

// An importBar shows on a terminal how far an import has come.
type importBar struct {
	bar *progressbar.ProgressBar
	j   *job
}

func newImportBar(j *job) *importBar { return &importBar{j: j} }

func (b *importBar) show(p interop.Progress) {
	if !b.j.Terminal.Err || p.Size == 0 {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(p.Size, progressbar.OptionSetWriter(b.j.Stderr), progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6),
			progressbar.OptionSetDescription("importing"))
	}
	if p.Size != b.bar.GetMax64() {
		b.bar.ChangeMax64(p.Size)
	}
	_ = b.bar.Set64(min(p.Bytes, p.Size)) //nolint:errcheck // a bar that cannot be drawn is no reason to stop
}

func (b *importBar) end() {
	if b.bar != nil {
		_ = b.bar.Clear() //nolint:errcheck // as above
	}
}
