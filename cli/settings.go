package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/roster"
)

// A setting is something that a person can choose for good.
type setting struct {
	name     string   // in config.toml
	flag     string   // "" if none sets it
	env      []string // variables that set it, the strongest first
	personal bool     // a project's file may not set it, for projects come from strangers
	doc      string
}

// known is every setting.
var known = []setting{
	{name: "store", flag: "--store", env: []string{"SKEIN_STORE"}, doc: "where the sessions are"},
	{name: "color", flag: "--color", env: []string{"SKEIN_COLOR"}, doc: "colours: auto, always or never"},
	{name: "pager", env: []string{"SKEIN_PAGER", "PAGER"}, personal: true, doc: "program that shows long output"},
}

// A value is what a setting is set to, and by what.
type value struct {
	Text string `json:"value"`
	From string `json:"from"` // default, a flag, a variable, a file
}

// settings is the value of each known setting, and what the files say that
// nobody knows.
type settings struct {
	values  map[string]value
	unknown []string         // "FILE: KEY", sorted
	prices  []price.Override // set by the user, [[price]]

	providers map[string]roster.Provider // set by the user, [provider.NAME]
	allow     []string                   // tools that need not ask anywhere
	projects  map[string]ownProject      // set by the user, [project."/path"]
}

// text returns the value of a known setting.
func (s settings) text(name string) string { return s.values[name].Text }

// loadSettings works out every setting: flags beat the environment, that beats
// the project's .skein/config.toml, that the user's config.toml.
func (f *frame) loadSettings(d dirs, cwd string) (settings, error) {
	s := settings{values: map[string]value{
		"store": {filepath.Join(d.Data, "skein.db"), "default"},
		"color": {"auto", "default"},
		"pager": {"less -R", "default"},
	}}
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
	for _, k := range known {
		for _, name := range slices.Backward(k.env) {
			if v := f.env.Getenv(name); v != "" {
				s.values[k.name] = value{v, "$" + name}
			}
		}
	}
	for name, v := range map[string]string{"store": f.store, "color": f.color} {
		if v != "" {
			s.values[name] = value{v, "--" + name}
		}
	}
	return s, nil
}

// read takes in a config.toml, if there is one. project is the folder of a
// project's file, "" for the user's own.
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
	if project == "" {
		var own struct {
			Price []price.Override `toml:"price"`
		}
		if err := toml.Unmarshal(b, &own); err != nil {
			return badFile(file, err)
		}
		s.prices = own.Price
		delete(top, "price")
	}
	for name, v := range top {
		s.set(file, project, name, v)
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

// set takes in one line of a file.
func (s *settings) set(file, project, name string, v any) {
	i := slices.IndexFunc(known, func(k setting) bool { return k.name == name })
	text, isText := v.(string)
	switch {
	case i < 0:
		s.unknown = append(s.unknown, file+": "+name+": nothing has this name")
		return
	case !isText:
		s.unknown = append(s.unknown, fmt.Sprintf("%s: %s: want text in quotes, got %v", file, name, v))
		return
	case project != "" && known[i].personal:
		s.unknown = append(s.unknown, file+": "+name+": a project may not set this")
		return
	}
	if name == "store" {
		text = fromFolder(filepath.Dir(file), project, text)
	}
	s.values[name] = value{text, file}
}

// fromFolder returns the store text of a file so that it means the same in
// every working directory: a bare path is taken from the project, or from the
// folder of the user's file.
func fromFolder(dir, project, text string) string {
	if project != "" {
		dir = project
	}
	p, err := parsePlace(text, dir, "")
	if err != nil || len(text) > 1 && text[:2] == "~/" {
		return text
	}
	return p.Path
}

// An ownProject is what a person set for one project in their own file.
type ownProject struct {
	Allow []string `toml:"allow"` // tools that need not ask there
}
