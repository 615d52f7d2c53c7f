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
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/gateway"
)

// longest is how many UTF-16 units one message may have.
const longest = 2000

// A Bot is a [gateway.Surface]. Make one with [New].
type Bot struct {
	Options
	to   *url.URL           // base URL of the API; nil is Discord's own
	api  *discordgo.Session // for requests
	seen seen
	me   string // its user ID; set by Run

	mu      sync.Mutex
	arrived []*discordgo.Message // not handled yet, the oldest first
	came    chan struct{}        // holds one element when a message arrived
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
	b := &Bot{Options: o, came: make(chan struct{}, 1)}
	if o.URL != "" {
		if b.to, err = url.Parse(o.URL); err != nil || b.to.Host == "" {
			return nil, fmt.Errorf("%w address %q of the API", skein.ErrInvalid, o.URL)
		}
	}
	if b.seen, err = readSeen(o.Seen); err != nil {
		return nil, err
	}
	b.api, err = b.session()
	return b, err
}

// session returns a session of the library, not yet connected.
func (b *Bot) session() (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + strings.TrimPrefix(b.Token, "Bot "))
	if err != nil {
		return nil, err
	}
	s.Identify.Intents = discordgo.IntentsDirectMessages | discordgo.IntentsGuildMessages
	s.SyncEvents, s.StateEnabled, s.ShouldReconnectOnError = true, false, false
	s.LogLevel = -1
	if b.to != nil {
		s.Client.Transport = elsewhere{b.to}
	}
	return s, nil
}

// elsewhere sends requests to another host than Discord's, whose URLs are
// variables of the library.
type elsewhere struct{ to *url.URL }

// RoundTrip implements [http.RoundTripper].
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = e.to.Scheme, e.to.Host, e.to.Host
	return http.DefaultTransport.RoundTrip(r)
}

// Name implements [gateway.Surface].
func (b *Bot) Name() string { return "discord" }

// Run implements [gateway.Surface].
func (b *Bot) Run(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	var f *feed
	for failed := 0; ctx.Err() == nil; {
		if f == nil {
			api, err := b.session()
			if err != nil {
				return err
			}
			f = newFeed(api, b.keep)
		}
		err := b.serve(ctx, f, take)
		if errors.Is(err, errStuck) {
			f = nil
		} else {
			err = errors.Join(err, f.close())
		}
		if refused(err) {
			return fmt.Errorf("the bot was refused: %w", err)
		}
		if err == nil {
			failed = 0
		}
		d := time.Second << failed
		failed = min(failed+1, 6)
		if ctx.Err() == nil {
			b.Log.Warn("discord is not there; it is tried again", "err", err, "in", d)
			b.Wait(ctx, d) //nolint:errcheck // ctx has ended
		}
	}
	if err := b.takeArrived(ctx, take); err != nil {
		b.Log.Error("a message that came was not taken", "err", err)
	}
	return nil
}

// keep keeps a message until it is handled.
func (b *Bot) keep(m *discordgo.Message) {
	b.mu.Lock()
	b.arrived = append(b.arrived, m)
	b.mu.Unlock()
	ring(b.came)
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
func (b *Bot) serve(ctx context.Context, f *feed, take func(context.Context, gateway.Message) error) error {
	if b.me == "" {
		me, err := b.api.User("@me", discordgo.WithContext(ctx))
		if err != nil {
			return err
		}
		b.me = me.ID
	}
	if err := b.takeArrived(ctx, take); err != nil {
		return err
	}
	if err := f.open(ctx, b.Wait); err != nil {
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
		case <-f.broke:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp handles the messages of a channel that came after another one.
func (b *Bot) catchUp(ctx context.Context, channel, last string, take func(context.Context, gateway.Message) error) error {
	for {
		all, err := b.api.ChannelMessages(channel, 100, "", last, "", discordgo.WithContext(ctx))
		if rest := (*discordgo.RESTError)(nil); errors.As(err, &rest) && rest.Response.StatusCode/100 == 4 {
			b.Log.Warn("a channel cannot be read any more", "channel", channel, "err", err)
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

// refused reports whether trying again is useless.
func refused(err error) bool {
	if rest := (*discordgo.RESTError)(nil); errors.As(err, &rest) {
		return rest.Response.StatusCode == http.StatusUnauthorized
	}
	if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) {
		return closed.Code == 4004 || closed.Code >= 4010 && closed.Code <= 4014
	}
	return errors.Is(err, discordgo.ErrUnauthorized)
}

// take passes on what a person said to the bot.
func (b *Bot) take(ctx context.Context, m *discordgo.Message, take func(context.Context, gateway.Message) error) error {
	direct := m.GuildID == "" && !b.seen.guild(m.ChannelID)
	mentioned := slices.ContainsFunc(m.Mentions, func(u *discordgo.User) bool { return u.ID == b.me })
	if m.Author == nil || m.Author.Bot || !direct && !mentioned || m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return nil
	}
	text := strings.NewReplacer("<@"+b.me+">", "", "<@!"+b.me+">", "").Replace(m.Content)
	err := take(ctx, gateway.Message{
		Surface: b.Name(), Key: gateway.Key(b.Name(), m.ChannelID), ID: m.ID, From: []string{m.Author.ID, "@" + m.Author.Username},
		To: string(skein.MustJSON(m.ChannelID)), Text: strings.TrimSpace(text),
	})
	if err != nil {
		return err
	}
	return b.seen.put(m.ChannelID, m.ID, direct)
}

// Send implements [gateway.Surface].
func (b *Bot) Send(ctx context.Context, to, text string) error {
	var channel string
	if err := json.Unmarshal([]byte(to), &channel); err != nil {
		return err
	}
	for _, piece := range gateway.Split(text, longest, units) {
		m := discordgo.MessageSend{Content: piece, AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}, Flags: discordgo.MessageFlagsSuppressEmbeds}
		if _, err := b.api.ChannelMessageSendComplex(channel, &m, discordgo.WithContext(ctx)); err != nil {
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
		b.api.ChannelTyping(channel, discordgo.WithContext(ctx)) //nolint:errcheck // it is for show
	}
}
