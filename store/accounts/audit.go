package accounts

import (
	"context"
	"time"

	"github.com/skein-dev/skein"
)

// AuditKept is how long a store keeps what tokens were used for.
const AuditKept = 180 * 24 * time.Hour

// MaxAudit is the most rows of an audit trail that a store keeps: the newest.
const MaxAudit = 100_000

// AuditHour is the time in which the requests of one token for one session by one route
// are one row.
const AuditHour = skein.Time(time.Hour / time.Millisecond)

// An AuditRow says that a token was used: for which session, by which route, and how
// often within an hour. It has nothing of what was read.
type AuditRow struct {
	Token   string          `json:"token"`             // its name
	User    skein.User      `json:"user,omitempty"`    // the token's owner; "" for a token that sees everybody's sessions
	Session skein.SessionID `json:"session,omitempty"` // "" for what is about no one session, such as a list or a search
	Route   string          `json:"route"`             // method and path, as in GET /v1/sessions/{id}/export
	First   skein.Time      `json:"first_at"`
	Last    skein.Time      `json:"last_at"`
	Times   int64           `json:"times"`
}

// Hour returns the number of the hour of r, which is that of its first request.
func (r *AuditRow) Hour() int64 { return int64(r.First / AuditHour) }

// An AuditQuery selects rows of an audit trail. The zero value selects the newest 100.
type AuditQuery struct {
	Session skein.SessionID // "" for all
	Token   string          // "" for all
	Skip    int             // how many of the newest to leave out
	Limit   int             // how many to return; 0 for 100, at most 1,000
}

// Size returns how many rows q asks for.
func (q AuditQuery) Size() int {
	if q.Limit <= 0 {
		return 100
	}
	return min(q.Limit, 1000)
}

// An AuditTrail is a Store that keeps what tokens were used for. It covers all users: on a
// view, its methods fail with an error that wraps [skein.ErrRefused].
type AuditTrail interface {
	// AddAudit adds rows. A row of the same hour, token, session and route as one that
	// is there is added to it. Rows older than [AuditKept], and those beyond
	// [MaxAudit], go.
	AddAudit(ctx context.Context, rows []AuditRow) error

	// Audit returns rows, those used last first.
	Audit(ctx context.Context, q AuditQuery) ([]AuditRow, error)

	// TokensUsed returns when each token was used last, by name, as far as the trail
	// goes back.
	TokensUsed(ctx context.Context) (map[string]skein.Time, error)
}
