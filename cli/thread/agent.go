package thread

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool/files"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/internal/guidance"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// Roster returns the agents that can answer in a thread with the folder cwd, with
// tools that see store.
func Roster(j *job.Job, store skein.Store, cwd string) *roster.Roster {
	return roster.New(roster.Options{
		Getenv: j.Getenv,
		Secret: j.Secret(),
		Folders: []string{
			filepath.Join(repository.Project(cwd), ".skein", "agents"),
			filepath.Join(j.Dirs.Config, "agents"),
		},
		Providers: j.Settings.Providers,
		Model:     j.Settings.Text("model"),
		Effort:    llm.Effort(j.Settings.Text("effort")),
		Window:    func(provider, model string) int64 { return window(j, provider, model) },
		Store:     store,
		Memory:    memoryDir(j),
		Files: files.Options{
			Shut:   slices.DeleteFunc([]string{j.Place.File()}, func(s string) bool { return s == "" }),
			Memory: j.Dirs.Config,
		},

		Version:      j.Version,
		CompactAfter: compactAfter(j),
		Find: func(ctx context.Context, name string) (skein.Session, error) {
			return sessions.Named(ctx, j, name)
		},
	})
}

// window returns how many tokens a model can read, 0 if not known.
func window(j *job.Job, provider, model string) int64 {
	table, err := price.Load(j.Settings.Prices...)
	if err != nil {
		return 0 // a price override is invalid; skein usage reports it
	}
	return table.Window(provider, model)
}

// compactAfter returns the setting as a value for agent.Agent.
func compactAfter(j *job.Job) int {
	if n, err := strconv.Atoi(j.Settings.Text("compact_after")); err == nil && n > 0 {
		return n
	}
	return -1
}

// answering returns who answers in the thread: as the flags say, else who answered
// before, else the agent in the settings.
func (t *Thread) answering(ctx context.Context) (*roster.Team, error) {
	d, err := t.definition()
	if err != nil {
		return nil, err
	}
	own := OwnModel(&t.At.Session)
	model := t.Options.Model
	if model == "" && (t.Options.Agent == "" || d.Model == "") {
		model = own
	}
	team, err := t.Ready(ctx, d, model)
	usual := t.Job.Settings.Text("model")
	if s := &t.At.Session; IsNotFound(err) && model == own && s.Provider == "replay" {
		if _, look := sessions.Named(ctx, t.Job, s.Model); IsNotFound(look) {
			err = &roster.ModelError{Name: own, Why: "the session that it replays no longer exists"}
		}
	}
	if unreachable(err) && t.Options.Model == "" && model != "" && usual != "" && usual != model {
		t.face.Tell("%v; %s answers instead", err, usual)
		team, err = t.Ready(ctx, d, usual)
	}
	return team, NoModel(err)
}

// Answerable returns an error if the default agent and model cannot answer in a new
// session.
func Answerable(ctx context.Context, j *job.Job) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	t := Thread{Job: j, Options: &Options{}, Roster: Roster(j, j.Store, cwd)}
	d, err := t.definition()
	if err != nil {
		return err
	}
	model := d.Model
	if model == "" {
		model = j.Settings.Text("model")
	}
	_, err = t.Roster.Model(ctx, model)
	return noModel(err, `in config.toml: model = "anthropic:MODEL"`, `SKEIN_MODEL=echo`)
}

// Ready prepares an agent for this thread.
//
// The error says which agent or model cannot answer, and why.
func (t *Thread) Ready(ctx context.Context, d roster.Definition, model string) (*roster.Team, error) {
	for _, note := range d.Notes {
		t.face.Tell("%s", note)
	}
	t.Roster.Trust, t.Roster.Notice, t.Roster.Cwd = t.trust, func(text string) { t.face.Tell("%s", text) }, t.Cwd()
	return t.Roster.Ready(ctx, d, model)
}

// Nameless is the name for the agent without a name, unless another agent is called
// that.
const Nameless = "default"

// definition returns the agent that is to answer.
func (t *Thread) definition() (roster.Definition, error) {
	s := &t.At.Session
	cwd, err := t.Job.Getwd()
	if err != nil {
		return roster.Definition{}, err
	}
	name, needed := t.Options.Agent, true
	switch {
	case name != "":
	case s.ID == "":
		name = t.Job.Settings.Text("agent")
	case filepath.IsAbs(s.Profile):
		name = s.Profile
	default: // the program that it was imported from, or a file, which a fork does not name
		name, needed = s.Agent, false
	}
	if name == "" {
		return roster.Default(), nil
	}
	d, err := t.Roster.Definition(name, cwd)
	if IsNotFound(err) && s.Profile == name && s.Agent != "" { // the agent's file was moved
		d, err = t.Roster.Definition(s.Agent, cwd)
	}
	switch {
	case IsNotFound(err) && (!needed || name == Nameless):
		return roster.Default(), nil
	case IsNotFound(err):
		return d, fault.Advise(fault.Missing("there is no agent %q", name), "list the agents: skein agents; --agent names another")
	}
	return d, err
}

// OwnModel returns the model that answered in s before, in the form of --model; ""
// if none did.
func OwnModel(s *skein.Session) string {
	switch {
	case s.Provider == "echo":
		return "echo"
	case s.Provider == "" || s.Model == "":
		return ""
	}
	return s.Provider + ":" + s.Model
}

// unreachable reports whether err says that a model cannot be used from here.
func unreachable(err error) bool { return errors.Is(err, llm.ErrNoKey) || errors.Is(err, llm.ErrModel) }

// NoModel adds to err what to do about a missing model.
//
// It returns nil if err is nil; the error wraps err.
func NoModel(err error) error {
	return noModel(err, `with --model anthropic:MODEL; for good: model = "…" in config.toml`, "--model echo")
}

// noModel is NoModel for a command where a model is named like this, and tried out
// like that.
func noModel(err error, name, try string) error {
	if missing := (*llm.NoKeyError)(nil); errors.As(err, &missing) {
		return fault.Advise(err, "set %s, or try it out with: %s", strings.Join(missing.Variables, " or "), try)
	}
	if m := (*roster.ModelError)(nil); errors.As(err, &m) {
		if m.Name == "" {
			return fault.Advise(&fault.StatedError{Text: "no model is chosen", Kind: errors.Join(fault.ErrUsage, m)}, "name one %s; to try it out: %s", name, try)
		}
		return fault.Advise(fault.Usage("%v", err), "%s", cmp.Or(m.Do, "see which providers there are: skein key"))
	}
	return err
}

// IsNotFound reports whether err says that something does not exist.
func IsNotFound(err error) bool { return errors.Is(err, skein.ErrNotFound) }

// maxGuidance is how many bytes of the guidance for agents a model is shown at
// most, however much it can read.
const maxGuidance = 64 << 10

// memoryDir returns the folder of the person's USER.md and MEMORY.md; "" if they
// are turned off in the settings.
func memoryDir(j *job.Job) string {
	if j.Settings.Text("memory") == "off" {
		return ""
	}
	return j.Dirs.Config
}

// guide reads the guidance for agents, for a thread that is being opened, and
// reports what of it cannot be read. The person's own USER.md and MEMORY.md are
// private: they are not read for another user's session, nor for messages from
// elsewhere, which others may write.
func (t *Thread) guide() {
	own := memoryDir(t.Job)
	if own == "" {
		return
	}
	if t.At.user() != t.Job.Owner() || t.face.Program == Relaying {
		own, t.Roster.Memory = "", ""
	}
	w := guidance.Locations{Own: own, Cwd: t.Cwd()}
	if w.Cwd != "" {
		w.Project = repository.Project(w.Cwd)
	}
	t.guidance = guidance.Load(w)
	for _, note := range t.guidance.Notes {
		t.face.Tell("%s", render.Line(note))
	}
	t.Roster.Guidance = func(window int64) string { return t.Guided(window).Prompt() }
}

// Guided returns the guidance for a model that can read window tokens, 0 if not
// known: about an eighth of them at most.
func (t *Thread) Guided(window int64) guidance.Guidance {
	room := int64(maxGuidance)
	if window > 0 {
		room = min(room, window/8*4)
	}
	return t.guidance.Fit(int(room))
}

// AgentName returns the name of a for people.
func AgentName(a agent.Agent) string {
	if a.Name == "" {
		return "the default assistant"
	}
	return a.Name
}

// Relaying is the name of the program in sessions that are answered by the gateway.
const Relaying = "skein gateway"
