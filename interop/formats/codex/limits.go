package codex

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/skein-dev/skein"
)

// A RateWindow is a window of a subscription to Codex, and how much of it was used when a
// record was written.
type RateWindow struct {
	Percent float64
	Span    time.Duration // how long the window is; 0 if not known
	Resets  skein.Time    // when it ends
}

// Windows returns the windows that a record of a rollout tells of, the shorter one first
// as Codex has them. Only a token_count with rate_limits does, whose primary and secondary
// window are null without a subscription:
//
//	{"limit_id":"codex","primary":{"used_percent":12.0,"window_minutes":300,"resets_at":1795269600},"secondary":…}
//
// A limit with another limit_id is that of a single model. Until October 2025 there was
// resets_in_seconds instead of resets_at. (RateLimitSnapshot in
// codex-rs/protocol, as public reports of 2025 and 2026 show it.)
func Windows(raw []byte) (all []RateWindow) {
	if !bytes.Contains(raw, []byte(`"rate_limits"`)) {
		return nil
	}
	type wireWindow struct {
		Percent float64 `json:"used_percent"`
		Minutes float64 `json:"window_minutes"`
		At      int64   `json:"resets_at"`         // Unix seconds
		In      float64 `json:"resets_in_seconds"` // from the record on
	}
	var l struct {
		Time    time.Time `json:"timestamp"`
		Payload struct {
			Type   string `json:"type"`
			Limits struct {
				ID        string      `json:"limit_id"`
				Primary   *wireWindow `json:"primary"`
				Secondary *wireWindow `json:"secondary"`
			} `json:"rate_limits"`
		} `json:"payload"`
	}
	limits := &l.Payload.Limits
	if json.Unmarshal(raw, &l) != nil || l.Payload.Type != "token_count" || limits.ID != "" && limits.ID != Name {
		return nil
	}
	for _, w := range []*wireWindow{limits.Primary, limits.Secondary} {
		if w == nil {
			continue
		}
		ends := time.Unix(w.At, 0)
		if w.At == 0 {
			ends = l.Time.Add(time.Duration(w.In * float64(time.Second)))
		}
		all = append(all, RateWindow{w.Percent, time.Duration(w.Minutes * float64(time.Minute)), skein.At(ends)})
	}
	return all
}
