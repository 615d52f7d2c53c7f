package surface

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/discord"
	"github.com/skein-dev/skein/server/gateway/slack"
	"github.com/skein-dev/skein/server/gateway/telegram"
)

// Open returns the chat service with this name: telegram, discord or slack. The service need
// not be one that the gateway answers in. It makes no request; an error says that a token is
// missing or what is wrong with the settings.
func Open(j *job.Job, name string, log *slog.Logger) (gateway.Surface, error) {
	o := j.Settings.Gateway.Named()[name]
	if o == nil {
		o = new(config.OwnSurface)
	}
	switch name {
	case "telegram":
		token, err := Secret(j, name, "TELEGRAM_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		return telegram.New(telegram.Options{Token: token, URL: o.API, Log: log})
	case "discord":
		token, err := Secret(j, name, "DISCORD_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		return discord.New(discord.Options{Token: token, URL: o.API, Seen: filepath.Join(j.Dirs.State, "discord.json"), Log: log})
	case "slack":
		bot, err := Secret(j, name, "SLACK_BOT_TOKEN")
		if err != nil {
			return nil, err
		}
		app, err := Secret(j, "slack-app", "SLACK_APP_TOKEN")
		if err != nil {
			return nil, err
		}
		return slack.New(slack.Options{BotToken: bot, AppToken: app, URL: o.API, Log: log})
	}
	return nil, fault.Usage("gateway.%s: unknown service", name)
}

// Address returns what a message is sent to so that it comes into a chat or channel of the
// service with this name. An error wraps [skein.ErrInvalid].
func Address(service, chat string) (to string, err error) {
	switch service {
	case "telegram":
		return telegram.Address(chat)
	case "discord":
		return discord.Address(chat)
	default:
		return slack.Address(chat)
	}
}

// Secret returns a token or secret from the environment or the key ring. The error
// names the variable of one that is in neither.
func Secret(j *job.Job, name, variable string) (string, error) {
	if v := j.Getenv(variable); v != "" {
		return v, nil
	}
	if secret := j.Secret(); secret != nil {
		if v, err := secret(name); v != "" || err != nil {
			return v, err
		}
	}
	return "", fault.Advise(fmt.Errorf("no secret found for %s", name), "put it into the environment: %s", variable)
}
