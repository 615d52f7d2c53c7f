package write

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
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/remote"
	"github.com/skein-dev/skein/store/transfer"
)

// transferOptions are the options of push and pull.
type transferOptions struct {
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

// NewPush returns the command push.
func NewPush(f *job.Frame) *cobra.Command {
	var o transferOptions
	c := &cobra.Command{
		Use:   "push [NAME…] [--to STORE] [flags]",
		Short: "send new events to a team's server",
		Long: `Send all sessions, or those with these NAMEs, to another store, so that they can
continue there and on other machines. ` + fmt.Sprintf(aboutCarry, "STORE"),
		Example: "skein push --to https://skein.example\n\tskein push last --dry-run",
		Args:    job.Words(0, -1, ""),
		RunE:    f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.there, "to", "", "`STORE` to send to")
	o.flags(c)
	return c
}

// NewPull returns the command pull.
func NewPull(f *job.Frame) *cobra.Command {
	o := transferOptions{pulling: true}
	c := &cobra.Command{
		Use:   "pull [NAME…] [--from STORE] [flags]",
		Short: "get new events from a team's server",
		Long: `Get all your sessions, or those with these NAMEs, from another store, so that they
can continue here. ` + fmt.Sprintf(aboutCarry, "STORE"),
		Example: "skein pull\n\tskein pull api --from https://skein.example",
		Args:    job.Words(0, -1, ""),
		RunE:    f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.there, "from", "", "`STORE` to get sessions from")
	o.flags(c)
	return c
}

func (o *transferOptions) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&o.dry, "dry-run", "n", false, "show what would be sent, and send nothing")
	job.JSONFlag(c, &o.json)
}

// A transferLine is the outcome for a session, in JSON.
type transferLine struct {
	Session skein.SessionID `json:"session"`
	To      skein.SessionID `json:"to"`
	What    string          `json:"what"` // new, grown, forked, newer, gone, failed
	Events  int             `json:"events"`
	Error   string          `json:"error,omitempty"`
	Keyless bool            `json:"keyless,omitempty"` // another session has its key there
	Damaged []string        `json:"damaged,omitempty"` // what could not be read; the copy says so
}

func (o *transferOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	other, err := o.other(j)
	if err != nil {
		return err
	}
	if err := other.Begin(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Whole.Close()) }()
	from, to := j, other
	if o.pulling {
		from, to = other, j
	}
	var ids []skein.SessionID
	for _, name := range args {
		s, err := sessions.Named(ctx, from, name)
		if err != nil {
			return err
		}
		ids = append(ids, s.ID)
	}
	var n transferred
	var arrived []skein.SessionID
	bar := &exchange.Bar{Job: j}
	err = transfer.Send(ctx, from.Store, to.Store, transfer.Sending{Sessions: ids, Dry: o.dry, Program: "skein", Progress: bar.Transferred}, func(out transfer.Sent) error {
		if out.What == transfer.Same && !out.Blotted {
			return nil
		}
		bar.End()
		if hopeless(out.Err) {
			return out.Err
		}
		n.add(out)
		if out.What == transfer.New && out.Err == nil {
			arrived = append(arrived, out.To)
		}
		return o.tell(j, from, out)
	})
	bar.End()
	if errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrToken) {
		return err
	}
	if err != nil {
		return fault.Advise(err, "what was sent stays; continue with the same command")
	}
	j.Say("%s", n.text(o, other.Place))
	if o.pulling && !o.dry && !o.json {
		if err := tellClones(ctx, j, arrived); err != nil {
			return err
		}
	}
	if err := o.remember(j); err != nil || n.failed+n.damaged == 0 {
		return err
	}
	return fault.ErrSilent
}

// tellClones says where the sessions that have arrived can continue, if their folders
// are on another machine.
func tellClones(ctx context.Context, j *job.Job, arrived []skein.SessionID) error {
	all, err := lookup.ByID(ctx, j.Store, arrived)
	if err != nil {
		return err
	}
	told := map[string]bool{}
	for _, id := range arrived {
		s := sessions.Secrets(false).Mask().Session(all[id])
		if told[s.Checkout.Repository] || !sessions.Away(s) {
			continue
		}
		told[s.Checkout.Repository] = true
		switch clone, err := sessions.Clone(ctx, j, s); {
		case err != nil:
			return err
		case clone != "":
			j.Say("sessions of %s continue here in %s", render.Line(s.Checkout.Repository), j.Tilde(clone))
		case sessions.ToClone(s) != "":
			j.Say("to continue sessions of %s here, clone it: %s", render.Line(s.Checkout.Repository), sessions.ToClone(s))
		}
	}
	return nil
}

// hopeless reports whether every other session would fail with err too: the server
// cannot be reached or does not allow it.
func hopeless(err error) bool {
	return errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrToken)
}

// other returns a job with the other store.
func (o *transferOptions) other(j *job.Job) (*job.Job, error) {
	text, flag := o.there, "--to"
	if o.pulling {
		flag = "--from"
	}
	given := text != ""
	if !given {
		text = j.Settings.Remote
	}
	if text == "" {
		return nil, fault.Advise(fault.Usage("there is no store to send to or to get from yet"), "name it: %s https://HOST:PORT", flag)
	}
	cwd, err := j.Getwd()
	if err != nil {
		return nil, err
	}
	p, err := config.ParsePlace(text, cwd, j.Dirs.Home)
	if err != nil {
		return nil, err
	}
	if given {
		if err := p.Exposed(flag); err != nil {
			return nil, err
		}
	}
	if file := p.File(); o.pulling && file != "" {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return nil, fault.Advise(fault.Missing("%s: there is no store %s", flag, j.Tilde(file)), "name the file of a store, or a server: %s https://HOST:PORT", flag)
		}
	}
	if p == j.Place {
		return nil, fault.Usage("%s %s: it is the store itself", flag, p)
	}
	there := *j
	there.Place, there.Store, there.Whole = p, nil, nil
	return &there, nil
}

// tell shows the outcome for a session.
func (o *transferOptions) tell(j, from *job.Job, out transfer.Sent) error {
	if o.json {
		l := transferLine{Session: out.Session, To: out.To, What: out.What, Events: out.Events, Keyless: out.Keyless, Damaged: out.Damaged}
		if out.Err != nil {
			l.Error = out.Err.Error()
		}
		return job.WriteJSON(j.Stdout, l)
	}
	id := sessions.ShortID(out.Session)
	switch {
	case out.Err != nil:
		j.Say("%s: %v", id, out.Err)
	case out.What == transfer.Forked:
		j.Say("%s: continued in both places; the events from %s are now the fork %s: %s", id, from.Place, sessions.ShortID(out.To), terminal.Count(out.Events, "event"))
	case out.What == transfer.New && strings.HasPrefix(string(out.To), string(out.Session)+"~"):
		j.Say("%s: new, %s; another session has its ID there, so it is %s there", id, terminal.Count(out.Events, "event"), out.To)
	case out.What == transfer.New:
		j.Say("%s: new, %s", id, terminal.Count(out.Events, "event"))
	case out.What == transfer.Grown:
		j.Say("%s: %s", id, terminal.Count(out.Events, "event"))
	}
	if len(out.Damaged) > 0 {
		j.Say("%s: damaged in %s: %s; the copy has placeholders instead\nsee what can be repaired: skein doctor --store %s", id, from.Place, strings.Join(out.Damaged, ", "), from.Place)
	}
	if out.Keyless {
		j.Say("%s: sent without its key, which another session has there", id)
	}
	if out.Blotted {
		j.Say("%s: secrets that were scrubbed in one place are still in the other; scrub it there too", id)
	}
	return nil
}

// transferred counts outcomes.
type transferred struct {
	sessions, events, newer, gone, failed, damaged int

	hints []string // what to do about failures
}

func (n *transferred) add(out transfer.Sent) {
	n.events += out.Events
	if len(out.Damaged) > 0 {
		n.damaged++
	}
	switch {
	case out.Err != nil:
		n.failed++
		_, hint := fault.Outcome(out.Err, "skein push")
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
func (n *transferred) text(o *transferOptions, there config.Place) string {
	way, back := "to", "skein pull"
	if o.pulling {
		way, back = "from", "skein push"
	}
	var lines []string
	switch {
	case n.events == 0 && n.failed == 0:
		lines = append(lines, fmt.Sprintf("nothing new %s %s", way, there))
	case o.dry:
		lines = append(lines, fmt.Sprintf("would send %s of %s %s %s", terminal.Count(n.events, "event"), terminal.Count(n.sessions, "session"), way, there))
	default:
		lines = append(lines, fmt.Sprintf("%s of %s %s %s", terminal.Count(n.events, "event"), terminal.Count(n.sessions, "session"), way, there))
	}
	if n.newer > 0 {
		lines = append(lines, fmt.Sprintf("%s to send the other way: %s", terminal.Count(n.newer, "session"), back))
	}
	if n.gone > 0 {
		lines = append(lines, fmt.Sprintf("%s left out: deleted in the other place, or a fork of what was deleted there", terminal.Count(n.gone, "session")))
	}
	if n.failed > 0 {
		lines = append(lines, fmt.Sprintf("skein: %s not sent", terminal.Count(n.failed, "session")))
		lines = append(lines, n.hints...)
	}
	return strings.Join(lines, "\n")
}

// remember writes the store that was named into the person's config.toml, if that
// has none yet.
func (o *transferOptions) remember(j *job.Job) error {
	if o.there == "" || j.Settings.Remote != "" || o.dry {
		return nil
	}
	file := filepath.Join(j.Dirs.Config, "config.toml")
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a symbolic link stays one
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := "remote = " + config.TomlText(o.there) + "\n" + string(old)
	if _, err := config.Tables(text); err != nil {
		return fmt.Errorf("%s: %w; add it there by hand: remote = %s", file, err, config.TomlText(o.there))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := config.ReplaceFile(file, []byte(text)); err != nil {
		return err
	}
	j.Say("remembered as remote in %s: from now on skein push and skein pull are enough", j.Tilde(file))
	return nil
}
