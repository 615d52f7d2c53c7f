package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/price"
)

// roster returns the agents that can answer in a thread with the folder cwd, with
// tools that see store.
func (j *job) roster(store skein.Store, cwd string) *roster.Roster {
	return roster.New(roster.Options{
		Getenv: j.Getenv,
		Secret: j.secret(),
		Folders: []string{
			filepath.Join(projectRoot(cwd), ".skein", "agents"),
			filepath.Join(j.dirs.Config, "agents"),
		},
		Providers: j.settings.providers,
		Model:     j.settings.text("model"),
		Effort:    llm.Effort(j.settings.text("effort")),
		Window:    func(provider, model string) int64 { return j.window(provider, model) },
		Store:     store,
		Memory:    j.memoryDir(),
		Shut:      slices.DeleteFunc([]string{j.place.file()}, func(s string) bool { return s == "" }),

		Version:      j.Version,
		CompactAfter: j.compactAfter(),
		Find: func(ctx context.Context, name string) (skein.Session, error) {
			return j.session(ctx, name)
		},
	})
}

// window returns how many tokens a model can read, 0 if not known.
func (j *job) window(provider, model string) int64 {
	table, err := price.Load(j.settings.prices...)
	if err != nil {
		return 0 // a price override is invalid; skein usage reports it
	}
	return table.Window(provider, model)
}

// compactAfter returns the setting as a value for agent.Agent.
func (j *job) compactAfter() int {
	if n, err := strconv.Atoi(j.settings.text("compact_after")); err == nil && n > 0 {
		return n
	}
	return -1
}

// answering returns who answers in the thread: as the flags say, else who answered
// before, else the agent in the settings.
func (t *thread) answering(ctx context.Context) (*roster.Team, error) {
	d, err := t.definition()
	if err != nil {
		return nil, err
	}
	own := ownModel(&t.at.session)
	model := t.options.model
	if model == "" && (t.options.agent == "" || d.Model == "") {
		model = own
	}
	team, err := t.ready(ctx, d, model)
	usual := t.job.settings.text("model")
	if s := &t.at.session; isNotFound(err) && model == own && s.Provider == "replay" {
		if _, look := t.job.session(ctx, s.Model); isNotFound(look) {
			err = &roster.ModelError{Name: own, Why: "the session that was replayed here is gone"}
		}
	}
	if unreachable(err) && t.options.model == "" && model != "" && usual != "" && usual != model {
		t.face.tell("%v; %s goes on", err, usual)
		team, err = t.ready(ctx, d, usual)
	}
	return team, noModel(err)
}

// answerable returns an error if the default agent and model cannot answer in a new
// session.
func (j *job) answerable(ctx context.Context) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	t := thread{job: j, options: &threadOptions{}, roster: j.roster(j.store, cwd)}
	d, err := t.definition()
	if err != nil {
		return err
	}
	model := d.Model
	if model == "" {
		model = j.settings.text("model")
	}
	_, err = t.roster.Model(ctx, model)
	return noModel(err)
}

// ready prepares an agent for this thread.
func (t *thread) ready(ctx context.Context, d roster.Definition, model string) (*roster.Team, error) {
	for _, note := range d.Notes {
		t.face.tell("%s", note)
	}
	t.roster.Trust, t.roster.Notice, t.roster.Cwd = t.trust, func(text string) { t.face.tell("%s", text) }, t.cwd()
	return t.roster.Ready(ctx, d, model)
}

// nameless is the name for the agent without a name, unless another agent is called
// that.
const nameless = "default"

// definition returns the agent that is to answer.
func (t *thread) definition() (roster.Definition, error) {
	s := &t.at.session
	cwd, err := t.job.Getwd()
	if err != nil {
		return roster.Definition{}, err
	}
	name, needed := t.options.agent, true
	switch {
	case name != "":
	case s.ID == "":
		name = t.job.settings.text("agent")
	case filepath.IsAbs(s.Profile):
		name = s.Profile
	default: // the program that it was imported from, or a file, which a fork does not name
		name, needed = s.Agent, false
	}
	if name == "" {
		return roster.Default(), nil
	}
	d, err := t.roster.Definition(name, cwd)
	if isNotFound(err) && s.Profile == name && s.Agent != "" { // the agent's file was moved
		d, err = t.roster.Definition(s.Agent, cwd)
	}
	switch {
	case isNotFound(err) && (!needed || name == nameless):
		return roster.Default(), nil
	case isNotFound(err):
		return d, advise(missing("there is no agent %q", name), "see what there is: skein agents; --agent names another")
	}
	return d, err
}

// ownModel returns the model that answered in s before, in the form of --model; ""
// if none did.
func ownModel(s *skein.Session) string {
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

// noModel adds to err what to do about a missing model.
func noModel(err error) error {
	if missing := (*llm.NoKeyError)(nil); errors.As(err, &missing) {
		return advise(err, "set %s, or try it out with: --model echo", strings.Join(missing.Variables, " or "))
	}
	if m := (*roster.ModelError)(nil); errors.As(err, &m) {
		if m.Name == "" {
			return advise(usagef("no model is chosen"), "name one: --model anthropic:MODEL; for good: model = \"…\" in config.toml; to try it out: --model echo")
		}
		return advise(usagef("%v", err), "see where models are: skein key")
	}
	return err
}

func isNotFound(err error) bool { return errors.Is(err, skein.ErrNotFound) }
