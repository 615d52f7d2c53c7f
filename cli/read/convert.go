package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/replay"
)

type convertOptions struct {
	out   string
	users []string // which user's sessions become whose, as given
	json  bool
	over  bool
}

// NewConvert returns the command convert.
func NewConvert(f *job.Frame) *cobra.Command {
	var o convertOptions
	c := &cobra.Command{
		Use:   "convert FROM TO [-o FOLDER] [flags]",
		Short: "convert the sessions of one agent to another's format, or copy a store",
		Long: `Import all sessions of one agent and write them to a folder as files of another
agent. What the second agent's format cannot hold is listed. FROM is the name of
a format, whose usual place is read, or a file or folder; TO is the name of a
format. Converting again updates the files; files that another program has
changed are not overwritten without --over.

If FROM and TO are stores, sqlite:PATH or postgres://HOST/DATABASE, copy one
store to the other: the sessions of all users with everything that belongs to
them, except leases. Both stores are compared at the end. To continue after an
interruption, run the same command again. The sessions of a store file belong to
the user local in the copy. --user copies one user's sessions only: --user ann
gives local's sessions to ann, --user ann=local gives ann's to local, and --user
ann=ann keeps them ann's. Other programs can use both stores meanwhile.`,
		Example: `skein convert agsh agentuse -o ~/agentuse
	skein convert ~/old/.claude codex -o ~/codex
	skein convert sqlite:~/.local/share/skein/skein.db postgres://db.example/skein
	skein convert sqlite:skein.db postgres://db.example/skein --user ann
	skein convert postgres://a.example/skein postgres://b.example/skein --user ann=ann`,
		Args: job.Words(2, 2, "FROM and TO"),
		RunE: convertRun(f, &o),
	}
	c.Flags().StringVarP(&o.out, "output", "o", "", "`folder` to write to")
	c.Flags().StringArrayVar(&o.users, "user", nil, "when copying stores: copy only the sessions of the user local, and give them to the user `NAME`; FROM=TO copies those of FROM and gives them to TO; can be repeated")
	exchange.OverFlag(c, &o.over)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

func (o *convertOptions) run(ctx context.Context, j *job.Job, args []string) error {
	to, err := exchange.Named("TO", args[1])
	if err != nil && isStore(args[1]) {
		return fault.Advise(fault.Usage("FROM %q is not a store, as TO is", args[0]), "to put an agent's sessions into a store: skein import --store %s", args[1])
	}
	if err != nil {
		return err
	}
	if o.users != nil {
		return fault.Usage("--user: only where a store is copied to a store")
	}
	if o.out == "" {
		return fault.Usage("convert needs the folder to write to: -o FOLDER")
	}
	home, err := j.Absolute(o.out)
	if err != nil {
		return err
	}
	from, paths, err := o.from(j, args[0])
	if err != nil {
		return err
	}
	bar := &exchange.Bar{Job: j}
	rep, err := importer.Import(ctx, j.Store, from, paths, interop.Options{Progress: bar.Imported})
	bar.End()
	if err != nil {
		return err
	}
	if !o.json {
		im := exchange.Reporter{}
		if err := im.Report(ctx, j, rep); err != nil {
			return err
		}
	}
	return cmp.Or(o.write(ctx, j, to, home, paths), exchange.Failed(rep))
}

// from returns what to read: a format's usual place, or a path.
func (o *convertOptions) from(j *job.Job, name string) (read []interop.Format, paths []string, err error) {
	if f, err := exchange.Named("FROM", name); err == nil {
		for _, p := range f.Places(exchange.Home(j)) {
			if _, err := os.Stat(p); err == nil {
				paths = append(paths, p)
			}
		}
		if len(paths) == 0 {
			return nil, nil, fault.Advise(fault.Missing("%s keeps no sessions here", name), "if they are elsewhere, name the file or folder in place of %s", name)
		}
		return []interop.Format{f}, paths, nil
	}
	path, err := j.Absolute(name)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fault.Advise(fault.Missing("%s is neither a format nor a file or folder", name), "formats are %s", strings.Join(exchange.OfAgents(), ", "))
	} else if err != nil {
		return nil, nil, err
	}
	return exchange.All(), []string{path}, nil
}

// write writes every session that came from paths. If one cannot be written, it
// continues with the others.
func (o *convertOptions) write(ctx context.Context, j *job.Job, to interop.Format, home string, paths []string) error {
	ids, all, silent, err := from(ctx, j, paths)
	if err != nil {
		return err
	}
	names := exchange.ShortNames(all)
	failed, written := 0, 0
	var empty []string
	err = writeback.ExportAll(ctx, j.Store, to, ids, home, writeback.Exports{Now: j.Now(), Over: o.over}, func(id skein.SessionID, done []writeback.Exported, err error) error {
		written += len(done)
		switch {
		case err == nil:
		case silent[id] && errors.Is(err, skein.ErrInvalid):
			empty = append(empty, "  "+names[id])
		default:
			defer j.Say("skein: %v", err) // below the lines about what was written
			failed++
		}
		return (&exchange.Reporter{JSON: o.json}).Written(j, to, home, done, names)
	})
	if err != nil {
		return err
	}
	if len(empty) > 0 {
		j.Say("left out %s in which nothing was said: %s cannot hold such sessions\n%s", terminal.Count(len(empty), "session"), to.Name, strings.Join(empty, "\n"))
	}
	if !o.json {
		j.Say("%s written as %s to %s", terminal.Count(written, "session"), to.Name, j.Tilde(home))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be written", failed, terminal.Count(len(ids), "session"))
	}
	return nil
}

// from returns the sessions that came from paths: ids are those to be written, the
// one changed last at the end; all includes the sessions that they started; silent
// are those in which nothing was said.
func from(ctx context.Context, j *job.Job, paths []string) (ids, all []skein.SessionID, silent map[skein.SessionID]bool, err error) {
	silent = map[skein.SessionID]bool{}
	parents := map[skein.SessionID]skein.SessionID{}
	held, err := held(ctx, j, paths)
	if err != nil {
		return nil, nil, nil, err
	}
	for s, err := range j.Store.Sessions(ctx, skein.Filter{}) {
		if err != nil {
			return nil, nil, nil, err
		}
		if !held[s.ID] && (s.Origin == nil || !under(s.Origin.Path, paths)) {
			continue
		}
		all = append(all, s.ID)
		silent[s.ID] = s.Messages == 0
		if s.Parent == nil || s.Parent.Why != skein.Child {
			ids = append(ids, s.ID)
		}
		if s.Parent != nil {
			parents[s.ID] = s.Parent.Session
		}
	}
	slices.Reverse(ids)
	return parentsFirst(ids, parents), all, silent, nil
}

// parentsFirst puts each fork after its parent, so that a reader of the files in
// the order they were written sees the parent first.
func parentsFirst(ids []skein.SessionID, parents map[skein.SessionID]skein.SessionID) (out []skein.SessionID) {
	const waits, placed = 1, 2
	state := map[skein.SessionID]int{}
	for _, id := range ids {
		state[id] = waits
	}
	for _, id := range ids {
		var line []skein.SessionID // id and its ancestors
		for ; state[id] == waits; id = parents[id] {
			state[id] = placed
			line = append(line, id)
		}
		slices.Reverse(line)
		out = append(out, line...)
	}
	return out
}

// held returns the sessions in files below paths, even if they were first read from
// elsewhere.
func held(ctx context.Context, j *job.Job, paths []string) (map[skein.SessionID]bool, error) {
	ids := map[skein.SessionID]bool{}
	for f, err := range skein.SourcesOf(j.Store).Files(ctx, "") {
		if err != nil {
			return nil, err
		}
		if !under(f.Path, paths) {
			continue
		}
		ids[cmp.Or(f.Session, f.CopyOf)] = true
		if f.Format != replay.Format {
			continue
		}
		if err := logSessions(f.Path, ids); err != nil { // a log may hold several
			return nil, err
		}
	}
	return ids, nil
}

// logSessions adds the sessions of the log at path to ids.
func logSessions(path string, ids map[skein.SessionID]bool) (err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the file was read before, and is gone
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var log io.Reader = f
	plain, packed, err := disk.Unpack(path, f)
	if err != nil {
		return err
	}
	if packed {
		defer func() { err = errors.Join(err, plain.Close()) }()
		log = plain
	}
	for it, err := range replay.Read(log) {
		if err != nil {
			return err
		}
		if it.Head != nil && it.Head.For == "" {
			ids[it.Head.Session] = true
		}
	}
	return nil
}

// under reports whether path is one of paths or below one.
func under(path string, paths []string) bool {
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || strings.HasPrefix(rest, "#") || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(p[len(p)-1])) {
			return true
		}
	}
	return false
}
