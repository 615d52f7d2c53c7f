package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/internal/repository"
)

// A setting is something that a person can configure.
type setting struct {
	Name     string   // as in config.toml
	flag     string   // "" if no flag sets it
	Env      []string // environment variables that set it, the strongest first
	value    string   // the default
	want     want     // which values it accepts
	personal bool     // a project's file may not set it: projects come from strangers
	Doc      string
}

// Known returns all settings.
func Known() []setting {
	return []setting{
		{Name: "store", flag: "--store", Env: []string{"SKEIN_STORE"}, want: text, Doc: "where sessions are stored"},
		{Name: "user", Env: []string{"SKEIN_USER"}, want: text, personal: true, Doc: "whose sessions to use, in a PostgreSQL database of many users"},
		{Name: "remote", Env: []string{"SKEIN_REMOTE"}, want: text, personal: true, Doc: "store that skein push and skein pull use"},
		{Name: "token_file", Env: []string{"SKEIN_TOKEN_FILE"}, want: text, personal: true, Doc: "file whose first line is the token for a server"},
		{Name: "color", flag: "--color", Env: []string{"SKEIN_COLOR"}, value: "auto", want: text, Doc: "colors: auto, always or never"},
		{Name: "pager", Env: []string{"SKEIN_PAGER", "PAGER"}, value: "less -R", want: text, personal: true, Doc: "program that shows long output"},
		{Name: "model", Env: []string{"SKEIN_MODEL"}, want: text, Doc: "default model"},
		{Name: "agent", Env: []string{"SKEIN_AGENT"}, want: text, Doc: "default agent of new sessions"},
		{Name: "effort", Env: []string{"SKEIN_EFFORT"}, want: oneOf("", "low", "medium", "high"), Doc: "how much a model thinks: low, medium or high"},
		{Name: "compact_after", value: "40", want: number, Doc: "number of items after which older items are summarized; 0 for never"},
		{Name: "titles", value: "model", want: oneOf("model", "off"), Doc: "who titles a session: model, after its second turn, or off"},
		{Name: "memory", Env: []string{"SKEIN_MEMORY"}, value: "on", want: onOff, personal: true, Doc: "read AGENTS.md, USER.md and similar files: on or off"},
		{Name: "log", value: "on", want: onOff, personal: true, Doc: "write log files of conversations: on or off"},
		{Name: "backups", value: "3", want: number, personal: true, Doc: "number of daily backups to keep; 0 for none"},
		{Name: "allow", want: list, personal: true, Doc: "tools that run without asking"},
	}
}

// A SettingValue is the value of a setting, and where it was set.
type SettingValue struct {
	Text string `json:"value"`
	From string `json:"from"` // default, a flag, a variable, or a file
}

// Settings is the value of each setting, and what in the files has no effect.
type Settings struct {
	Values  map[string]SettingValue
	Unknown []string // "FILE: KEY: why", sorted
	home    string   // the home folder of the person
	Remote  string   // as given: it may contain a password
	own
}

// Text returns the value of a known setting.
func (s Settings) Text(name string) string { return s.Values[name].Text }

// Words returns the value of a known setting that is a list.
func (s Settings) Words(name string) []string {
	return strings.FieldsFunc(s.Text(name), func(r rune) bool { return r == ',' || r == ' ' })
}

// LoadSettings determines every setting. Flags, the values of global flags by the
// setting's name, take precedence over the environment, that over the project's
// .skein/config.toml, and that over the user's config.toml.
//
// The error names the file or the variable with a value that is not accepted.
func LoadSettings(env *Env, d Dirs, cwd string, flags map[string]string) (Settings, error) {
	s := Settings{Values: map[string]SettingValue{}, home: d.Home}
	for _, k := range Known() {
		s.Values[k.Name] = SettingValue{k.value, "default"}
	}
	s.Values["store"] = SettingValue{filepath.Join(d.Data, "skein.db"), "default"}
	user := filepath.Join(d.Config, "config.toml")
	if err := s.read(user, ""); err != nil {
		return s, err
	}
	project := repository.Project(cwd)
	file := filepath.Join(project, ".skein", "config.toml")
	if file != user {
		if err := s.read(file, project); err != nil {
			return s, err
		}
	}
	for _, k := range Known() {
		for _, name := range slices.Backward(k.Env) {
			if v := env.Getenv(name); v != "" {
				said, err := k.want(v)
				if err != nil {
					return s, fault.Usage("%s=%q: %v", name, v, err)
				}
				s.Values[k.Name] = SettingValue{said, "$" + name}
			}
		}
	}
	for name, v := range flags {
		if v != "" {
			s.Values[name] = SettingValue{v, "--" + name}
		}
	}
	return s, nil
}

// HidePassword masks passwords in the settings as shown: in the store's address,
// which is p, and the remote's. The error wraps fault.ErrUsage if a password is on the
// command line, where every user of the machine can read it.
func (s *Settings) HidePassword(p Place) error {
	s.Remote = s.Text("remote")
	s.Values["remote"] = SettingValue{withoutPassword(s.Remote), s.Values["remote"].From}
	err := p.Exposed("--store")
	if err != nil && s.Values["store"].From != "--store" {
		s.Values["store"] = SettingValue{p.String(), s.Values["store"].From}
		return nil
	}
	return err
}

// read reads a config.toml, if it exists. project is the folder of a project's
// file, "" for the user's own.
func (s *Settings) read(file, project string) error {
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
	for _, name := range ownTables {
		if _, ok := top[name]; ok && project != "" {
			s.Unknown = append(s.Unknown, file+": "+name+": a project may not set this")
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
	slices.Sort(s.Unknown)
	return nil
}

func badFile(file string, err error) error {
	line := 0
	if e := (*toml.DecodeError)(nil); errors.As(err, &e) {
		line, _ = e.Position()
	}
	return fault.Advise(fmt.Errorf("%s:%d: %w", file, line, err), "correct that line; see the settings: skein help config")
}

// set applies one line of a file. Mistakes in a project's file are ignored: the user
// may not have written that file.
func (s *Settings) set(file, project, name string, v any) error {
	all := Known()
	i := slices.IndexFunc(all, func(k setting) bool { return k.Name == name })
	ignore := func(why string) { s.Unknown = append(s.Unknown, file+": "+name+": "+why) }
	switch {
	case i < 0:
		ignore("unknown setting")
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
		return fault.Advise(fmt.Errorf("%s: %s: %w", file, name, err), "correct that line; see the settings: skein help config")
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
	s.Values[name] = SettingValue{said, file}
	return nil
}

// fromFolder returns the store setting of a file so that it means the same in every
// working directory: a bare path is relative to the project, or to the folder of
// the user's file.
func fromFolder(dir, project, text string) string {
	if project != "" {
		dir = project
	}
	p, err := ParsePlace(text, dir, "")
	if err != nil || p.File() == "" || len(text) > 1 && text[:2] == "~/" {
		return text
	}
	return p.Path
}

// A want checks the value of a setting from a file or a variable, and returns it as
// text. The error says which values it accepts.
type want func(v any) (string, error)

func text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", fmt.Errorf("want text in quotes, got %v", v)
}

// oneOf accepts one of some words.
func oneOf(words ...string) want {
	return func(v any) (string, error) {
		if s, ok := v.(string); ok && slices.Contains(words, s) {
			return s, nil
		}
		return "", fmt.Errorf("want one of %s, got %v", strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", "), v)
	}
}

// onOff accepts on or off, or a boolean.
func onOff(v any) (string, error) {
	switch v {
	case true, "on", "true":
		return "on", nil
	case false, "off", "false":
		return "off", nil
	}
	return "", fmt.Errorf("want on or off, got %v", v)
}

// number accepts a number of at least 0.
func number(v any) (string, error) {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil || n < 0 {
		return "", fmt.Errorf("want a number from 0, got %v", v)
	}
	return strconv.Itoa(n), nil
}

// list accepts a list of words.
func list(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []any:
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = fmt.Sprint(w)
		}
		return strings.Join(words, ", "), nil
	}
	return "", fmt.Errorf("want a list such as [\"shell\"], got %v", v)
}
