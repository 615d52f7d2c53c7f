package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

type handoffOptions struct {
	to        string
	run, json bool
	over      bool
	cwd       string
	next      *resumption // the command to run after the store is closed
}

func newHandoff(f *frame) *cobra.Command {
	var o handoffOptions
	c := &cobra.Command{
		Use:   "handoff NAME --to AGENT [flags]",
		Short: "continue a session in another agent",
		Long: `Write a session to the place where another agent keeps its own sessions, and
print the shell command with which that agent continues it in the session's
folder. The agent's model sees the same conversation; what the agent's format
cannot hold is listed. A second handoff updates the agent's files and keeps what
the agent has added. If both skein and the agent have added messages, nothing is
written without --over.

With --run, the agent replaces skein in this terminal, in that folder, and its exit
code becomes the command's. If the agent cannot be started, nothing is written.`,
		Example: `skein handoff last --to codex
	skein handoff 4f1d22a0 --to claude --run`,
		Args: words(1, 1, "the NAME of a session"),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.withStore(o.do)(c, args); err != nil || o.next == nil {
			return err
		}
		return o.next.run(f.env)
	}
	g := c.Flags()
	g.StringVar(&o.to, "to", "", "`agent`: "+strings.Join(handoffNames(), ", "))
	g.BoolVar(&o.run, "run", false, "start the agent in this terminal")
	g.StringVar(&o.cwd, "cwd", "", "`folder` for the agent to work in, instead of the session's")
	overFlag(c, &o.over)
	jsonFlag(c, &o.json)
	fixed(c, "to", handoffNames()...)
	return c
}

// handoffNames returns the formats whose program has a place for sessions. Document
// formats have none.
func handoffNames() (names []string) {
	anywhere := interop.Home{Dir: filepath.FromSlash("/home"), Cwd: filepath.FromSlash("/home"), Env: func(string) string { return "" }}
	for _, f := range formats() {
		if f.Write != nil && len(f.Places(anywhere)) > 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

// A handedOff is the result of a handoff, in JSON.
type handedOff struct {
	interop.Exported
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
}

func (o *handoffOptions) do(ctx context.Context, j *job, args []string) error {
	switch {
	case o.to == "":
		return usagef("handoff needs --to: %s", strings.Join(handoffNames(), ", "))
	case o.run && o.json:
		return usagef("--json and --run do not go together")
	}
	f, err := formatCalled("--to", o.to)
	if err != nil {
		return err
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	if o.cwd != "" {
		if err := o.moved(j, &s); err != nil {
			return err
		}
	}
	home := interop.HomeOf(f, j.home())
	if home == "" {
		return advise(usagef("--to %s: it has no usual place", o.to), "write it to a folder: skein export %s --to %s -o FOLDER", j.name(ctx, s), f.Name)
	}
	if o.run {
		if err := o.ready(ctx, j, f, s); err != nil {
			return err
		}
	}
	done, err := o.write(ctx, j, f, s, home)
	if err != nil {
		return err
	}
	var r resumption
	if f.Resume != nil {
		r.command, r.dir = f.Resume(done.Spot, s)
	}
	switch {
	case o.json:
		err = writeJSON(j.Stdout, handedOff{done, r.command, r.dir})
	case o.run:
		o.next = &r
		return nil
	default:
		err = r.tell(j, f)
	}
	if err == nil && len(done.Damaged) > 0 {
		err = errSilent
	}
	return err
}

// moved makes --cwd the session's folder.
func (o *handoffOptions) moved(j *job, s *skein.Session) error {
	path, err := j.folder(o.cwd)
	if err != nil {
		return err
	}
	o.cwd, s.Cwd, s.Project = path, path, path
	return nil
}

// write writes a session where f's program finds it. A session that was handed to
// that program before is brought up to date there.
func (o *handoffOptions) write(ctx context.Context, j *job, f interop.Format, s skein.Session, home string) (interop.Exported, error) {
	done, err := interop.Export(ctx, j.store, f, s.ID, home, interop.Exports{Now: j.Now(), Places: f.Places(j.home()), Cwd: o.cwd, Over: o.over})
	if !o.over && (errors.Is(err, skein.ErrExists) || errors.Is(err, interop.ErrChanged)) {
		if again, ok, err := o.again(ctx, j, f, s, home); ok || err != nil {
			return again, err
		}
	}
	if err != nil {
		return interop.Exported{}, adviseHandoff(err, f, j.name(ctx, s))
	}
	if o.json {
		return done[0], nil
	}
	return done[0], (&importTeller{}).exported(j, f, home, done)
}

// again reads what f's program has and writes what is new in the session to its
// file there. It reports whether the session is there.
func (o *handoffOptions) again(ctx context.Context, j *job, f interop.Format, s skein.Session, home string) (done interop.Exported, ok bool, err error) {
	var paths []string
	for _, p := range f.Places(j.home()) {
		if _, err := os.Stat(p); err == nil {
			paths = append(paths, p)
		}
	}
	rep, err := interop.Import(ctx, j.store, []interop.Format{f}, paths, interop.Options{})
	if err != nil {
		return done, false, err
	}
	im := importTeller{}
	if !o.json && (rep.Events > 0 || rep.Failed > 0) {
		if err := im.report(ctx, j, rep); err != nil {
			return done, false, err
		}
	}
	is, err := interop.SyncIn(ctx, j.store, f, s.ID, f.Places(j.home()))
	switch {
	case errors.Is(err, skein.ErrInvalid):
		return done, false, nil // the file there is another session
	case errors.Is(err, interop.ErrChanged):
		return done, false, advise(err, "see both lines: skein tree %s", j.name(ctx, s))
	case err != nil:
		return done, false, err
	}
	below, err := filepath.Rel(home, is.Path)
	if err != nil || !filepath.IsLocal(below) {
		return done, false, err
	}
	done = interop.Exported{Session: s.ID, Losses: is.Losses, Damaged: is.Damaged, Spot: interop.Spot{ID: is.ID, Path: filepath.ToSlash(below), Name: is.Name}}
	if !o.json {
		tellSynced(j, f, is)
	}
	return done, true, nil
}

// name returns a name for s to use in a command: a short one, if it means only s.
func (j *job) name(ctx context.Context, s skein.Session) string {
	short := shortID(s.ID)
	if found, err := j.session(ctx, short); err == nil && found.ID == s.ID {
		return short
	}
	return string(s.ID)
}

// ready returns an error if the agent cannot be run, before anything is written.
func (o *handoffOptions) ready(ctx context.Context, j *job, f interop.Format, s skein.Session) error {
	if f.Resume == nil {
		return advise(usagef("--run: %s has no command to go on with a session", f.Name), "without --run it is written where %s finds it", f.Name)
	}
	var r resumption
	r.command, r.dir = f.Resume(interop.Spot{}, s)
	if _, err := r.program(); err != nil {
		return advise(err, "install it; or write the session for it all the same: skein handoff %s --to %s", j.name(ctx, s), f.Name)
	}
	if err := r.folder(); err != nil {
		return advise(err, "make it again, let it work in another (--cwd FOLDER), or write the session all the same: skein handoff %s --to %s", j.name(ctx, s), f.Name)
	}
	return nil
}

// adviseHandoff adds to err what to do about a session that could not be written.
func adviseHandoff(err error, f interop.Format, name string) error {
	if f.Write == nil {
		return advise(fmt.Errorf("skein can read the sessions of %s, but not write one", f.Name), "it can hand a session to %s", strings.Join(handoffNames(), ", "))
	}
	if errors.Is(err, skein.ErrInvalid) { // a folder of its own would not help
		return err
	}
	if errors.Is(err, skein.ErrExists) || errors.Is(err, interop.ErrChanged) {
		return advise(err, "replace it: the same command with --over; or write it to a folder of its own: skein export %s --to %s -o FOLDER", name, f.Name)
	}
	return advise(err, "write it to a folder of its own: skein export %s --to %s -o FOLDER", name, f.Name)
}

// formatCalled returns the format of another program by the name that people use:
// claude and Claude Code are claude-code.
func formatCalled(flag, name string) (interop.Format, error) {
	if f, err := formatNamed(flag, name); err == nil {
		return f, nil
	}
	var found []string
	for _, known := range agentFormats() {
		a, b := bare(known), bare(name)
		if a == b {
			return formatNamed(flag, known)
		}
		if len(b) >= 3 && strings.HasPrefix(a, b) || len(a) >= 3 && strings.Contains(b, a) {
			found = append(found, known)
		}
	}
	if len(found) == 1 {
		return formatNamed(flag, found[0])
	}
	if len(found) > 1 {
		return interop.Format{}, usagef("%s %q: could be %s", flag, name, strings.Join(found, ", "))
	}
	return interop.Format{}, usagef("%s %q: want one of %s", flag, name, strings.Join(handoffNames(), ", "))
}

// bare returns a name in lower case, without separators between words.
func bare(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(strings.ToLower(name))
}
