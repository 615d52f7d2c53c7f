package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/adk"
	"github.com/skein-dev/skein/interop/formats/agentuse"
	"github.com/skein-dev/skein/interop/formats/agsh"
	"github.com/skein-dev/skein/interop/formats/aider"
	"github.com/skein-dev/skein/interop/formats/amp"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/formats/atif"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/cline"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/formats/copilot"
	"github.com/skein-dev/skein/interop/formats/copilotvscode"
	"github.com/skein-dev/skein/interop/formats/crush"
	"github.com/skein-dev/skein/interop/formats/cursor"
	"github.com/skein-dev/skein/interop/formats/ethos"
	"github.com/skein-dev/skein/interop/formats/gemini"
	"github.com/skein-dev/skein/interop/formats/goose"
	"github.com/skein-dev/skein/interop/formats/llmlogs"
	"github.com/skein-dev/skein/interop/formats/openaiagents"
	"github.com/skein-dev/skein/interop/formats/opencode"
	"github.com/skein-dev/skein/interop/formats/otelgenai"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/formats/qwen"
	"github.com/skein-dev/skein/interop/formats/skeinlog"
	"github.com/skein-dev/skein/interop/formats/skillet"
)

// formats returns every format that sessions are imported from. If several match a
// file, the first one reads it: a sub-agent of Qwen Code looks like one of Claude
// Code.
func formats() []interop.Format {
	all := []interop.Format{skeinlog.Format(), qwen.Format(), claudecode.Format(), codex.Format(), codex.Old(), agsh.Format(), amplifier.Format(), agentuse.Format(), ethos.Format(), skillet.Format(), llmlogs.Format(), amp.Format(), cursor.Format(), cline.Format(), aider.Format(), pi.Format(), gemini.Format(), gemini.Qwen(), goose.Format(), crush.Format(), copilot.Format(), opencode.Format(), copilotvscode.Format(), atif.Format(), otelgenai.Format()}
	return append(all, openaiagents.Format(), adk.Format()) // last, as these match any unknown database
}

func formatNames() (names []string) {
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return names
}

type importOptions struct {
	importTeller
	watch, again, list bool
	fromPrompts        bool
}

func newImport(f *frame) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import [PATH…] [flags]",
		Short: "import the sessions of the agents on this machine",
		Long: `Import other agents' sessions, from their usual places or from the files and
folders that you name. What is already imported is not imported again, and new
messages in a file are added, so you can import as often as you like, even while
an agent is writing. The agents' files are never changed. Damaged records are kept,
counted and named; files that are not sessions are counted and ignored. If a file
or session cannot be imported, it is named with the error, everything else is
imported, the exit code is 1, and the next import tries again. The exit code is
also 1 if a file that you named contains no session.

With --list, import nothing, and list what could be imported: the places of each
format, even those that do not exist, with the environment variable that changes
the place; the number of files and sessions there; and how many of them are
stored. For a file that was never read, --list cannot tell whether its session is
a copy of another.

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
		Args: words(0, -1, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.BoolVar(&o.watch, "watch", false, "keep running, and import what the agents write as they write it")
	g.BoolVar(&o.list, "list", false, "list what could be imported, and import nothing")
	g.StringVar(&o.format, "format", "", "import only files of this `format`: "+strings.Join(formatNames(), ", "))
	g.BoolVar(&o.fromPrompts, "prompts", false, "recover the prompts of sessions that Claude Code has deleted")
	g.BoolVar(&o.again, "again", false, "import sessions again that were destroyed here")
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	fixed(c, "format", formatNames()...)
	return c
}

func (o *importOptions) run(ctx context.Context, j *job, args []string) error {
	if o.fromPrompts {
		return o.prompts(ctx, j, args)
	}
	fs, err := o.formats()
	if err != nil {
		return err
	}
	if o.list {
		if o.watch || o.again {
			return usagef("--list takes in nothing; it does not go with --watch and --again")
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
	bar := &progressBar{j: j}
	opts := interop.Options{Again: o.again, Named: len(args) > 0, Progress: bar.imported}
	if o.watch {
		return o.stay(ctx, j, fs, paths, opts, bar)
	}
	rep, err := interop.Import(ctx, j.store, fs, paths, opts)
	bar.end()
	switch {
	case err != nil && rep.Events == 0:
		return err
	case err != nil:
		return errors.Join(o.broken(j, rep), err)
	}
	return cmp.Or(o.report(ctx, j, rep), failed(rep))
}

// stay imports, and keeps importing what is new until ctx ends.
func (o *importOptions) stay(ctx context.Context, j *job, fs []interop.Format, paths []string, opts interop.Options, bar *progressBar) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begun := false
	err := interop.Watch(within, j.store, fs, paths, opts, func(r interop.Report) {
		tell := o.change
		if !begun {
			bar.end()
			tell = o.report
		}
		if err := tell(ctx, j, r); err != nil {
			stop(err)
		}
		if !begun {
			j.say("watching; Ctrl-C ends it")
		}
		begun = true
	})
	bar.end()
	switch {
	case err != nil:
		return err
	case ctx.Err() == nil || !begun:
		return context.Cause(within)
	}
	return nil
}

// nothing returns the error that there is nothing to import.
func (o *importOptions) nothing(j *job, formats []interop.Format) error {
	if o.json {
		return writeImportReport(j, interop.Report{})
	}
	var looked []string
	for _, p := range places(j, formats) {
		looked = append(looked, "  "+j.tilde(p))
	}
	if len(looked) == 0 {
		j.say("%s files have no usual place; name a file or folder: skein import PATH", o.format)
		return nil
	}
	j.say("no agent keeps sessions here:\n%s\nname a file or folder: skein import PATH", strings.Join(looked, "\n"))
	return nil
}

func (o *importOptions) formats() ([]interop.Format, error) {
	all := formats()
	if o.format == "" {
		return all, nil
	}
	for _, f := range all {
		if f.Name == o.format {
			return []interop.Format{f}, nil
		}
	}
	return nil, usagef("--format %q: want one of %s", o.format, strings.Join(formatNames(), ", "))
}

// paths returns what to read: the paths in args, else the usual places that exist;
// for a watch also those that do not exist yet.
func (o *importOptions) paths(j *job, formats []interop.Format, args []string) (paths []string, err error) {
	var absent []string
	for _, a := range args {
		if a, err = j.absolute(a); err != nil {
			return nil, err
		}
		if _, err := os.Stat(a); errors.Is(err, fs.ErrNotExist) {
			absent = append(absent, a)
		}
		paths = append(paths, a)
	}
	if len(absent) > 0 && len(absent) == len(args) {
		return nil, advise(missing("there is no file or folder %s", strings.Join(absent, ", ")), "name one that an agent wrote, or none for the usual places")
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
func places(j *job, formats []interop.Format) (paths []string) {
	home := j.home()
	for _, f := range formats {
		paths = append(paths, f.Places(home)...)
	}
	return paths
}
