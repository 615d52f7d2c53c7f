package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

func TestAQuotaIsKept(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `INSERT INTO users (user_id, created, sessions, bytes) VALUES ('ann', 0, 2, 20000)`)
	ann, bob := s.As("ann"), s.As("bob")
	for _, id := range []skein.SessionID{"a", "b"} {
		add(t, ann, id, created())
	}
	_, err := skein.Add(t.Context(), ann, "c", created())
	wantQuota(t, "the third of 2 sessions", err, "sessions")
	add(t, bob, "d", created(), said(strings.Repeat("x", 30000)))

	var full error
	stored := 0
	for full == nil && stored < 100 {
		if _, full = skein.Add(context.Background(), ann, "a", said(strings.Repeat("x", 500))); full == nil {
			stored++
		}
	}
	wantQuota(t, "more than 20,000 bytes", full, "bytes")
	x, err := ann.Session(t.Context(), "a")
	if err != nil || int(x.Last) != stored+1 || stored < 10 {
		t.Errorf("Session(a) ends at %d, %v after %d appends that were stored", x.Last, err, stored)
	}
	if _, err := skein.LifecycleOf(ann).Delete(t.Context(), "b", skein.Deletion{}); err != nil {
		t.Errorf("Delete(b) = %v", err)
	}
	_, err = skein.Add(t.Context(), ann, "e", created(), said(strings.Repeat("x", 20000)))
	wantQuota(t, "a session with 20,000 bytes", err, "bytes")
}

func wantQuota(t *testing.T, what string, err error, of string) {
	t.Helper()
	var q *skein.QuotaError
	if !errors.As(err, &q) || q.Of != of || q.User != "ann" || !errors.Is(err, skein.ErrFull) {
		t.Errorf("%s: Append = %v, want a quota of %s", what, err, of)
	}
}

// A message counts once, although the index has its text too.
func TestAQuotaCountsWhatIsSaidOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `INSERT INTO users (user_id, created, sessions, bytes) VALUES ('ann', 0, 0, 100000)`)
	ann := s.As("ann")
	add(t, ann, "a", created(), said(strings.Repeat("word ", 2600)))
	add(t, ann, "b", created(), said(strings.Repeat("word ", 12000)))
	us, err := s.Users(t.Context())
	if err != nil || len(us) != 1 || us[0].Bytes < 73000 || us[0].Bytes > 74000 {
		t.Errorf("Users = %+v, %v, want 73 KB used, as many as were said", us, err)
	}
	_, err = skein.Add(t.Context(), ann, "c", created(), said(strings.Repeat("word ", 6000)))
	wantQuota(t, "30 KB more", err, "bytes")
	add(t, ann, "c", created(), said(strings.Repeat("word ", 4000)))
}
