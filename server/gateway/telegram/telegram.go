package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unicode/utf16"

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
	if o.Token == "" {
		return nil, errors.New("the token is empty")
	}
	b := &Bot{token: o.Token, url: cmp.Or(o.URL, usual), log: o.Log, wait: o.Wait}
	b.client = &http.Client{Timeout: patience + 10*time.Second}
	if b.wait == nil {
		b.wait = sleep.For
	}
	return b, nil
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
		case code(err) == http.StatusUnauthorized, code(err) == http.StatusNotFound:
			return fmt.Errorf("the token was refused: %w", err)
		}
		failed = min(failed+1, 6)
		d := time.Second << failed
		if limit := (*gateway.ServiceError)(nil); errors.As(err, &limit) && limit.After > 0 {
			d = limit.After
		}
		b.log.Warn("no updates from telegram; trying again", "err", err, "in", d)
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
	var updates []*botUpdate
	if err := b.call(ctx, "getUpdates", polling{offset, int(patience / time.Second), []string{"message"}}, &updates); err != nil {
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
	var me user
	if err := b.call(ctx, "getMe", struct{}{}, &me); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = cmp.Or(me.Name, strconv.FormatInt(me.ID, 10))
	return nil
}

// A chatTopic is the place in Telegram that an answer goes to.
type chatTopic struct {
	Chat   int64 `json:"chat"`
	Thread int   `json:"thread,omitempty"`
}

// Address returns what [Bot.Send] sends to: a chat, given by its ID. A group's ID is negative.
// An error wraps [skein.ErrInvalid].
func Address(chat string) (to string, err error) {
	id, err := strconv.ParseInt(chat, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%w chat %q: want the ID of a chat, which is a number", skein.ErrInvalid, chat)
	}
	return string(skein.MustJSON(chatTopic{Chat: id})), nil
}

// message returns what a person said; false if an update is something else.
func (b *Bot) message(u *botUpdate) (gateway.Message, bool) {
	m := u.Message
	if m == nil || m.From == nil || m.From.Bot {
		return gateway.Message{}, false
	}
	to, thread := chatTopic{Chat: m.Chat.ID}, ""
	if m.Topic {
		to.Thread, thread = m.Thread, strconv.Itoa(m.Thread)
	}
	from := []string{strconv.FormatInt(m.From.ID, 10)}
	if m.From.Name != "" {
		from = append(from, "@"+m.From.Name)
	}
	chat := strconv.FormatInt(m.Chat.ID, 10)
	return gateway.Message{
		Surface: b.Name(), Key: gateway.Key(b.Name(), b.name, chat, thread), From: from,
		ID: fmt.Sprintf("%s/%s/%d", b.name, chat, m.ID), To: string(skein.MustJSON(to)), Text: cmp.Or(m.Text, m.Caption),
	}, true
}

// Send implements [gateway.Surface].
func (b *Bot) Send(ctx context.Context, to, text string) error {
	var s chatTopic
	if err := json.Unmarshal([]byte(to), &s); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, units) {
		err := b.send(ctx, sendMessage{s.Chat, s.Thread, html(piece), "HTML"})
		if code(err) == http.StatusBadRequest { // Telegram cannot parse our HTML
			err = b.send(ctx, sendMessage{s.Chat, s.Thread, piece, ""})
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
func (b *Bot) send(ctx context.Context, m sendMessage) error {
	for try := 1; ; try++ {
		err := b.call(ctx, "sendMessage", m, nil)
		limit := (*gateway.ServiceError)(nil)
		if !errors.As(err, &limit) || limit.Code != http.StatusTooManyRequests || try == attempts {
			return err
		}
		if err := b.wait(ctx, limit.After); err != nil {
			return err
		}
	}
}

// Working implements [gateway.Worker].
func (b *Bot) Working(ctx context.Context, to string) {
	var s chatTopic
	if json.Unmarshal([]byte(to), &s) == nil {
		b.call(ctx, "sendChatAction", doing{s.Chat, s.Thread, "typing"}, nil) //nolint:errcheck // it is for show
	}
}
