package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/gateway"
)

// longest is how many UTF-16 units one message may have.
const longest = 2000

// A Bot is a [gateway.Surface]. Make one with [New].
type Bot struct {
	Options
	base   string // of the API: scheme and host
	token  string // without "Bot "
	client *http.Client
	seen   seen
	me     string // its user ID; set by Run

	mu      sync.Mutex
	arrived []*message    // not handled yet, the oldest first
	came    chan struct{} // holds one element when a message arrived
}

// Options are the settings of a Bot.
type Options struct {
	Token string
	URL   string // of the API: scheme and host; "" is Discord's own
	Seen  string // file with the last message of each channel
	Log   *slog.Logger

	// Wait waits between two connections, and for one to open; nil is the
	// default.
	Wait func(ctx context.Context, d time.Duration) error
}

// New returns a Bot. It makes no request. The error says what is wrong with the
// URL, or is the disk's.
func New(o Options) (_ *Bot, err error) {
	defer skein.Wrapf(&err, "discord")
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	b := &Bot{
		Options: o, base: usual, token: strings.TrimPrefix(o.Token, "Bot "),
		client: &http.Client{Timeout: 30 * time.Second}, came: make(chan struct{}, 1),
	}
	if o.URL != "" {
		to, err := url.Parse(o.URL)
		if err != nil || to.Host == "" {
			return nil, fmt.Errorf("%w address %q of the API", skein.ErrInvalid, o.URL)
		}
		b.base = to.Scheme + "://" + to.Host
	}
	b.seen, err = readSeen(o.Seen)
	return b, err
}

// Name implements [gateway.Surface].
func (b *Bot) Name() string { return "discord" }

// Run implements [gateway.Surface].
func (b *Bot) Run(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	defer b.client.CloseIdleConnections()
	f := &gatewaySession{bot: b}
	for failed := 0; ctx.Err() == nil; {
		err := b.serve(ctx, f, take)
		if err == nil { // there was a connection
			failed = 0
		}
		err = errors.Join(err, f.close())
		if refused(err) {
			return fmt.Errorf("the bot was refused: %w", err)
		}
		d := time.Second << failed
		failed = min(failed+1, 6)
		if ctx.Err() == nil {
			b.Log.Warn("discord cannot be reached; trying again", "err", err, "in", d)
			b.Wait(ctx, d) //nolint:errcheck // ctx has ended
		}
	}
	if err := b.takeArrived(ctx, take); err != nil {
		b.Log.Error("a message that arrived was not stored", "err", err)
	}
	return nil
}

// keep keeps a message until it is handled.
func (b *Bot) keep(m *message) {
	b.mu.Lock()
	b.arrived = append(b.arrived, m)
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

// takeArrived handles all kept messages. Those that fail stay.
func (b *Bot) takeArrived(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	for {
		b.mu.Lock()
		all := b.arrived
		b.mu.Unlock()
		if len(all) == 0 {
			return nil
		}
		if err := b.take(ctx, all[0], take); err != nil {
			return err
		}
		b.mu.Lock()
		b.arrived = b.arrived[1:]
		b.mu.Unlock()
	}
}

// serve connects, handles what came before and then what comes, until the
// connection breaks, a message cannot be handled or ctx ends.
func (b *Bot) serve(ctx context.Context, f *gatewaySession, take func(context.Context, gateway.Message) error) error {
	if b.me == "" {
		var me user
		if err := b.call(ctx, http.MethodGet, "/users/@me", nil, &me); err != nil {
			return err
		}
		b.me = me.ID
	}
	if err := b.takeArrived(ctx, take); err != nil {
		return err
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	for channel, last := range b.seen.all() {
		if err := b.catchUp(ctx, channel, last, take); err != nil {
			return err
		}
	}
	for {
		if err := b.takeArrived(ctx, take); err != nil {
			return err
		}
		select {
		case <-b.came:
		case err := <-f.broke:
			f.broke <- err // for close
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp handles the messages of a channel that came after another one.
func (b *Bot) catchUp(ctx context.Context, channel, last string, take func(context.Context, gateway.Message) error) error {
	for {
		var all []*message
		err := b.call(ctx, http.MethodGet, "/channels/"+channel+"/messages?limit=100&after="+last, nil, &all)
		if r := (*gateway.ServiceError)(nil); errors.As(err, &r) && r.Code/100 == 4 {
			b.Log.Warn("a channel can no longer be read", "channel", channel, "err", err)
			return nil
		}
		if err != nil || len(all) == 0 {
			return err
		}
		for _, m := range slices.Backward(all) { // the newest comes first
			if err := b.take(ctx, m, take); err != nil {
				return err
			}
			last = m.ID
		}
	}
}

// take passes on what a person said to the bot.
func (b *Bot) take(ctx context.Context, m *message, take func(context.Context, gateway.Message) error) error {
	direct := m.Guild == "" && !b.seen.guild(m.Channel)
	mentioned := slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == b.me })
	if m.Author == nil || m.Author.Bot || !direct && !mentioned || m.Type != typeDefault && m.Type != typeReply {
		return nil
	}
	text := strings.NewReplacer("<@"+b.me+">", "", "<@!"+b.me+">", "").Replace(m.Text)
	err := take(ctx, gateway.Message{
		Surface: b.Name(), Key: gateway.Key(b.Name(), m.Channel), ID: m.ID, From: []string{m.Author.ID, "@" + m.Author.Name},
		To: string(skein.MustJSON(m.Channel)), Text: strings.TrimSpace(text),
	})
	if err != nil {
		return err
	}
	return b.seen.put(m.Channel, m.ID, direct)
}

// Address returns what [Bot.Send] sends to: a channel, given by its ID.
// An error wraps [skein.ErrInvalid].
func Address(channel string) (to string, err error) {
	if _, err := strconv.ParseUint(channel, 10, 64); err != nil {
		return "", fmt.Errorf("%w channel %q: want the ID of a channel, which is a number", skein.ErrInvalid, channel)
	}
	return string(skein.MustJSON(channel)), nil
}

// Send implements [gateway.Surface].
func (b *Bot) Send(ctx context.Context, to, text string) error {
	var channel string
	if err := json.Unmarshal([]byte(to), &channel); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, units) {
		m := createMessage{piece, mentions{Parse: []string{}}, suppressEmbeds}
		if err := b.call(ctx, http.MethodPost, "/channels/"+channel+"/messages", m, nil); err != nil {
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

// Working implements [gateway.Worker].
func (b *Bot) Working(ctx context.Context, to string) {
	var channel string
	if json.Unmarshal([]byte(to), &channel) == nil {
		b.call(ctx, http.MethodPost, "/channels/"+channel+"/typing", nil, nil) //nolint:errcheck // it is for show
	}
}
