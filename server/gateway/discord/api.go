package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/gateway"
)

// Discord's API (https://discord.com/developers/docs/reference).
const (
	usual    = "https://discord.com"
	version  = "9"
	program  = "DiscordBot (https://github.com/skein-dev/skein, 1)" // they require the form
	attempts = 5                                                    // of one request
)

// Types and flags of messages that we use.
const (
	typeDefault    = 0
	typeReply      = 19
	suppressEmbeds = 1 << 2
)

// A message is what somebody said in a channel, so far as we read it.
type message struct {
	ID       string `json:"id"`
	Channel  string `json:"channel_id"`
	Guild    string `json:"guild_id"` // "" in a direct channel, and where messages are requested
	Type     int    `json:"type"`
	Text     string `json:"content"`
	Author   *user  `json:"author"`
	Mentions []user `json:"mentions"`
}

type user struct {
	ID   string `json:"id"`
	Name string `json:"username"`
	Bot  bool   `json:"bot"`
}

// createMessage is the body of a request that sends a message.
type createMessage struct {
	Text     string   `json:"content"`
	Mentions mentions `json:"allowed_mentions"`
	Flags    int      `json:"flags"`
}

// mentions are the kinds of mentions in a message that notify somebody.
type mentions struct {
	Parse []string `json:"parse"`
}

// call makes a request, again after each rate limit and each failure of Discord's
// proxies, and decodes the answer into result, unless that is nil.
func (b *Bot) call(ctx context.Context, method, path string, body, result any) error {
	for try := 1; ; try++ {
		err := b.ask(ctx, method, path, body, result)
		r := (*gateway.ServiceError)(nil)
		if !errors.As(err, &r) || r.Code != http.StatusTooManyRequests && r.Code != http.StatusBadGateway || try == attempts {
			return err
		}
		if err := b.Wait(ctx, max(r.After, time.Millisecond)); err != nil {
			return err
		}
	}
}

// ask makes one request.
func (b *Bot) ask(ctx context.Context, method, path string, body, result any) error {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(skein.MustJSON(body))
	}
	r, err := http.NewRequestWithContext(ctx, method, b.base+"/api/v"+version+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bot "+b.token)
	r.Header.Set("User-Agent", program)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := b.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		var why struct {
			Message string  `json:"message"`
			After   float64 `json:"retry_after"` // seconds
		}
		json.Unmarshal(text, &why) //nolint:errcheck // a proxy's answer may be anything
		return fmt.Errorf("%s %s: %w", method, path, &gateway.ServiceError{Code: res.StatusCode, Text: why.Message, After: time.Duration(why.After * float64(time.Second))})
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(text, result)
}
