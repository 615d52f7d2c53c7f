package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/skein-dev/skein"
)

// polling is the body of a getUpdates request.
type polling struct {
	Offset  int64    `json:"offset,omitempty"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

// updates waits for updates from offset on. The library's own loop confirms an
// update when it requests the next ones, perhaps before it was stored.
func (b *Bot) updates(ctx context.Context, offset int64) ([]*models.Update, error) {
	body := skein.MustJSON(polling{offset, int(patience / time.Second), []string{"message"}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/bot"+b.token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, b.safe(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := b.client.Do(r)
	if err != nil {
		return nil, b.safe(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	var got struct {
		OK          bool             `json:"ok"`
		Result      []*models.Update `json:"result"`
		Description string           `json:"description"`
		Code        int              `json:"error_code"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return nil, fmt.Errorf("getUpdates: %s: %w", res.Status, err)
	}
	switch {
	case got.OK:
		return got.Result, nil
	case got.Code == http.StatusUnauthorized:
		return nil, fmt.Errorf("%w: %s", bot.ErrorUnauthorized, got.Description)
	case got.Code == http.StatusNotFound:
		return nil, fmt.Errorf("%w: %s", bot.ErrorNotFound, got.Description)
	case got.Code == http.StatusTooManyRequests:
		return nil, &bot.TooManyRequestsError{Message: got.Description, RetryAfter: got.Parameters.RetryAfter}
	}
	return nil, fmt.Errorf("getUpdates: %d %s", got.Code, got.Description)
}
