package config

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/skein-dev/skein/cli/fault"
)

// OwnNotify is what a person wants to be told while they look elsewhere, and how.
type OwnNotify struct {
	About     []string `toml:"about"`      // of waiting, failed, done and budget; empty for all
	DoneAfter int      `toml:"done_after"` // minutes that a turn must have taken
	Desktop   bool     `toml:"desktop"`
	Webhook   string   `toml:"webhook"`
	SecretEnv string   `toml:"secret_env"` // variable with the secret that signs what the webhook gets
	Ntfy      string   `toml:"ntfy"`       // address with the topic
	Telegram  string   `toml:"telegram"`   // ID of a chat; the tokens are the gateway's
	Discord   string   `toml:"discord"`    // ID of a channel
	Slack     string   `toml:"slack"`      // ID of a channel or person
	Email     string   `toml:"email"`      // who gets e-mail
	SMTP      string   `toml:"smtp"`       // smtps://USER@SERVER, or smtp: for STARTTLS
}

// notices are what notices can be about.
var notices = []string{"waiting", "failed", "done", "budget"}

// Wants reports whether the person wants notices about something.
func (o *OwnNotify) Wants(about string) bool {
	return len(o.About) == 0 || slices.Contains(o.About, about)
}

// readNotify takes the notices of a file over.
func (s *Settings) readNotify(file string, o OwnNotify) error {
	bad := func(format string, args ...any) error {
		return fault.Advise(fmt.Errorf("%s: notify.%s", file, fmt.Sprintf(format, args...)), "correct it; see the settings: skein help config")
	}
	for _, a := range o.About {
		if !slices.Contains(notices, a) {
			return bad("about: %q: want some of %s", a, strings.Join(notices, ", "))
		}
	}
	if o.DoneAfter < 0 {
		return bad("done_after: %d: want 0 or more minutes", o.DoneAfter)
	}
	for name, address := range map[string]string{"webhook": o.Webhook, "ntfy": o.Ntfy} {
		if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return bad("%s: want an address that begins with https://", name)
		}
		if address != "" {
			s.Values["notify."+name] = SettingValue{"set", file} // the address may be a secret
		}
	}
	if o.Email != "" || o.SMTP != "" {
		if _, err := mail.ParseAddress(o.Email); err != nil {
			return bad("email: want an address, such as ada@example.org")
		}
		if u, err := url.Parse(o.SMTP); err != nil || u.Hostname() == "" || u.Scheme != "smtps" && u.Scheme != "smtp" {
			return bad("smtp: want a mail server, such as smtps://ada@mail.example.org")
		} else if _, has := u.User.Password(); has {
			return bad("smtp: put the password into the environment, as SMTP_PASSWORD")
		}
	}
	for name, to := range map[string]string{"telegram": o.Telegram, "discord": o.Discord, "slack": o.Slack, "email": o.Email} {
		if to != "" {
			s.Values["notify."+name] = SettingValue{to, file}
		}
	}
	if o.Desktop {
		s.Values["notify.desktop"] = SettingValue{"true", file}
	}
	s.Notify = o
	return nil
}
