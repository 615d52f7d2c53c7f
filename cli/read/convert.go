package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/internal/conninfo"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/transfer"
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
	rep, err := interop.Import(ctx, j.Store, from, paths, interop.Options{Progress: bar.Imported})
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
	err = interop.ExportAll(ctx, j.Store, to, ids, home, interop.Exports{Now: j.Now(), Over: o.over}, func(id skein.SessionID, done []interop.Exported, err error) error {
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
		j.Say("left out %s in which nothing was said: %s keeps no such sessions\n%s", terminal.Count(len(empty), "session"), to.Name, strings.Join(empty, "\n"))
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
	plain, packed, err := interop.Unpack(path, f)
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

// convertRun returns the cobra run function of convert: stores are copied directly,
// everything else is imported into skein's own store and exported from it.
func convertRun(f *job.Frame, o *convertOptions) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if isStore(args[0]) && isStore(args[1]) {
			return f.Plain(o.stores)(c, args)
		}
		return f.WithStore(o.run)(c, args)
	}
}

// isStore reports whether text names a store by its scheme, or by PostgreSQL's
// keywords.
func isStore(text string) bool {
	if conninfo.Is(text) {
		return true
	}
	for _, scheme := range []string{"sqlite:", "postgres:", "postgresql:"} {
		if len(text) > len(scheme) && text[:len(scheme)] == scheme {
			return true
		}
	}
	return false
}

// stores copies one store to another.
func (o *convertOptions) stores(ctx context.Context, j *job.Job, args []string) (err error) {
	if o.out != "" {
		return fault.Usage("-o: a store is copied to a store, not to a folder")
	}
	users, err := o.owners()
	if err != nil {
		return err
	}
	from, fromStore, err := openNamed(ctx, j, "FROM", args[0], true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fromStore.Close()) }()
	to, toStore, err := openNamed(ctx, j, "TO", args[1], false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, toStore.Close()) }()
	bar := &exchange.Bar{Job: j}
	r, err := transfer.Copy(ctx, fromStore, toStore, transfer.Options{Users: users, Progress: bar.Transferred})
	bar.End()
	if errors.Is(err, skein.ErrConflict) {
		return fault.Advise(err, "it went on in %s, and convert cannot merge the two: use skein push, or copy to a new store", to)
	}
	if errors.Is(err, skein.ErrExists) {
		return fault.Advise(err, "it was left as it is there; copy to a new store, or for one user (--user), or use skein push: both give other IDs and leave keys out where they are taken")
	}
	if errors.Is(err, skein.ErrNotFound) && o.users != nil {
		return fault.Advise(err, "--user copies only what belongs to the users it names; see whose the sessions are: skein list --all --json --store %s", from)
	}
	if errors.Is(err, skein.ErrDeleted) {
		return fault.Advise(err, "it stays deleted in %s; destroy it in %s, too, or copy to a new store", to, from)
	}
	if err != nil {
		return fault.Advise(err, "what was copied stays; go on with the same command")
	}
	if o.json {
		err = job.WriteJSON(j.Stdout, r)
	} else {
		err = o.tellStores(j, from, to, r)
	}
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(r.Renamed)) {
		j.Say("session %s is %s in %s, where its own ID is another session's", id, r.Renamed[id], to)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Keyless)) {
		j.Say("session %s was copied without its key %s, which another session has in %s", id, r.Keyless[id], to)
	}
	for _, what := range r.Damaged {
		j.Say("damaged in %s: %s", from, what)
	}
	if len(r.Damaged) > 0 {
		j.Say("each damaged event was replaced by a note that says so; damaged blobs and source files were not copied\nsee what can be mended: skein doctor --store %s", from)
	}
	if r.Same() {
		if len(r.Damaged) > 0 {
			return fault.ErrSilent
		}
		return nil
	}
	for _, e := range r.Examples {
		j.Say("differs: %s", e)
	}
	j.Say("skein: the stores are not the same; sessions and source files that differ: %d\nif somebody wrote to one of the stores meanwhile, run the command again", r.Differ)
	return fault.ErrSilent
}

// owners parses --user: which user's sessions become whose.
func (o *convertOptions) owners() (map[skein.User]skein.User, error) {
	users := map[skein.User]skein.User{}
	for _, text := range o.users {
		from, to, two := strings.Cut(text, "=")
		if !two {
			from, to = string(skein.Local), text
		}
		if from == "" || to == "" {
			return nil, fault.Usage("--user %q: want NAME or FROM=TO", text)
		}
		if _, twice := users[skein.User(from)]; twice {
			return nil, fault.Usage("--user %q: %s is there twice", text, from)
		}
		users[skein.User(from)] = skein.User(to)
	}
	return users, nil
}

// openNamed opens a store that is named on the command line. A store that is read
// must exist.
func openNamed(ctx context.Context, j *job.Job, what, text string, read bool) (config.Place, skein.Store, error) {
	cwd, err := j.Getwd()
	if err != nil {
		return config.Place{}, nil, err
	}
	p, err := config.ParsePlace(text, cwd, j.Dirs.Home)
	if err != nil {
		return p, nil, err
	}
	if p.File() == "" && p.String() != p.Path {
		return p, nil, fault.Advise(fault.Usage("%s %s: everybody on this machine can read a password on the command line", what, p), "put it into PGPASSWORD or ~/.pgpass")
	}
	if read && p.File() != "" {
		if _, err := os.Stat(p.Path); errors.Is(err, fs.ErrNotExist) {
			return p, nil, fault.Advise(fault.Missing("%s: there is no store %s", what, p.Path), "see which store is yours: skein config")
		}
	}
	s, err := j.OpenAt(ctx, p)
	return p, s, err
}

// tellStores shows what both stores contain.
func (o *convertOptions) tellStores(j *job.Job, from, to config.Place, r transfer.Report) error {
	t := &terminal.Table{Columns: []terminal.Column{{Title: ""}, {Title: "FROM", Right: true}, {Title: "TO", Right: true}}}
	row := func(what string, a, b any) { t.Rows = append(t.Rows, []string{what, fmt.Sprint(a), fmt.Sprint(b)}) }
	a, b := r.From, r.To
	row("sessions", a.Sessions, b.Sessions)
	row("in the bin", a.Binned, b.Binned)
	row("events", a.Events, b.Events)
	row("blobs", a.Blobs, b.Blobs)
	row("source files", a.Files, b.Files)
	row("source records", a.Records, b.Records)
	row("tombstones", a.Tombstones, b.Tombstones)
	row("tokens", a.Tokens, b.Tokens)
	row("sha256", short(a.Hash), short(b.Hash))
	if err := j.Table(j.Stdout, t); err != nil {
		return err
	}
	if r.Same() {
		all := "all"
		if len(r.Damaged) > 0 {
			all = "all that could be read"
		}
		j.Say("%s has %s of %s: %s stored now", j.Tilde(to.String()), all, j.Tilde(from.String()), terminal.Count(r.Stored, "event"))
		if o.users == nil && from.File() != "" && to.File() == "" {
			j.Say("there the sessions are the user local's; to make them somebody else's, copy them to an empty database with --user NAME")
		}
	}
	return nil
}

// short returns the beginning of a hash, for people.
func short(hash string) string { return hash[:min(len(hash), 8)] }
