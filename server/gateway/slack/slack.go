package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/gateway"
)

// Bounds of what is sent.
const (
	longest  = 12_000 // bytes of one message
	attempts = 5      // of one message that is rate-limited
)

// An App is a [gateway.Surface]. Make one with [New].
type App struct {
	botToken, appToken string
	url                string // of the API, ending with a slash
	log                *slog.Logger
	wait               func(ctx context.Context, d time.Duration) error
}

// Options are the settings of an App.
type Options struct {
	BotToken string // xoxb-…
	AppToken string // xapp-…, for socket mode
	URL      string // of the API, ending with a slash; "" is Slack's own
	Log      *slog.Logger
	Wait     func(ctx context.Context, d time.Duration) error // for the end of a rate limit; nil sleeps
}

// New returns an App. It makes no request. The error wraps [skein.ErrInvalid]
// if a token is not valid.
func New(o Options) (*App, error) {
	if !strings.HasPrefix(o.BotToken, "xoxb-") || !strings.HasPrefix(o.AppToken, "xapp-") {
		return nil, fmt.Errorf("%w slack token: a bot token begins with xoxb-, an app token with xapp-", skein.ErrInvalid)
	}
	a := &App{botToken: o.BotToken, appToken: o.AppToken, log: o.Log, wait: o.Wait}
	if a.wait == nil {
		a.wait = sleep.For
	}
	a.url = strings.TrimSuffix(cmp.Or(o.URL, "https://slack.com/api/"), "/") + "/"
	return a, nil
}

// Name implements [gateway.Surface].
func (a *App) Name() string { return "slack" }

// Run implements [gateway.Surface].
func (a *App) Run(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	failed := 0
	for ctx.Err() == nil {
		greeted, err := a.connected(ctx, take)
		if greeted {
			failed = 0
			if errors.Is(err, errRenew) {
				continue
			}
		}
		if refused(err) && ctx.Err() == nil {
			return fmt.Errorf("a token was refused: %w", err)
		}
		d := time.Second << failed
		if limit := (limited{}); errors.As(err, &limit) {
			d = max(d, limit.after)
		}
		failed = min(failed+1, 6)
		a.log.Warn("slack cannot be reached; trying again", "err", err, "in", d)
		if a.wait(ctx, d) != nil {
			break // ctx has ended
		}
	}
	return nil //nolint:nilerr // it ends because ctx does
}

// refused reports whether trying again is useless.
func refused(err error) bool {
	for _, word := range []string{"invalid_auth", "account_inactive", "not_authed", "token_revoked", "not_allowed_token_type", "missing_scope"} {
		if err != nil && strings.Contains(err.Error(), word) {
			return true
		}
	}
	return false
}

// connected handles events until the connection ends, and reports whether Slack
// sent anything over it.
func (a *App) connected(ctx context.Context, take func(context.Context, gateway.Message) error) (greeted bool, err error) {
	var me struct {
		UserID string `json:"user_id"`
	}
	if err := a.call(ctx, "auth.test", a.botToken, nil, &me); err != nil {
		return false, err
	}
	ctx, stop := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stop()
	s, err := a.connect(ctx)
	if err != nil {
		return false, err
	}
	defer s.conn.Close() //nolint:errcheck // it is over either way
	reading.Go(func() { s.read(ctx) })
	for f := range s.frames {
		greeted = true
		if f.Envelope == "" {
			continue
		}
		if m, ok := message(f, me.UserID); ok {
			if err := take(ctx, m); err != nil {
				a.log.Error("a message was not stored; slack will send it again", "err", err)
				continue
			}
		}
		if err := s.acknowledge(f); err != nil {
			a.log.Warn("slack did not get the acknowledgment of a message; it will send the message again", "err", err)
		}
	}
	return greeted, s.err
}

// A channelThread is the place in Slack that an answer goes to.
type channelThread struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
}

// An event is the payload of a frame of type events_api or slash_commands.
type event struct {
	Event struct {
		Type        string `json:"type"`
		SubType     string `json:"subtype"`
		ChannelType string `json:"channel_type"`
		Channel     string `json:"channel"`
		Thread      string `json:"thread_ts"`
		Time        string `json:"ts"`
		User        string `json:"user"`
		Bot         string `json:"bot_id"`
		Text        string `json:"text"`
	} `json:"event"`

	Command string `json:"command"`
	Text    string `json:"text"`
	Channel string `json:"channel_id"`
	User    string `json:"user_id"`
	Trigger string `json:"trigger_id"`
}

// message returns what a person said to the app, whose user is me; false if the
// frame contains no such message.
func message(f envelope, me string) (gateway.Message, bool) {
	var e event
	if f.Type != "slash_commands" && f.Type != "events_api" || json.Unmarshal(f.Payload, &e) != nil {
		return gateway.Message{}, false
	}
	if f.Type == "slash_commands" {
		text := e.Command + " " + e.Text
		if e.Command == "/skein" {
			text = "/" + strings.TrimPrefix(e.Text, "/")
		}
		return said(e.Channel, "", e.Trigger, e.User, text, me), true
	}
	m := e.Event
	typed := m.SubType == "" || m.SubType == "file_share"
	toUs := m.Type == "app_mention" || m.Type == "message" && m.ChannelType == "im" && typed && m.User != me
	return said(m.Channel, m.Thread, m.Time, m.User, m.Text, me), toUs && m.Bot == "" && m.User != ""
}

func said(channel, thread, id, user, text, me string) gateway.Message {
	return gateway.Message{
		Surface: "slack", Key: gateway.Key("slack", channel, thread), ID: channel + "/" + id, From: []string{user},
		To: string(skein.MustJSON(channelThread{channel, thread})), Text: plain(text, me),
	}
}

// plain returns text without mentions of the app, and with Slack's escapes
// undone.
func plain(text, me string) string {
	text = strings.ReplaceAll(text, "<@"+me+">", "")
	return strings.TrimSpace(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text))
}

// Address returns what [App.Send] sends to: a channel or a person, given by the ID.
// An error wraps [skein.ErrInvalid].
func Address(channel string) (to string, err error) {
	if strings.Trim(channel, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" || !strings.ContainsRune("CDGUW", rune((channel + " ")[0])) {
		return "", fmt.Errorf("%w channel %q: want the ID of a channel or person, such as C024BE91L", skein.ErrInvalid, channel)
	}
	return string(skein.MustJSON(channelThread{Channel: channel})), nil
}

// Send implements [gateway.Surface].
func (a *App) Send(ctx context.Context, to, text string) error {
	var s channelThread
	if err := json.Unmarshal([]byte(to), &s); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, func(s string) int { return len(s) }) {
		v := url.Values{"channel": {s.Channel}, "markdown_text": {piece}, "unfurl_links": {"false"}}
		if s.Thread != "" {
			v.Set("thread_ts", s.Thread)
		}
		if err := a.post(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// post sends one message, waiting for Slack's rate limits.
func (a *App) post(ctx context.Context, message url.Values) error {
	for try := 1; ; try++ {
		err := a.call(ctx, "chat.postMessage", a.botToken, message, &struct{}{})
		limit := limited{}
		if !errors.As(err, &limit) || try == attempts {
			return err
		}
		if err := a.wait(ctx, limit.after); err != nil {
			return err
		}
	}
}
