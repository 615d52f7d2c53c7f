package cli

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/discord"
	"github.com/skein-dev/skein/server/gateway/slack"
	"github.com/skein-dev/skein/server/gateway/telegram"
	"github.com/skein-dev/skein/server/gateway/webhook"
)

// An ownGateway is what a person configured for messages from elsewhere.
type ownGateway struct {
	Allow    []string             `toml:"allow"` // tools that run without asking
	Telegram *ownSurface          `toml:"telegram"`
	Discord  *ownSurface          `toml:"discord"`
	Slack    *ownSurface          `toml:"slack"`
	Inbox    map[string]ownSource `toml:"inbox"`
}

// An ownSurface is a place that people write messages from.
type ownSurface struct {
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

// named returns the configured surfaces by name.
func (o *ownGateway) named() map[string]*ownSurface {
	all := map[string]*ownSurface{"telegram": o.Telegram, "discord": o.Discord, "slack": o.Slack}
	maps.DeleteFunc(all, func(_ string, s *ownSurface) bool { return s == nil })
	return all
}

// writers returns who may write on the surface with this name.
func (o *ownGateway) writers(name string) []string {
	if title, ok := strings.CutPrefix(name, "inbox."); ok {
		if s := o.Inbox[title]; s.Allow != nil {
			return s.Allow
		}
		return []string{"*"} // anyone for whom the program signs
	}
	if s := o.named()[name]; s != nil {
		return s.Allow
	}
	return nil
}

// showGateway adds the gateway's configuration to the settings.
func (s *settings) showGateway(file string, g ownGateway) {
	s.gateway = g
	show := func(name, v string) {
		if v != "" {
			s.values["gateway."+name] = value{v, file}
		}
	}
	show("allow", strings.Join(g.Allow, ", "))
	for name, f := range g.named() {
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
func (s *settings) gatewayStrangers(file string, v any) {
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
			s.unknown = append(s.unknown, file+": gateway."+name+": nothing has this name")
		}
	}
	s.strangers(file, "gateway", known, "allow", "api")
}

// surfaces returns the configured surfaces, and those of them that receive signed
// requests.
func (j *job) surfaces(log *slog.Logger) (all []gateway.Surface, sources []*webhook.Source, err error) {
	for _, name := range slices.Sorted(maps.Keys(j.settings.gateway.named())) {
		s, err := j.surface(name, j.settings.gateway.named()[name], log)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, s)
	}
	for _, name := range slices.Sorted(maps.Keys(j.settings.gateway.Inbox)) {
		o := j.settings.gateway.Inbox[name]
		if o.SecretEnv == "" {
			return nil, nil, usagef("gateway.inbox.%s: want secret_env, the variable that its secret is in", name)
		}
		secret, err := j.surfaceSecret("inbox."+name, o.SecretEnv)
		if err != nil {
			return nil, nil, err
		}
		s := &webhook.Source{Title: name, Secret: []byte(secret), Keys: o.Keys, URL: o.URL}
		if err := s.Check(); err != nil {
			return nil, nil, advise(usagef("gateway.inbox.%s: %v", name, err), "see: skein gateway --help")
		}
		all, sources = append(all, s), append(sources, s)
	}
	return all, sources, nil
}

// surface makes the surface with this name.
func (j *job) surface(name string, o *ownSurface, log *slog.Logger) (gateway.Surface, error) {
	switch name {
	case "telegram":
		token, err := j.surfaceSecret(name, "TELEGRAM_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		return telegram.New(telegram.Options{Token: token, URL: o.API, Log: log})
	case "discord":
		token, err := j.surfaceSecret(name, "DISCORD_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		return discord.New(discord.Options{Token: token, URL: o.API, Seen: filepath.Join(j.dirs.State, "discord.json"), Log: log})
	case "slack":
		bot, err := j.surfaceSecret(name, "SLACK_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		app, err := j.surfaceSecret("slack-app", "SLACK_APP_TOKEN")
		if err != nil {
			return nil, err
		}
		return slack.New(slack.Options{BotToken: bot, AppToken: app, URL: o.API, Log: log})
	}
	return nil, usagef("gateway.%s: it is not known here", name)
}

// surfaceSecret returns a token or secret from the environment or the key ring.
func (j *job) surfaceSecret(name, variable string) (string, error) {
	if v := j.Getenv(variable); v != "" {
		return v, nil
	}
	if secret := j.secret(); secret != nil {
		if v, err := secret(name); v != "" || err != nil {
			return v, err
		}
	}
	return "", advise(fmt.Errorf("gateway.%s: there is no secret for it", name), "put it into the environment: %s", variable)
}

// isSurface reports whether the gateway looks up a secret with this name in the key
// ring.
func isSurface(name string) bool {
	return slices.Contains([]string{"telegram", "discord", "slack", "slack-app"}, name) || strings.HasPrefix(name, "inbox.")
}
