package read

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/transfer"
)

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
		return fault.Advise(err, "it continued in %s, and convert cannot merge the two: use skein push, or copy to a new store", to)
	}
	if errors.Is(err, skein.ErrExists) {
		return fault.Advise(err, "nothing was changed there; copy to a new store; or copy one user's sessions (--user), or use skein push: both give new IDs and leave out keys that are taken")
	}
	if errors.Is(err, skein.ErrNotFound) && o.users != nil {
		return fault.Advise(err, "--user copies only what belongs to the users it names; see whose the sessions are: skein list --all --json --store %s", from)
	}
	if errors.Is(err, skein.ErrDeleted) {
		return fault.Advise(err, "it stays deleted in %s; destroy it in %s, too, or copy to a new store", to, from)
	}
	if err != nil {
		return fault.Advise(err, "what was copied stays; continue with the same command")
	}
	if o.json {
		err = job.WriteJSON(j.Stdout, r)
	} else {
		err = o.tellStores(j, from, to, users, r)
	}
	if err != nil {
		return err
	}
	var renamed, keyless, damaged []string
	for _, id := range slices.Sorted(maps.Keys(r.Renamed)) {
		renamed = append(renamed, fmt.Sprintf("session %s has the ID %s in %s, where another session has its ID", id, r.Renamed[id], to))
	}
	for _, id := range slices.Sorted(maps.Keys(r.Keyless)) {
		keyless = append(keyless, fmt.Sprintf("session %s has no key in %s, where another session has the key %s", id, to, r.Keyless[id]))
	}
	for _, what := range r.Damaged {
		damaged = append(damaged, fmt.Sprintf("damaged in %s: %s", from, what))
	}
	for _, line := range slices.Concat(some(renamed, "sessions have another ID there"), some(keyless, "sessions have no key there"), some(damaged, "are damaged")) {
		j.Say("%s", line)
	}
	if len(r.Damaged) > 0 {
		j.Say("each damaged event was replaced by a note that says so; damaged blobs and source files were not copied\nsee what can be repaired: skein doctor --store %s", from)
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

// maxTold is how many of many similar lines are shown to people.
const maxTold = 5

// some returns the first of lines, and a line with the number of the others and what
// is true of them.
func some(lines []string, others string) []string {
	if n := len(lines) - maxTold; n > 1 {
		return append(lines[:maxTold:maxTold], fmt.Sprintf("… %s more %s; --json lists them", render.Count(int64(n)), others))
	}
	return lines
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
			return nil, fault.Usage("--user %q: %s is named twice", text, from)
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
	if err := p.Exposed(what); err != nil {
		return p, nil, err
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
func (o *convertOptions) tellStores(j *job.Job, from, to config.Place, users map[skein.User]skein.User, r transfer.Report) error {
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
		j.Say("%s has %s of %s: %s stored now", j.Tilde(to.String()), all, whose(users, j.Tilde(from.String())), terminal.Count(r.Stored, "event"))
		if o.users == nil && from.File() != "" && to.File() == "" {
			j.Say("there the sessions belong to the user local; to give them to another user, copy them to an empty database with --user NAME")
		}
	}
	return nil
}

// whose says what was copied from a store: everything, or the sessions of users.
func whose(users map[skein.User]skein.User, store string) string {
	var owners []string
	for _, u := range slices.Sorted(maps.Keys(users)) {
		owners = append(owners, fmt.Sprintf("%s's", u))
	}
	if len(owners) == 0 {
		return store
	}
	return strings.Join(owners, " and ") + " sessions in " + store
}

// short returns the beginning of a hash, for people.
func short(hash string) string { return hash[:min(len(hash), 8)] }
