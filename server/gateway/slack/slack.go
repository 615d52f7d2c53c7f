package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/gateway"
)

// Bounds of what is sent.
const (
	longest  = 12_000 // bytes of one message
	attempts = 5      // of one message that is limited
)

// An App is a [gateway.Surface]. Make one with [New].
type App struct {
	api  *slack.Client
	log  *slog.Logger
	wait func(ctx context.Context, d time.Duration) error
}

// Options are what an App is made of.
type Options struct {
	BotToken string // xoxb-…
	AppToken string // xapp-…, for socket mode
	URL      string // of the API, with a slash at its end; "" is Slack's own
	Log      *slog.Logger
	Wait     func(ctx context.Context, d time.Duration) error // until a limit is over; nil waits
}

// New returns an App. It makes no request. The error wraps [skein.ErrInvalid]
// if a token is none.
func New(o Options) (*App, error) {
	if !strings.HasPrefix(o.BotToken, "xoxb-") || !strings.HasPrefix(o.AppToken, "xapp-") {
		return nil, fmt.Errorf("%w slack token: the bot's begins with xoxb-, the app's with xapp-", skein.ErrInvalid)
	}
	a := &App{log: o.Log, wait: o.Wait}
	if a.wait == nil {
		a.wait = sleep.For
	}
	url := cmp.Or(o.URL, slack.APIURL)
	if !strings.HasSuffix(url, "/") {
		url += "/"
	}
	a.api = slack.New(o.BotToken, slack.OptionAppLevelToken(o.AppToken), slack.OptionAPIURL(url))
	return a, nil
}

// Name implements [gateway.Surface].
func (a *App) Name() string { return "slack" }

// Run implements [gateway.Surface].
func (a *App) Run(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	for failed := 0; ctx.Err() == nil; failed = min(failed+1, 6) {
		err := a.connected(ctx, take)
		if refused(err) && ctx.Err() == nil {
			return fmt.Errorf("a token was refused: %w", err)
		}
		d := time.Second << failed
		a.log.Warn("slack is not there; it is tried again", "err", err, "in", d)
		if a.wait(ctx, d) != nil {
			break // ctx has ended
		}
	}
	return nil //nolint:nilerr // it ends because ctx does
}

// refused reports whether trying again is of no use.
func refused(err error) bool {
	for _, word := range []string{"invalid_auth", "account_inactive", "not_authed", "token_revoked", "not_allowed_token_type", "missing_scope"} {
		if err != nil && strings.Contains(err.Error(), word) {
			return true
		}
	}
	return false
}

// connected takes in events until the connection, and those that follow it, are
// at their end.
func (a *App) connected(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	me, err := a.api.AuthTestContext(ctx)
	if err != nil {
		return err
	}
	c := socketmode.New(a.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	ended := make(chan error, 1)
	running.Go(func() { ended <- c.RunContext(ctx) })
	for {
		select {
		case err := <-ended:
			return err
		case e := <-c.Events:
			if e.Request == nil || e.Request.EnvelopeID == "" {
				continue
			}
			m, ok := message(e, me.UserID)
			if ok {
				if err := take(ctx, m); err != nil {
					a.log.Error("a message was not taken; slack sends it again", "err", err)
					continue
				}
			}
			if err := c.AckCtx(ctx, e.Request.EnvelopeID, nil); err != nil {
				a.log.Warn("slack was not told that a message arrived; it sends it again", "err", err)
			}
		}
	}
}

// A spot is where an answer goes.
type spot struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
}

// message returns what a person said to the app, whose user is me; false if an
// event is none of that.
func message(e socketmode.Event, me string) (gateway.Message, bool) {
	switch d := e.Data.(type) {
	case slack.SlashCommand:
		text := d.Command + " " + d.Text
		if d.Command == "/skein" {
			text = "/" + strings.TrimPrefix(d.Text, "/")
		}
		return said(d.ChannelID, "", d.TriggerID, d.UserID, text, me), true
	case slackevents.EventsAPIEvent:
		switch m := d.InnerEvent.Data.(type) {
		case *slackevents.AppMentionEvent:
			return said(m.Channel, m.ThreadTimeStamp, m.TimeStamp, m.User, m.Text, me), m.BotID == "" && m.User != ""
		case *slackevents.MessageEvent:
			typed := m.SubType == "" || m.SubType == "file_share"
			return said(m.Channel, m.ThreadTimeStamp, m.TimeStamp, m.User, m.Text, me), m.ChannelType == "im" && typed && m.BotID == "" && m.User != "" && m.User != me
		}
	}
	return gateway.Message{}, false
}

func said(channel, thread, id, user, text, me string) gateway.Message {
	return gateway.Message{
		Surface: "slack", Key: gateway.Key("slack", channel, thread), ID: channel + "/" + id, From: []string{user},
		To: string(skein.MustJSON(spot{channel, thread})), Text: plain(text, me),
	}
}

// plain returns text without the mention of the app and Slack's escapes.
func plain(text, me string) string {
	text = strings.ReplaceAll(text, "<@"+me+">", "")
	return strings.TrimSpace(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text))
}

// Send implements [gateway.Surface].
func (a *App) Send(ctx context.Context, to, text string) error {
	var s spot
	if err := json.Unmarshal([]byte(to), &s); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, func(s string) int { return len(s) }) {
		o := []slack.MsgOption{slack.MsgOptionMarkdownText(piece), slack.MsgOptionDisableLinkUnfurl()}
		if s.Thread != "" {
			o = append(o, slack.MsgOptionTS(s.Thread))
		}
		if err := a.post(ctx, s.Channel, o); err != nil {
			return err
		}
	}
	return nil
}

// post sends one message, after the limits that Slack names.
func (a *App) post(ctx context.Context, channel string, o []slack.MsgOption) error {
	for try := 1; ; try++ {
		_, _, err := a.api.PostMessageContext(ctx, channel, o...)
		limit := (*slack.RateLimitedError)(nil)
		if !errors.As(err, &limit) || try == attempts {
			return err
		}
		if err := a.wait(ctx, limit.RetryAfter); err != nil {
			return err
		}
	}
}
