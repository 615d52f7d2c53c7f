package write

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/render"
)

type handoffOptions struct {
	to        string
	run, json bool
	over      bool
	cwd       string
	next      *resumption // the command to run after the store is closed
}

// NewHandoff returns the command handoff.
func NewHandoff(f *job.Frame) *cobra.Command {
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

If the session's folder is not on this machine, the agent works in a clone of its
repository: the one that you are in, or one that another session names.

With --run, the agent replaces skein in this terminal, in that folder, and its exit
code becomes the command's. If the agent cannot be started, nothing is written.`,
		Example: `skein handoff last --to codex
	skein handoff 4f1d22a0 --to claude --run`,
		Args: job.Words(1, 1, "the NAME of a session"),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.WithStore(o.do)(c, args); err != nil || o.next == nil {
			return err
		}
		return o.next.run(f.Env)
	}
	g := c.Flags()
	g.StringVar(&o.to, "to", "", "`agent`: "+strings.Join(exchange.HandoffNames(), ", "))
	g.BoolVar(&o.run, "run", false, "start the agent in this terminal")
	g.StringVar(&o.cwd, "cwd", "", "`folder` for the agent to work in, instead of the session's")
	exchange.OverFlag(c, &o.over)
	job.JSONFlag(c, &o.json)
	job.Fixed(c, "to", exchange.HandoffNames()...)
	return c
}

// A handedOff is the result of a handoff, in JSON.
type handedOff struct {
	writeback.Exported
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`
}

func (o *handoffOptions) do(ctx context.Context, j *job.Job, args []string) error {
	switch {
	case o.to == "":
		return fault.Usage("handoff needs --to: %s", strings.Join(exchange.HandoffNames(), ", "))
	case o.run && o.json:
		return fault.Usage("--json and --run cannot be combined")
	}
	f, err := exchange.Called("--to", o.to)
	if err != nil {
		return err
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	if o.cwd == "" && sessions.Away(s) {
		if err := o.toClone(ctx, j, s); err != nil {
			return err
		}
	}
	if o.cwd != "" {
		if err := o.moved(j, &s); err != nil {
			return err
		}
	}
	home := interop.HomeOf(f, exchange.Home(j))
	if home == "" {
		return fault.Advise(fault.Usage("--to %s: it has no usual place", o.to), "write it to a folder: skein export %s --to %s -o FOLDER", sessions.ShortName(ctx, j, s), f.Name)
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
		err = job.WriteJSON(j.Stdout, handedOff{done, r.command, r.dir})
	case o.run:
		o.next = &r
		return nil
	default:
		err = r.tell(j, f, s)
	}
	if err == nil && len(done.Damaged) > 0 {
		err = fault.ErrSilent
	}
	return err
}

// toClone makes a clone of the session's repository on this machine the folder to
// work in, if there is one.
func (o *handoffOptions) toClone(ctx context.Context, j *job.Job, s skein.Session) (err error) {
	if o.cwd, err = sessions.Clone(ctx, j, s); err == nil && o.cwd != "" {
		j.Say("the session's folder %s is not on this machine; %s is in a clone of %s", j.Tilde(s.Cwd), j.Tilde(o.cwd), render.Line(s.Checkout.Repository))
	}
	return err
}

// moved makes --cwd the session's folder.
func (o *handoffOptions) moved(j *job.Job, s *skein.Session) error {
	path, err := j.Folder(o.cwd)
	if err != nil {
		return err
	}
	o.cwd, s.Cwd, s.Project = path, path, path
	return nil
}

// write writes a session where f's program finds it. A session that was handed to
// that program before is brought up to date there.
func (o *handoffOptions) write(ctx context.Context, j *job.Job, f interop.Format, s skein.Session, home string) (writeback.Exported, error) {
	done, err := writeback.Export(ctx, j.Store, f, s.ID, home, writeback.Exports{Now: j.Now(), Places: f.Places(exchange.Home(j)), Cwd: o.cwd, Over: o.over})
	if !o.over && (errors.Is(err, skein.ErrExists) || errors.Is(err, interop.ErrChanged)) {
		if again, ok, err := o.again(ctx, j, f, s, home); ok || err != nil {
			return again, err
		}
	}
	if err != nil {
		return writeback.Exported{}, adviseHandoff(err, f, sessions.ShortName(ctx, j, s))
	}
	if o.json {
		return done[0], nil
	}
	return done[0], (&exchange.Reporter{}).Exported(j, f, home, done)
}

// again reads what f's program has and writes what is new in the session to its
// file there. It reports whether the session is there.
func (o *handoffOptions) again(ctx context.Context, j *job.Job, f interop.Format, s skein.Session, home string) (done writeback.Exported, ok bool, err error) {
	var paths []string
	for _, p := range f.Places(exchange.Home(j)) {
		if _, err := os.Stat(p); err == nil {
			paths = append(paths, p)
		}
	}
	rep, err := importer.Import(ctx, j.Store, []interop.Format{f}, paths, interop.Options{Checkout: j.LookUp})
	if err != nil {
		return done, false, err
	}
	im := exchange.Reporter{}
	if !o.json && (rep.Events > 0 || rep.Failed > 0) {
		if err := im.Report(ctx, j, rep); err != nil {
			return done, false, err
		}
	}
	is, err := writeback.SyncIn(ctx, j.Store, f, s.ID, f.Places(exchange.Home(j)))
	switch {
	case errors.Is(err, skein.ErrInvalid):
		return done, false, nil // the file there is another session
	case errors.Is(err, interop.ErrChanged):
		return done, false, fault.Advise(err, "see both lines: skein tree %s", sessions.ShortName(ctx, j, s))
	case err != nil:
		return done, false, err
	}
	below, err := filepath.Rel(home, is.Path)
	if err != nil || !filepath.IsLocal(below) {
		return done, false, err
	}
	done = writeback.Exported{Session: s.ID, Losses: is.Losses, Damaged: is.Damaged, Spot: interop.Spot{ID: is.ID, Path: filepath.ToSlash(below), Name: is.Name}}
	if !o.json {
		exchange.TellSynced(j, f, is)
	}
	return done, true, nil
}

// ready returns an error if the agent cannot be run, before anything is written.
func (o *handoffOptions) ready(ctx context.Context, j *job.Job, f interop.Format, s skein.Session) error {
	if f.Resume == nil {
		return fault.Advise(fault.Usage("--run: %s has no command that continues a session", f.Name), "without --run it is written where %s finds it", f.Name)
	}
	var r resumption
	r.command, r.dir = f.Resume(interop.Spot{}, s)
	if _, err := r.program(); err != nil {
		return fault.Advise(err, "install it; or write the session for it all the same: skein handoff %s --to %s", sessions.ShortName(ctx, j, s), f.Name)
	}
	if err := r.folder(); err != nil {
		clone := sessions.ToClone(s)
		if clone != "" {
			clone = "clone its repository (" + clone + ") and run this command in the clone, "
		}
		return fault.Advise(err, "%smake the folder again, name another one (--cwd FOLDER), or write the session without running the agent: skein handoff %s --to %s", clone, sessions.ShortName(ctx, j, s), f.Name)
	}
	return nil
}

// adviseHandoff adds to err what to do about a session that could not be written.
func adviseHandoff(err error, f interop.Format, name string) error {
	if f.Write == nil {
		return fault.Advise(fmt.Errorf("skein can read the sessions of %s, but not write one", f.Name), "it can hand a session to %s", strings.Join(exchange.HandoffNames(), ", "))
	}
	if errors.Is(err, skein.ErrInvalid) { // a folder of its own would not help
		return err
	}
	if errors.Is(err, skein.ErrExists) || errors.Is(err, interop.ErrChanged) {
		return fault.Advise(err, "to replace it, add --over; or write to another folder: skein export %s --to %s -o FOLDER", name, f.Name)
	}
	return fault.Advise(err, "write it to a folder of its own: skein export %s --to %s -o FOLDER", name, f.Name)
}

// A resumption is the command by which an agent resumes a session.
type resumption struct {
	command []string
	dir     string // to run it in; "" for the current one
}

// program returns the path of the agent's program.
func (r resumption) program() (string, error) {
	at, err := exec.LookPath(r.command[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", &fault.StatedError{Text: fmt.Sprintf("there is no program %s on the PATH", r.command[0]), Kind: skein.ErrNotFound}
	case err != nil:
		return "", fmt.Errorf("program %s: %w", r.command[0], err)
	}
	return at, nil
}

// folder returns an error if the agent cannot run in its folder.
func (r resumption) folder() error {
	if r.dir == "" {
		return nil
	}
	info, err := os.Stat(r.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Missing("the session's folder %s is not there any more", r.dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s, the session's folder, is no longer a folder", r.dir)
	}
	return nil
}

// run replaces this program with the agent. It returns only if that fails.
func (r resumption) run(env *config.Env) error {
	at, err := r.program()
	if err != nil {
		return err
	}
	if err := r.folder(); err != nil {
		return err
	}
	vars := os.Environ()
	if r.dir != "" {
		if err := os.Chdir(r.dir); err != nil {
			return err
		}
		vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, "PWD=") })
		vars = append(vars, "PWD="+r.dir)
	}
	if err := replace(env, at, r.command, vars); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// tell prints the command for the person to run in a shell.
func (r resumption) tell(j *job.Job, f interop.Format, s skein.Session) error {
	if len(r.command) == 0 {
		j.Say("%s has no command for that; it finds the session by itself", f.Name)
		return nil
	}
	if _, err := fmt.Fprintln(j.Stdout, r.line(j.OS)); err != nil {
		return err
	}
	if err := r.folder(); err != nil {
		j.Say("%v; go where %s is to work instead", err, r.command[0])
		if clone := sessions.ToClone(s); clone != "" {
			j.Say("to have its repository there: %s", clone)
		}
	}
	if _, err := r.program(); err != nil {
		j.Say("%v", err)
	}
	return nil
}

// line returns the command as one types it. In a POSIX shell it is one line.
// Windows shells do not agree on how to join commands, so there the folder is on a
// line before it.
func (r resumption) line(system string) string {
	quote, join := terminal.ShellWord, " && "
	if system == "windows" {
		quote, join = terminal.WindowsWord, "\n"
	}
	var words []string
	for _, w := range r.command {
		words = append(words, quote(w))
	}
	line := strings.Join(words, " ")
	if r.dir != "" {
		dir := quote(r.dir)
		if strings.HasPrefix(r.dir, "-") {
			dir = "-- " + dir
		}
		line = "cd " + dir + join + line
	}
	return line
}
