package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/price"
)

// own is what only a person's own file can set: the tables price, provider, project
// and gateway.
type own struct {
	prices    []price.Override
	providers map[string]roster.Provider
	projects  map[string]ownProject // by path
	gateway   ownGateway
}

// An ownProject is what a person configured for one project.
type ownProject struct {
	Allow []string `toml:"allow"` // tools that run there without asking
}

// An ownProvider is a provider that a person configured.
type ownProvider struct {
	BaseURL string `toml:"base_url"`
	KeyEnv  string `toml:"key_env"` // variable with the key
	API     string `toml:"api"`
}

// readOwn reads the tables of a file and removes them from top.
func (s *settings) readOwn(file string, b []byte, top map[string]any) error {
	var from struct {
		Price    []price.Override       `toml:"price"`
		Provider map[string]ownProvider `toml:"provider"`
		Project  map[string]ownProject  `toml:"project"`
		Gateway  ownGateway             `toml:"gateway"`
	}
	if len(top) == 0 || top["price"] == nil && top["provider"] == nil && top["project"] == nil && top["gateway"] == nil {
		return nil
	}
	if err := toml.Unmarshal(b, &from); err != nil {
		return badFile(file, err)
	}
	s.strangers(file, "provider", top["provider"], "base_url", "key_env", "api")
	s.strangers(file, "project", top["project"], "allow")
	s.gatewayStrangers(file, top["gateway"])
	s.showGateway(file, from.Gateway)
	for _, name := range []string{"price", "provider", "project", "gateway"} {
		delete(top, name)
	}
	s.prices, s.projects, s.providers = from.Price, map[string]ownProject{}, map[string]roster.Provider{}
	for _, path := range slices.Sorted(maps.Keys(from.Project)) {
		p := from.Project[path]
		at := filepath.Clean(fromHome(path, s.home))
		if real, err := filepath.EvalSymlinks(at); err == nil { // as project paths are resolved
			at = real
		}
		both := ownProject{append(s.projects[at].Allow, p.Allow...)} // a project may be named twice
		s.projects[at] = both
		s.values["project."+path+".allow"] = value{strings.Join(p.Allow, ", "), file}
	}
	for _, name := range slices.Sorted(maps.Keys(from.Provider)) {
		p, err := s.provider(file, name, from.Provider[name])
		if err != nil {
			return advise(fmt.Errorf("%s: provider.%s: %w", file, name, err), "mend it; what can be set is shown by: skein help config")
		}
		s.providers[name] = p
	}
	return nil
}

// strangers reports unknown keys in a table of tables.
func (s *settings) strangers(file, table string, v any, known ...string) {
	tables, ok := v.(map[string]any)
	if !ok {
		return
	}
	for name, one := range tables {
		keys, ok := one.(map[string]any)
		if !ok {
			continue
		}
		for key := range keys {
			why := "nothing has this name"
			if key == "key" || key == "api_key" {
				why = "keys are not kept here; key_env names the variable that it is in"
			}
			if !slices.Contains(known, key) {
				s.unknown = append(s.unknown, fmt.Sprintf("%s: %s.%s.%s: %s", file, table, name, key, why))
			}
		}
	}
}

// provider checks and converts the table of a provider.
func (s *settings) provider(file, name string, p ownProvider) (roster.Provider, error) {
	if p.API != "" && !slices.Contains(roster.APIs(), roster.API(p.API)) {
		return roster.Provider{}, fmt.Errorf("api %q: want one of %v", p.API, roster.APIs())
	}
	if name == "echo" || name == "replay" || strings.ContainsAny(name, ": ") {
		return roster.Provider{}, errors.New("a provider cannot have this name")
	}
	for key, v := range map[string]string{"base_url": p.BaseURL, "key_env": p.KeyEnv, "api": p.API} {
		if v != "" {
			s.values["provider."+name+"."+key] = value{v, file}
		}
	}
	to := roster.Provider{API: roster.API(p.API), BaseURL: p.BaseURL}
	if p.KeyEnv != "" {
		to.KeyEnv = []string{p.KeyEnv}
	}
	return to, nil
}
