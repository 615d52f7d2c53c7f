package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/gateway"
)

// Bounds of messages and polls.
const (
	longest  = 4096             // UTF-16 units of one message
	patience = 50 * time.Second // for a poll to wait for an update
	usual    = "https://api.telegram.org"
	attempts = 5 // of one message that is rate-limited
)

// A Bot is a [gateway.Surface]. Make one with [New].
type Bot struct {
	token, url string
	log        *slog.Logger
	client     *http.Client
	wait       func(ctx context.Context, d time.Duration) error
	api        *bot.Bot

	mu   sync.Mutex
	name string // "" until it is known
}

// Options are the settings of a Bot.
type Options struct {
	Token string
	URL   string // of the API; "" is Telegram's own
	Log   *slog.Logger
	Wait  func(ctx context.Context, d time.Duration) error // for the end of a rate limit; nil sleeps
}

// New returns a Bot. It makes no request. The error says what is wrong with the
// token.
func New(o Options) (*Bot, error) {
	b := &Bot{token: o.Token, url: cmp.Or(o.URL, usual), log: o.Log, wait: o.Wait}
	b.client = &http.Client{Timeout: patience + 10*time.Second}
	if b.wait == nil {
		b.wait = sleep.For
	}
	var err error
	b.api, err = bot.New(o.Token, bot.WithSkipGetMe(), bot.WithServerURL(b.url), bot.WithHTTPClient(patience, b.client),
		bot.WithErrorsHandler(func(err error) { o.Log.Warn("telegram", "err", b.safe(err)) }))
	return b, b.safe(err)
}

// Name implements [gateway.Surface].
func (b *Bot) Name() string { return "telegram" }

// Run implements [gateway.Surface].
func (b *Bot) Run(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	defer b.client.CloseIdleConnections()
	offset, failed := int64(0), 0
	for ctx.Err() == nil {
		next, err := b.poll(ctx, offset, take)
		offset = next
		switch {
		case err == nil:
			failed = 0
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, bot.ErrorUnauthorized), errors.Is(err, bot.ErrorNotFound):
			return fmt.Errorf("the token was refused: %w", err)
		}
		failed = min(failed+1, 6)
		d := time.Second << failed
		if limit := (*bot.TooManyRequestsError)(nil); errors.As(err, &limit) {
			d = time.Duration(limit.RetryAfter) * time.Second
		}
		b.log.Warn("no updates from telegram; it is asked again", "err", err, "in", d)
		if b.wait(ctx, d) != nil {
			return nil
		}
	}
	return nil
}

// poll handles the updates from offset on, and returns the offset that confirms
// the handled ones.
func (b *Bot) poll(ctx context.Context, offset int64, take func(context.Context, gateway.Message) error) (int64, error) {
	if err := b.know(ctx); err != nil {
		return offset, err
	}
	updates, err := b.updates(ctx, offset)
	if err != nil {
		return offset, err
	}
	for _, u := range updates {
		if m, ok := b.message(u); ok {
			if err := take(ctx, m); err != nil {
				return offset, err
			}
		}
		offset = u.ID + 1
	}
	return offset, nil
}

// know asks for the bot's own name, once.
func (b *Bot) know(ctx context.Context) error {
	b.mu.Lock()
	known := b.name != ""
	b.mu.Unlock()
	if known {
		return nil
	}
	me, err := b.api.GetMe(ctx)
	if err != nil {
		return b.safe(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = cmp.Or(me.Username, strconv.FormatInt(me.ID, 10))
	return nil
}

// A spot is where an answer goes.
type spot struct {
	Chat   int64 `json:"chat"`
	Thread int   `json:"thread,omitempty"`
}

// message returns what a person said; false if an update is something else.
func (b *Bot) message(u *models.Update) (gateway.Message, bool) {
	m := u.Message
	if m == nil || m.From == nil || m.From.IsBot {
		return gateway.Message{}, false
	}
	to, thread := spot{Chat: m.Chat.ID}, ""
	if m.IsTopicMessage {
		to.Thread, thread = m.MessageThreadID, strconv.Itoa(m.MessageThreadID)
	}
	from := []string{strconv.FormatInt(m.From.ID, 10)}
	if m.From.Username != "" {
		from = append(from, "@"+m.From.Username)
	}
	chat := strconv.FormatInt(m.Chat.ID, 10)
	return gateway.Message{
		Surface: b.Name(), Key: gateway.Key(b.Name(), b.name, chat, thread), From: from,
		ID: fmt.Sprintf("%s/%s/%d", b.name, chat, m.ID), To: string(skein.MustJSON(to)), Text: cmp.Or(m.Text, m.Caption),
	}, true
}

// Send implements [gateway.Surface].
func (b *Bot) Send(ctx context.Context, to, text string) error {
	var s spot
	if err := json.Unmarshal([]byte(to), &s); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, units) {
		p := &bot.SendMessageParams{ChatID: s.Chat, MessageThreadID: s.Thread, Text: html(piece), ParseMode: models.ParseModeHTML}
		err := b.send(ctx, p)
		if errors.Is(err, bot.ErrorBadRequest) { // Telegram cannot parse our HTML
			p.Text, p.ParseMode = piece, ""
			err = b.send(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func units(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// send sends one message, waiting for Telegram's rate limits.
func (b *Bot) send(ctx context.Context, p *bot.SendMessageParams) error {
	for try := 1; ; try++ {
		_, err := b.api.SendMessage(ctx, p)
		limit := (*bot.TooManyRequestsError)(nil)
		if !errors.As(err, &limit) || try == attempts {
			return b.safe(err)
		}
		if err := b.wait(ctx, time.Duration(limit.RetryAfter)*time.Second); err != nil {
			return err
		}
	}
}

// Working implements [gateway.Worker].
func (b *Bot) Working(ctx context.Context, to string) {
	var s spot
	if json.Unmarshal([]byte(to), &s) == nil {
		p := bot.SendChatActionParams{ChatID: s.Chat, MessageThreadID: s.Thread, Action: models.ChatActionTyping}
		b.api.SendChatAction(ctx, &p) //nolint:errcheck // it is for show
	}
}

// safe returns err without the URL of the request: the token is in it.
func (b *Bot) safe(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
