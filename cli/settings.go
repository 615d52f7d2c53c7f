package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein/agent/roster"
)

// A setting is something that a person can configure.
type setting struct {
	name     string   // as in config.toml
	flag     string   // "" if no flag sets it
	env      []string // environment variables that set it, the strongest first
	value    string   // the default
	want     want     // which values it accepts
	personal bool     // a project's file may not set it: projects come from strangers
	doc      string
}

// known returns all settings.
func known() []setting {
	return []setting{
		{name: "store", flag: "--store", env: []string{"SKEIN_STORE"}, want: text, doc: "where the sessions are"},
		{name: "user", env: []string{"SKEIN_USER"}, want: text, personal: true, doc: "whose sessions, in a PostgreSQL database of many"},
		{name: "remote", env: []string{"SKEIN_REMOTE"}, want: text, personal: true, doc: "where skein push and pull go"},
		{name: "token_file", env: []string{"SKEIN_TOKEN_FILE"}, want: text, personal: true, doc: "file whose first line a server is shown"},
		{name: "color", flag: "--color", env: []string{"SKEIN_COLOR"}, value: "auto", want: text, doc: "colours: auto, always or never"},
		{name: "pager", env: []string{"SKEIN_PAGER", "PAGER"}, value: "less -R", want: text, personal: true, doc: "program that shows long output"},
		{name: "model", env: []string{"SKEIN_MODEL"}, want: text, doc: "model that answers where none is named"},
		{name: "agent", env: []string{"SKEIN_AGENT"}, want: text, doc: "agent that answers in new sessions"},
		{name: "effort", env: []string{"SKEIN_EFFORT"}, want: oneOf("", "low", "medium", "high"), doc: "how much a model thinks: low, medium, high"},
		{name: "compact_after", value: "40", want: number, doc: "items after which the older part is summed up; 0 never"},
		{name: "titles", value: "model", want: oneOf("model", "off"), doc: "who names a session: model, after two turns, or off"},
		{name: "memory", env: []string{"SKEIN_MEMORY"}, value: "on", want: onOff, personal: true, doc: "what was written down for agents, AGENTS.md and USER.md and the like: on or off"},
		{name: "log", value: "on", want: onOff, personal: true, doc: "log files of the conversations: on or off"},
		{name: "backups", value: "3", want: number, personal: true, doc: "how many backups that are made unasked stay, one a day; 0 none"},
		{name: "allow", want: list, personal: true, doc: "tools that run without asking"},
	}
}

// A value is the value of a setting, and where it was set.
type value struct {
	Text string `json:"value"`
	From string `json:"from"` // default, a flag, a variable, or a file
}

// settings is the value of each setting, and what in the files has no effect.
type settings struct {
	values  map[string]value
	unknown []string // "FILE: KEY: why", sorted
	home    string   // the home folder of the person
	remote  string   // as given: it may contain a password
	own
}

// text returns the value of a known setting.
func (s settings) text(name string) string { return s.values[name].Text }

// words returns the value of a known setting that is a list.
func (s settings) words(name string) []string {
	return strings.FieldsFunc(s.text(name), func(r rune) bool { return r == ',' || r == ' ' })
}

// loadSettings determines every setting. Flags, the values of global flags by the
// setting's name, take precedence over the environment, that over the project's
// .skein/config.toml, and that over the user's config.toml.
//
// The error names the file or the variable with a value that is not accepted.
func loadSettings(env *Env, d dirs, cwd string, flags map[string]string) (settings, error) {
	s := settings{values: map[string]value{}, home: d.Home}
	for _, k := range known() {
		s.values[k.name] = value{k.value, "default"}
	}
	s.values["store"] = value{filepath.Join(d.Data, "skein.db"), "default"}
	user := filepath.Join(d.Config, "config.toml")
	if err := s.read(user, ""); err != nil {
		return s, err
	}
	project := projectRoot(cwd)
	file := filepath.Join(project, ".skein", "config.toml")
	if file != user {
		if err := s.read(file, project); err != nil {
			return s, err
		}
	}
	for _, k := range known() {
		for _, name := range slices.Backward(k.env) {
			if v := env.Getenv(name); v != "" {
				said, err := k.want(v)
				if err != nil {
					return s, usagef("%s=%q: %v", name, v, err)
				}
				s.values[k.name] = value{said, "$" + name}
			}
		}
	}
	for name, v := range flags {
		if v != "" {
			s.values[name] = value{v, "--" + name}
		}
	}
	return s, nil
}

// hidePassword masks passwords in the settings as shown: in the store's address,
// which is p, and the remote's. The error wraps errUsage if a password is on the
// command line, where every user of the machine can read it.
func (s *settings) hidePassword(p Place) error {
	s.remote = s.text("remote")
	s.values["remote"] = value{withoutPassword(s.remote), s.values["remote"].From}
	if p.file() != "" || p.String() == p.Path {
		return nil
	}
	if s.values["store"].From == "--store" {
		return advise(usagef("--store %s: everybody on this machine can read a password on the command line", p), noPassword)
	}
	s.values["store"] = value{p.String(), s.values["store"].From}
	return nil
}

const noPassword = "put it into PGPASSWORD or ~/.pgpass, or the whole address into SKEIN_STORE"

// read reads a config.toml, if it exists. project is the folder of a project's
// file, "" for the user's own.
func (s *settings) read(file, project string) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var top map[string]any
	if err := toml.Unmarshal(b, &top); err != nil {
		return badFile(file, err)
	}
	for _, name := range []string{"price", "provider", "project", "gateway"} {
		if _, ok := top[name]; ok && project != "" {
			s.unknown = append(s.unknown, file+": "+name+": a project may not set this")
		}
		if project != "" {
			delete(top, name)
		}
	}
	if err := s.readOwn(file, b, top); err != nil {
		return err
	}
	for name, v := range top {
		if err := s.set(file, project, name, v); err != nil {
			return err
		}
	}
	slices.Sort(s.unknown)
	return nil
}

func badFile(file string, err error) error {
	line := 0
	if e := (*toml.DecodeError)(nil); errors.As(err, &e) {
		line, _ = e.Position()
	}
	return advise(fmt.Errorf("%s:%d: %w", file, line, err), "mend that line; what can be set is shown by: skein help config")
}

// set applies one line of a file. Mistakes in a project's file are ignored: the user
// may not have written that file.
func (s *settings) set(file, project, name string, v any) error {
	all := known()
	i := slices.IndexFunc(all, func(k setting) bool { return k.name == name })
	ignore := func(why string) { s.unknown = append(s.unknown, file+": "+name+": "+why) }
	switch {
	case i < 0:
		ignore("nothing has this name")
		return nil
	case project != "" && all[i].personal:
		ignore("a project may not set this")
		return nil
	}
	said, err := all[i].want(v)
	switch {
	case err != nil && project != "":
		ignore(err.Error())
		return nil
	case err != nil:
		return advise(fmt.Errorf("%s: %s: %w", file, name, err), "mend that line; what can be set is shown by: skein help config")
	}
	switch {
	case name == "store" && project != "" && atServer(said):
		ignore("a project may not name a server")
		return nil
	case name == "store":
		said = fromFolder(filepath.Dir(file), project, said)
	case name == "token_file" && !strings.HasPrefix(said, "~/") && !filepath.IsAbs(said):
		said = filepath.Join(filepath.Dir(file), said)
	case name == "agent" && roster.IsPath(said) && !filepath.IsAbs(said):
		said = filepath.Join(cmp.Or(project, filepath.Dir(file)), said)
	}
	s.values[name] = value{said, file}
	return nil
}

// fromFolder returns the store setting of a file so that it means the same in every
// working directory: a bare path is relative to the project, or to the folder of
// the user's file.
func fromFolder(dir, project, text string) string {
	if project != "" {
		dir = project
	}
	p, err := parsePlace(text, dir, "")
	if err != nil || p.file() == "" || len(text) > 1 && text[:2] == "~/" {
		return text
	}
	return p.Path
}
