package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/gateway"
)

// A botUpdate is something that happened in a chat, so far as we read it.
type botUpdate struct {
	ID      int64 `json:"update_id"`
	Message *struct {
		ID      int64              `json:"message_id"`
		Thread  int                `json:"message_thread_id"`
		Topic   bool               `json:"is_topic_message"`
		From    *user              `json:"from"`
		Chat    struct{ ID int64 } `json:"chat"`
		Text    string             `json:"text"`
		Caption string             `json:"caption"`
	} `json:"message"`
}

type user struct {
	ID   int64  `json:"id"`
	Bot  bool   `json:"is_bot"`
	Name string `json:"username"`
}

// polling is the body of a getUpdates request.
type polling struct {
	Offset  int64    `json:"offset,omitempty"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

// sendMessage is the body of a sendMessage request.
type sendMessage struct {
	Chat   int64  `json:"chat_id"`
	Thread int    `json:"message_thread_id,omitempty"`
	Text   string `json:"text"`
	Mode   string `json:"parse_mode,omitempty"`
}

// doing is the body of a sendChatAction request.
type doing struct {
	Chat   int64  `json:"chat_id"`
	Thread int    `json:"message_thread_id,omitempty"`
	Action string `json:"action"`
}

// code returns the code of the refusal in err, 0 if there is none.
func code(err error) int {
	if r := (*gateway.ServiceError)(nil); errors.As(err, &r) {
		return r.Code
	}
	return 0
}

// call calls a method of the Bot API (https://core.telegram.org/bots/api) and
// decodes the result into result, unless that is nil.
func (b *Bot) call(ctx context.Context, method string, body, result any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/bot"+b.token+"/"+method, bytes.NewReader(skein.MustJSON(body)))
	if err != nil {
		return safe(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := b.client.Do(r)
	if err != nil {
		return safe(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return err
	}
	var got struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Description string          `json:"description"`
		Code        int             `json:"error_code"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("%s: %s: %w", method, res.Status, err)
	}
	if !got.OK {
		return fmt.Errorf("%s: %w", method, &gateway.ServiceError{Code: got.Code, Text: got.Description, After: time.Duration(got.Parameters.RetryAfter) * time.Second})
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(got.Result, result)
}

// safe returns err without the URL of the request: the token is in it.
func safe(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}
