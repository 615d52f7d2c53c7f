package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/remote"
	"github.com/skein-dev/skein/store/transfer"
)

// carryOptions are the options of push and pull.
type carryOptions struct {
	there   string // the other store
	dry     bool
	json    bool
	pulling bool
}

const aboutCarry = `Only new events are sent. A session has the same ID in both stores and can continue
in either. If it continued in both, nothing is lost: the events that arrive become
a fork, which skein tree shows. Children and forks are sent too. Files that
sessions were imported from, leases and the bin are not.

%s is a skein server, https://HOST:PORT, or a database, postgres://HOST/NAME. The
first one that you use is saved as the setting remote in config.toml. skein sends
a server the token in SKEIN_TOKEN, or in the file that token_file names.`

func newPush(f *frame) *cobra.Command {
	var o carryOptions
	c := &cobra.Command{
		Use:   "push [NAME…] [--to STORE] [flags]",
		Short: "send new events to a team's server",
		Long: `Send all sessions, or those with these NAMEs, to another store, so that they can
continue there and on other machines. ` + fmt.Sprintf(aboutCarry, "STORE"),
		Example: "skein push --to https://skein.example\n\tskein push last --dry-run",
		Args:    words(0, -1, ""),
		RunE:    f.withStore(o.run),
	}
	c.Flags().StringVar(&o.there, "to", "", "`STORE` to send to")
	o.flags(c)
	return c
}

func newPull(f *frame) *cobra.Command {
	o := carryOptions{pulling: true}
	c := &cobra.Command{
		Use:   "pull [NAME…] [--from STORE] [flags]",
		Short: "get new events from a team's server",
		Long: `Get all your sessions, or those with these NAMEs, from another store, so that they
can continue here. ` + fmt.Sprintf(aboutCarry, "STORE"),
		Example: "skein pull\n\tskein pull api --from https://skein.example",
		Args:    words(0, -1, ""),
		RunE:    f.withStore(o.run),
	}
	c.Flags().StringVar(&o.there, "from", "", "`STORE` to get sessions from")
	o.flags(c)
	return c
}

func (o *carryOptions) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&o.dry, "dry-run", "n", false, "show what would be sent, and send nothing")
	jsonFlag(c, &o.json)
}

// A carryLine is the outcome for a session, in JSON.
type carryLine struct {
	Session skein.SessionID `json:"session"`
	To      skein.SessionID `json:"to"`
	What    string          `json:"what"` // new, grown, forked, newer, gone, failed
	Events  int             `json:"events"`
	Error   string          `json:"error,omitempty"`
	Keyless bool            `json:"keyless,omitempty"` // another session has its key there
	Damaged []string        `json:"damaged,omitempty"` // what could not be read; the copy says so
}

func (o *carryOptions) run(ctx context.Context, j *job, args []string) (err error) {
	other, err := o.other(j)
	if err != nil {
		return err
	}
	if err := other.begin(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.whole.Close()) }()
	from, to := j, other
	if o.pulling {
		from, to = other, j
	}
	var ids []skein.SessionID
	for _, name := range args {
		s, err := from.session(ctx, name)
		if err != nil {
			return err
		}
		ids = append(ids, s.ID)
	}
	var n carried
	bar := &progressBar{j: j}
	err = transfer.Send(ctx, from.store, to.store, transfer.Sending{Sessions: ids, Dry: o.dry, Program: "skein", Progress: bar.carried}, func(out transfer.Outcome) error {
		if out.What == transfer.Same && !out.Blotted {
			return nil
		}
		bar.end()
		if hopeless(out.Err) {
			return out.Err
		}
		n.add(out)
		return o.tell(j, from, out)
	})
	bar.end()
	if errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrToken) {
		return err
	}
	if err != nil {
		return advise(err, "what was sent stays; go on with the same command")
	}
	j.say("%s", n.text(o, other.place))
	if err := o.remember(j); err != nil || n.failed+n.damaged == 0 {
		return err
	}
	return errSilent
}

// hopeless reports whether every other session would fail with err too: the server
// cannot be reached or does not allow it.
func hopeless(err error) bool {
	return errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrToken)
}

// other returns a job with the other store.
func (o *carryOptions) other(j *job) (*job, error) {
	text, flag := o.there, "--to"
	if o.pulling {
		flag = "--from"
	}
	given := text != ""
	if !given {
		text = j.settings.remote
	}
	if text == "" {
		return nil, advise(usagef("there is no store to send to or to get from yet"), "name it: %s https://HOST:PORT", flag)
	}
	cwd, err := j.Getwd()
	if err != nil {
		return nil, err
	}
	p, err := parsePlace(text, cwd, j.dirs.Home)
	if err != nil {
		return nil, err
	}
	if given && p.file() == "" && p.String() != p.Path {
		return nil, advise(usagef("%s %s: everybody on this machine can read a password on the command line", flag, p), "put it into PGPASSWORD or ~/.pgpass")
	}
	if p == j.place {
		return nil, usagef("%s %s: it is the store itself", flag, p)
	}
	there := *j
	there.place, there.store, there.whole = p, nil, nil
	return &there, nil
}

// tell shows the outcome for a session.
func (o *carryOptions) tell(j, from *job, out transfer.Outcome) error {
	if o.json {
		l := carryLine{Session: out.Session, To: out.To, What: out.What, Events: out.Events, Keyless: out.Keyless, Damaged: out.Damaged}
		if out.Err != nil {
			l.Error = out.Err.Error()
		}
		return writeJSON(j.Stdout, l)
	}
	id := shortID(out.Session)
	switch {
	case out.Err != nil:
		j.say("%s: %v", id, out.Err)
	case out.What == transfer.Forked:
		j.say("%s: it went on in both places; what comes from %s is the fork %s: %s", id, from.place, shortID(out.To), count(out.Events, "event"))
	case out.What == transfer.New && strings.HasPrefix(string(out.To), string(out.Session)+"~"):
		j.say("%s: new, %s; another session has its ID there, so there it is %s", id, count(out.Events, "event"), out.To)
	case out.What == transfer.New:
		j.say("%s: new, %s", id, count(out.Events, "event"))
	case out.What == transfer.Grown:
		j.say("%s: %s", id, count(out.Events, "event"))
	}
	if len(out.Damaged) > 0 {
		j.say("%s: damaged in %s: %s; the copy says so in their place\nsee what can be mended: skein doctor --store %s", id, from.place, strings.Join(out.Damaged, ", "), from.place)
	}
	if out.Keyless {
		j.say("%s: sent without its key, which another session has there", id)
	}
	if out.Blotted {
		j.say("%s: what was scrubbed in one place still stands in the other; scrub it there too", id)
	}
	return nil
}

// carried counts outcomes.
type carried struct {
	sessions, events, newer, gone, failed, damaged int

	hints []string // what to do about failures
}

func (n *carried) add(out transfer.Outcome) {
	n.events += out.Events
	if len(out.Damaged) > 0 {
		n.damaged++
	}
	switch {
	case out.Err != nil:
		n.failed++
		_, hint := outcome(out.Err, "skein push")
		if hint != "" && !errors.Is(out.Err, skein.ErrExists) && !slices.Contains(n.hints, hint) {
			n.hints = append(n.hints, hint)
		}
	case out.What == transfer.Newer:
		n.newer++
	case out.What == transfer.Gone:
		n.gone++
	case out.Events > 0:
		n.sessions++
	}
}

// text says in a few lines what was sent, and what to do next.
func (n *carried) text(o *carryOptions, there Place) string {
	way, back := "to", "skein pull"
	if o.pulling {
		way, back = "from", "skein push"
	}
	var lines []string
	switch {
	case n.events == 0 && n.failed == 0:
		lines = append(lines, fmt.Sprintf("nothing new %s %s", way, there))
	case o.dry:
		lines = append(lines, fmt.Sprintf("would send %s of %s %s %s", count(n.events, "event"), count(n.sessions, "session"), way, there))
	default:
		lines = append(lines, fmt.Sprintf("%s of %s %s %s", count(n.events, "event"), count(n.sessions, "session"), way, there))
	}
	if n.newer > 0 {
		lines = append(lines, fmt.Sprintf("%s went on the other way: %s", count(n.newer, "session"), back))
	}
	if n.gone > 0 {
		lines = append(lines, fmt.Sprintf("%s left out: deleted in the other place, or a fork of what was deleted there", count(n.gone, "session")))
	}
	if n.failed > 0 {
		lines = append(lines, fmt.Sprintf("skein: %s not sent", count(n.failed, "session")))
		lines = append(lines, n.hints...)
	}
	return strings.Join(lines, "\n")
}

// remember writes the store that was named into the person's config.toml, if that
// has none yet.
func (o *carryOptions) remember(j *job) error {
	if o.there == "" || j.settings.remote != "" || o.dry {
		return nil
	}
	file := filepath.Join(j.dirs.Config, "config.toml")
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a symbolic link stays one
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := "remote = " + tomlText(o.there) + "\n" + string(old)
	if _, err := tables(text); err != nil {
		return fmt.Errorf("%s: %w; add it there by hand: remote = %s", file, err, tomlText(o.there))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := replaceFile(file, []byte(text)); err != nil {
		return err
	}
	j.say("remembered as remote in %s: from now on skein push and skein pull are enough", j.tilde(file))
	return nil
}
