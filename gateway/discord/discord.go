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
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/gateway"
	"github.com/skein-dev/skein/internal/sleep"
)

// longest is how many UTF-16 units one message may have.
const longest = 2000

// A Bot is a [gateway.Surface]. Make one with [New].
type Bot struct {
	api  *discordgo.Session
	log  *slog.Logger
	wait func(ctx context.Context, d time.Duration) error
	seen seen
	me   string // its user ID; set by Run
}

// Options are what a Bot is made of.
type Options struct {
	Token string
	URL   string // of the API: scheme and host; "" is Discord's own
	Seen  string // file that keeps the last message of each channel
	Log   *slog.Logger
	Wait  func(ctx context.Context, d time.Duration) error // between two connections; nil waits
}

// New returns a Bot. It makes no request. The error says what is wrong with the
// URL, or is the disk's.
func New(o Options) (_ *Bot, err error) {
	defer skein.Wrapf(&err, "discord")
	b := &Bot{log: o.Log, wait: o.Wait}
	if b.wait == nil {
		b.wait = sleep.For
	}
	if b.seen, err = readSeen(o.Seen); err != nil {
		return nil, err
	}
	if b.api, err = discordgo.New("Bot " + strings.TrimPrefix(o.Token, "Bot ")); err != nil {
		return nil, err
	}
	b.api.Identify.Intents = discordgo.IntentsDirectMessages | discordgo.IntentsGuildMessages
	b.api.SyncEvents, b.api.StateEnabled, b.api.ShouldReconnectOnError = true, false, false
	b.api.Dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 20 * time.Second}
	b.api.LogLevel = -1
	if o.URL != "" {
		to, err := url.Parse(o.URL)
		if err != nil || to.Host == "" {
			return nil, fmt.Errorf("%w address %q of the API", skein.ErrInvalid, o.URL)
		}
		b.api.Client.Transport = elsewhere{to}
	}
	return b, nil
}

// elsewhere sends requests to another host than Discord's, whose addresses the
// library has as variables.
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
	gone := make(chan struct{}, 1)
	end := func() {
		select {
		case gone <- struct{}{}:
		default:
		}
	}
	b.api.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { end() })
	b.api.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) {
		if err := b.take(ctx, m.Message, take); err != nil && ctx.Err() == nil {
			b.log.Error("a message was not taken; it is asked for again", "err", err)
			go b.api.Close() //nolint:errcheck // it holds the goroutine that this is called by
		}
	})
	for failed := 0; ctx.Err() == nil; {
		err := b.open(ctx, take)
		switch {
		case err == nil:
			failed = 0
			select {
			case <-gone:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return b.api.Close()
			}
		case refused(err):
			return fmt.Errorf("the bot was refused: %w", err)
		}
		d := time.Second << failed
		failed = min(failed+1, 6)
		b.log.Warn("discord is not there; it is tried again", "err", err, "in", d)
		if b.wait(ctx, d) != nil {
			break // ctx has ended
		}
	}
	return nil //nolint:nilerr // it ends because ctx does
}

// open connects, and takes in what came before.
func (b *Bot) open(ctx context.Context, take func(context.Context, gateway.Message) error) error {
	if b.me == "" {
		me, err := b.api.User("@me", discordgo.WithContext(ctx))
		if err != nil {
			return err
		}
		b.me = me.ID
	}
	if err := b.api.Open(); err != nil {
		return err
	}
	for channel, last := range b.seen.all() {
		if err := b.catchUp(ctx, channel, last, take); err != nil {
			return errors.Join(err, b.api.Close())
		}
	}
	return nil
}

// catchUp takes in what came in a channel after a message.
func (b *Bot) catchUp(ctx context.Context, channel, last string, take func(context.Context, gateway.Message) error) error {
	for {
		all, err := b.api.ChannelMessages(channel, 100, "", last, "", discordgo.WithContext(ctx))
		if rest := (*discordgo.RESTError)(nil); errors.As(err, &rest) && rest.Response.StatusCode/100 == 4 {
			b.log.Warn("a channel cannot be read any more", "channel", channel, "err", err)
			return nil
		}
		if err != nil || len(all) == 0 {
			return err
		}
		for _, m := range slices.Backward(all) { // the newest is the first
			if err := b.take(ctx, m, take); err != nil {
				return err
			}
			last = m.ID
		}
	}
}

// refused reports whether trying again is of no use.
func refused(err error) bool {
	if rest := (*discordgo.RESTError)(nil); errors.As(err, &rest) {
		return rest.Response.StatusCode == http.StatusUnauthorized
	}
	if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) {
		return closed.Code == 4004 || closed.Code >= 4010 && closed.Code <= 4014
	}
	return errors.Is(err, discordgo.ErrUnauthorized)
}

// take hands on what a person said to the bot.
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
