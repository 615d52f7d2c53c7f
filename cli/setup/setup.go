package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/internal/jsonedit"
)

type options struct {
	only, except      []string
	undo, check, json bool
	foreground, git   bool
	job.Consent
	help helpTexts
}

// NewSetup returns the command setup. manual returns the manual page, in the language of
// man(7), of a command and those below it.
func NewSetup(f *job.Frame, manual func(*cobra.Command) string) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "setup [flags]",
		Short: "keep the sessions of all agents here from now on",
		Long: `Find the agents on this machine and connect skein to them: a service of yours that
imports what they write as they write it, hooks that tell it at once what they do,
skein's MCP server in their settings, a skill that tells them when to look things up,
and, for Claude Code, a status line if there is none. It also installs the manual page,
and the completion of commands for your shell. setup says what it would do, and asks
once.

--git does something else, only in the repository here and only if you ask for it:
hooks of Git that name the sessions that wrote a commit in its message, in trailers
Skein-Session.

--undo takes all of that back. Each file has the same bytes as before; if a file was
changed meanwhile, only what setup added goes, and everything else in it stays as
it is. --check says what is in place, and what is not.`,
		Example: `skein setup
	skein setup --only codex,opencode
	skein setup --check
	skein setup --git
	skein setup --undo`,
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o.help = helpTexts{c.Root, manual}
	names := make([]string, 0, len(programs())+len(parts))
	names = append(names, parts...)
	for _, a := range programs() {
		names = append(names, a.Format)
	}
	g := c.Flags()
	g.StringSliceVar(&o.only, "only", nil, "only these `parts`: "+strings.Join(names, ", "))
	g.StringSliceVar(&o.except, "except", nil, "all `parts` but these")
	g.BoolVar(&o.undo, "undo", false, "take back what setup did")
	g.BoolVar(&o.check, "check", false, "say what is in place, and what was kept last")
	g.BoolVar(&o.foreground, "foreground", false, "keep what the agents write from here, until Ctrl-C, instead of by a service")
	g.BoolVar(&o.git, "git", false, "only in the repository here: let the message of each commit name the sessions that wrote it")
	o.Flags(c)
	job.Fixed(c, "only", names...)
	job.Fixed(c, "except", names...)
	job.JSONFlag(c, &o.json)
	return c
}

// A setupStep is one thing that setup does, as it is shown.
type setupStep struct {
	Agent string     `json:"agent,omitempty"`
	What  string     `json:"what"`
	Path  string     `json:"path,omitempty"`
	State string     `json:"state"` // to do, done, in place, changed since, gone, not running, taken back, not possible, failed; of a watch: running, importing, ended
	Error string     `json:"error,omitempty"`
	Since skein.Time `json:"since,omitzero"`  // when setup did it
	Last  skein.Time `json:"last,omitzero"`   // when the newest session of the agent was last active, its hooks last told something, or the watch last imported something
	Broke string     `json:"broke,omitempty"` // what the watch could not import last

	change  *fileEdit
	service *userService
}

func (o *options) run(ctx context.Context, j *job.Job, _ []string) error {
	if o.undo && o.check {
		return fault.Usage("--undo and --check are two commands")
	}
	for _, names := range [][]string{o.only, o.except} {
		for _, n := range names {
			if !slices.Contains(parts, n) && !slices.ContainsFunc(programs(), func(a agentProgram) bool { return a.Format == n }) {
				return fault.Usage("%q is no part of the setup; skein setup --help lists them", n)
			}
		}
	}
	done, err := readJournal(filepath.Join(j.Dirs.State, "setup.json"))
	if err != nil {
		return err
	}
	switch {
	case o.git && !o.check:
		return o.setUpGit(ctx, j, done)
	case o.undo:
		return o.takeBack(ctx, j, done, func(d *fileEdit) bool { return o.wants(d.part()) })
	case o.check:
		all, err := o.checked(ctx, j, done)
		return errors.Join(o.show(j, all), err)
	}
	m, err := o.machine(j)
	if err != nil {
		return err
	}
	return o.setUp(ctx, j, m, done)
}

// wants reports whether a part was asked for.
func (o *options) wants(part string) bool {
	return (len(o.only) == 0 || slices.Contains(o.only, part)) && !slices.Contains(o.except, part)
}

func (o *options) machine(j *job.Job) (computer, error) {
	bin, err := ownPath()
	if err != nil {
		return computer{}, err
	}
	conf := j.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(conf) {
		conf = filepath.Join(j.Dirs.Home, ".config")
	}
	m := computer{OS: j.OS, Home: j.Dirs.Home, Env: j.Getenv, Bin: bin, Config: conf}
	if j.Dirs.Home == "" {
		return m, errors.New("the home folder is unknown, and with it the agents' settings")
	}
	usual, err := usualDirs(j.Env)
	if err != nil {
		return m, err
	}
	if usual.State != j.Dirs.State {
		m.Hooks = string(hooknews.At(j.Dirs.State))
	}
	m.Flags, err = storeFlag(j, usual)
	return m, err
}

// usualDirs returns the folders of this program where the environment names none, as
// that of a service or of an agent that was started from a menu.
func usualDirs(env *config.Env) (config.Dirs, error) {
	bare := *env
	bare.Getenv = func(name string) string {
		if strings.HasPrefix(name, "XDG_") || name == "SKEIN_HOME" {
			return ""
		}
		return env.Getenv(name)
	}
	return config.FindDirs(&bare)
}

// storeFlag returns the flag that names the store that the person uses; none if the
// program finds it without one. A password is never among the flags: they are written
// into files of other programs, and everybody on the machine can see them in the list
// of processes.
//
// The error wraps fault.ErrUsage if the address has a password.
func storeFlag(j *job.Job, usual config.Dirs) ([]string, error) {
	own := filepath.Join(j.Dirs.Config, "config.toml")
	switch from := j.Settings.Values["store"].From; {
	case usual.Config == j.Dirs.Config && from == own:
		return nil, nil
	case usual.Data == j.Dirs.Data && from == "default":
		return nil, nil
	case j.Place.File() == "" && j.Place.String() != j.Place.Path:
		return nil, fault.Advise(fault.Usage("the address of the store has a password (%s), and agents and services would keep it in clear text", from),
			"put store = %q into %s, and the password into ~/.pgpass, or the whole address there; then run this again without %s", j.Place, j.Tilde(filepath.Join(usual.Config, "config.toml")), from)
	}
	return []string{"--store", j.Place.Path}, nil
}

// ownPath returns the path of this program: the one by which it is found, if it is
// on the path, because that one stays when the program is renewed.
func ownPath() (string, error) {
	bin, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath("skein")
	if err != nil {
		return bin, nil //nolint:nilerr // it is not on the path
	}
	same := func(path string) string {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return path
		}
		return real
	}
	if filepath.IsAbs(found) && same(found) == same(bin) {
		return found, nil
	}
	return bin, nil
}

// steps returns what is to be done on a machine.
func (o *options) steps(ctx context.Context, m computer, done *journal) (all []setupStep, found []string) {
	if o.wants("service") && !o.foreground {
		s, err := watcher(ctx, m, execute)
		switch {
		case err != nil:
			all = append(all, setupStep{What: "service", State: impossible, Error: err.Error() + "; skein setup --foreground keeps what they write from a terminal"})
		case s.Path == "":
			all = append(all, setupStep{What: s.What, service: s, State: toDo})
		default:
			all = append(all, setupStep{What: s.What, Path: s.Path, change: &s.fileEdit, service: s, State: toDo})
		}
	}
	for _, c := range o.help.edits(m, isThere) {
		if o.wants(c.part()) {
			all = append(all, setupStep{What: c.What, Path: c.Path, change: &c, State: toDo})
		}
	}
	if o.wants(completion) && m.shell() == "zsh" {
		all = append(all, setupStep{What: completion, State: impossible, Error: "zsh has no folder of yours for it; put this into ~/.zshrc, after compinit: source <(skein completion zsh)"})
	}
	for _, a := range programs() {
		if !a.here(m) {
			continue
		}
		found = append(found, a.Name)
		if !o.wants(a.Format) {
			continue
		}
		for _, c := range a.changes(m) {
			all = append(all, setupStep{Agent: a.Format, What: c.What, Path: c.Path, change: &c, State: toDo})
		}
	}
	for i := range all {
		all[i].look(done)
	}
	return all, found
}

// The states of a step.
const (
	toDo       = "to do"
	finished   = "done"
	takenBack  = "taken back"
	stopped    = "not running"
	impossible = "not possible"
	failed     = "failed"
)

// look finds out whether the step is still to be done.
func (s *setupStep) look(done *journal) {
	if s.change == nil {
		return
	}
	switch d, _, err := done.prepare(*s.change, time.Time{}); {
	case s.change.Optional && errors.Is(err, jsonedit.ErrTaken):
		s.State, s.Error = impossible, "there is another one, which stays"
	case err != nil:
		s.State, s.Error = failed, err.Error()
	case d == nil:
		s.State = string(inPlace)
	}
}

func (o *options) setUp(ctx context.Context, j *job.Job, m computer, done *journal) error {
	all, found := o.steps(ctx, m, done)
	if len(found) == 0 {
		j.Say("no agents that setup knows were found here; their sessions will be kept once they are used")
	} else if !o.json {
		j.Say("found: %s", strings.Join(found, ", "))
	}
	return o.doAll(ctx, j, m, done, all)
}

// doAll does the steps that are still to be done, if the person agrees.
func (o *options) doAll(ctx context.Context, j *job.Job, m computer, done *journal, all []setupStep) error {
	open := func(s setupStep) bool { return s.State == toDo }
	if o.DryRun {
		return o.show(j, all)
	}
	if !slices.ContainsFunc(all, open) {
		return errors.Join(o.show(j, all), o.stay(ctx, j, m))
	}
	yes, err := o.agreed(ctx, j, all)
	if err != nil || !yes {
		return err
	}
	for i := range all {
		if s := &all[i]; open(*s) {
			s.State = finished
			if err := s.do(ctx, done, j.Now()); err != nil {
				s.State, s.Error = failed, err.Error()
			} else if s.Agent == "codex" && s.What == hooks {
				j.Say("Codex runs new hooks only after you trust them: it asks when you start it next, or type /hooks there")
			}
		}
	}
	return errors.Join(o.show(j, all), o.stay(ctx, j, m))
}

// stay imports what the agents write until ctx ends, if the person wants that.
func (o *options) stay(ctx context.Context, j *job.Job, m computer) error {
	if !o.foreground {
		return nil
	}
	cmd := m.watch()
	c := exec.CommandContext(ctx, cmd[0], cmd[1:]...)
	c.Stdout, c.Stderr = j.Stdout, j.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c.Run()
}

// agreed shows what will be done, and asks whether to do it: Enter is yes.
func (o *options) agreed(ctx context.Context, j *job.Job, all []setupStep) (bool, error) {
	if o.Yes {
		return true, nil
	}
	if err := o.table(j, all); err != nil {
		return false, err
	}
	if !j.Terminal.In {
		return false, fault.Advise(fault.Usage("nothing was done; without a terminal to ask on, this needs --yes"), "--dry-run shows what it would do, --yes does it")
	}
	fmt.Fprint(j.Stderr, "Do this? [Y/n] ")
	line, err := j.Line(ctx)
	if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "" && answer != "y" && answer != "yes" {
		j.Say("nothing was done")
		return false, err
	}
	return true, nil
}

func (s *setupStep) do(ctx context.Context, done *journal, at time.Time) error {
	if s.change != nil {
		if err := done.do(*s.change, at); err != nil {
			return err
		}
	}
	if s.service == nil {
		return nil
	}
	return runAll(ctx, s.service.start)
}

func runAll(ctx context.Context, commands [][]string) error {
	for _, c := range commands {
		if _, err := execute(ctx, c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}
