package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/price"
)

// ownTables are what only a person's own file can set.
var ownTables = []string{"price", "provider", "project", "gateway", "budget", "notify"}

// own is what those tables say.
type own struct {
	Budgets   []price.SpendingBudget
	Notify    OwnNotify
	Prices    []price.Override
	Providers map[string]roster.Provider
	Projects  map[string]ownProject // by path
	Gateway   ownGateway
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
func (s *Settings) readOwn(file string, b []byte, top map[string]any) error {
	var from struct {
		Price    []price.Override       `toml:"price"`
		Provider map[string]ownProvider `toml:"provider"`
		Project  map[string]ownProject  `toml:"project"`
		Gateway  ownGateway             `toml:"gateway"`
		Budget   []price.SpendingBudget `toml:"budget"`
		Notify   OwnNotify              `toml:"notify"`
	}
	if !slices.ContainsFunc(ownTables, func(name string) bool { return top[name] != nil }) {
		return nil
	}
	if err := toml.Unmarshal(b, &from); err != nil {
		return badFile(file, err)
	}
	s.strangers(file, "provider", top["provider"], "base_url", "key_env", "api")
	s.strangers(file, "project", top["project"], "allow")
	s.gatewayStrangers(file, top["gateway"])
	s.showGateway(file, from.Gateway)
	for _, name := range ownTables {
		delete(top, name)
	}
	s.Prices, s.Projects, s.Providers = from.Price, map[string]ownProject{}, map[string]roster.Provider{}
	if err := s.readBudgets(file, from.Budget); err != nil {
		return err
	}
	if err := s.readNotify(file, from.Notify); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(from.Project)) {
		p, at := from.Project[path], s.projectAt(path)
		both := ownProject{append(s.Projects[at].Allow, p.Allow...)} // a project may be named twice
		s.Projects[at] = both
		s.Values["project."+path+".allow"] = SettingValue{strings.Join(p.Allow, ", "), file}
	}
	for _, name := range slices.Sorted(maps.Keys(from.Provider)) {
		p, err := s.provider(file, name, from.Provider[name])
		if err != nil {
			return fault.Advise(fmt.Errorf("%s: provider.%s: %w", file, name, err), "correct it; see the settings: skein help config")
		}
		s.Providers[name] = p
	}
	return nil
}

// projectAt returns the path of a project that a person has written.
func (s *Settings) projectAt(path string) string {
	at := filepath.Clean(FromHome(path, s.home))
	if real, err := filepath.EvalSymlinks(at); err == nil { // as project paths are resolved
		return real
	}
	return at
}

// readBudgets takes the budgets of a file over.
func (s *Settings) readBudgets(file string, all []price.SpendingBudget) error {
	for i := range all {
		b := &all[i]
		name := fmt.Sprintf("budget.%d", i+1)
		if err := b.Check(); err != nil {
			return fault.Advise(fmt.Errorf("%s: %s: %w", file, name, err), "correct it; see the settings: skein help config")
		}
		if b.Project != "" {
			b.Project = s.projectAt(b.Project)
		}
		s.Values[name] = SettingValue{b.String(), file}
	}
	s.Budgets = all
	return nil
}

// strangers reports unknown keys in a table of tables.
func (s *Settings) strangers(file, table string, v any, known ...string) {
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
			why := "unknown setting"
			if key == "key" || key == "api_key" {
				why = "a key cannot be stored here; set key_env to the name of the environment variable that holds it"
			}
			if !slices.Contains(known, key) {
				s.Unknown = append(s.Unknown, fmt.Sprintf("%s: %s.%s.%s: %s", file, table, name, key, why))
			}
		}
	}
}

// provider checks and converts the table of a provider.
func (s *Settings) provider(file, name string, p ownProvider) (roster.Provider, error) {
	if p.API != "" && !slices.Contains(roster.APIs(), roster.API(p.API)) {
		return roster.Provider{}, fmt.Errorf("api %q: want one of %v", p.API, roster.APIs())
	}
	if name == "echo" || name == "replay" || strings.ContainsAny(name, ": ") {
		return roster.Provider{}, errors.New("this name is reserved or contains : or a space")
	}
	for key, v := range map[string]string{"base_url": p.BaseURL, "key_env": p.KeyEnv, "api": p.API} {
		if v != "" {
			s.Values["provider."+name+"."+key] = SettingValue{v, file}
		}
	}
	to := roster.Provider{API: roster.API(p.API), BaseURL: p.BaseURL}
	if p.KeyEnv != "" {
		to.KeyEnv = []string{p.KeyEnv}
	}
	return to, nil
}

// An ownGateway is what a person configured for messages from elsewhere.
type ownGateway struct {
	Allow    []string             `toml:"allow"` // tools that run without asking
	Telegram *OwnSurface          `toml:"telegram"`
	Discord  *OwnSurface          `toml:"discord"`
	Slack    *OwnSurface          `toml:"slack"`
	Inbox    map[string]ownSource `toml:"inbox"`
}

// An OwnSurface is a place that people write messages from.
type OwnSurface struct {
	Allow []string `toml:"allow"` // who may write
	API   string   `toml:"api"`   // address to use instead of the default
}

// An ownSource is a program that sends signed requests.
type ownSource struct {
	Allow     []string `toml:"allow"`
	SecretEnv string   `toml:"secret_env"`
	Keys      []string `toml:"keys"`
	URL       string   `toml:"url"`
}

// Named returns the configured surfaces by name.
func (o *ownGateway) Named() map[string]*OwnSurface {
	all := map[string]*OwnSurface{"telegram": o.Telegram, "discord": o.Discord, "slack": o.Slack}
	maps.DeleteFunc(all, func(_ string, s *OwnSurface) bool { return s == nil })
	return all
}

// Writers returns who may write on the surface with this name.
func (o *ownGateway) Writers(name string) []string {
	if title, ok := strings.CutPrefix(name, "inbox."); ok {
		if s := o.Inbox[title]; s.Allow != nil {
			return s.Allow
		}
		return []string{"*"} // anyone for whom the program signs
	}
	if s := o.Named()[name]; s != nil {
		return s.Allow
	}
	return nil
}

// showGateway adds the gateway's configuration to the settings.
func (s *Settings) showGateway(file string, g ownGateway) {
	s.Gateway = g
	show := func(name, v string) {
		if v != "" {
			s.Values["gateway."+name] = SettingValue{v, file}
		}
	}
	show("allow", strings.Join(g.Allow, ", "))
	for name, f := range g.Named() {
		show(name+".allow", strings.Join(f.Allow, ", "))
		show(name+".api", f.API)
	}
	for name, f := range g.Inbox {
		show("inbox."+name+".allow", strings.Join(f.Allow, ", "))
		show("inbox."+name+".keys", strings.Join(f.Keys, ", "))
		show("inbox."+name+".secret_env", f.SecretEnv)
		show("inbox."+name+".url", f.URL)
	}
}

// gatewayStrangers reports unknown keys in the table gateway.
func (s *Settings) gatewayStrangers(file string, v any) {
	tables, ok := v.(map[string]any)
	if !ok {
		return
	}
	known := map[string]any{}
	for name, one := range tables {
		switch name {
		case "allow":
		case "telegram", "discord", "slack":
			known[name] = one
		case "inbox":
			s.strangers(file, "gateway.inbox", one, "allow", "secret_env", "keys", "url")
		default:
			s.Unknown = append(s.Unknown, file+": gateway."+name+": unknown setting")
		}
	}
	s.strangers(file, "gateway", known, "allow", "api")
}

// IsSurface reports whether the gateway, or a notice, looks up a secret with this name in
// the key ring.
func IsSurface(name string) bool {
	return slices.Contains([]string{"telegram", "discord", "slack", "slack-app", "smtp"}, name) || strings.HasPrefix(name, "inbox.")
}
