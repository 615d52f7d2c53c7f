package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	patience  = time.Minute // for the server to become reachable
	patienceA = 20 * time.Millisecond
	patienceZ = 2 * time.Second
)

// patiently runs f, which only reads, until it succeeds, or fails with something other
// than an unreachable server: a lost connection does not end a watch.
func (s *view) patiently(ctx context.Context, f func() error) error {
	wait := patienceA
	for began := time.Now(); ; wait = min(2*wait, patienceZ) {
		err := f()
		if err == nil || !unreachable(err) || time.Since(began) > patience {
			return err
		}
		if !s.rest(ctx, nil, wait) {
			return ctx.Err()
		}
	}
}

// unreachable reports whether err says that the connection was lost or could
// not be made, or that the server was in no state to answer.
func unreachable(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return lost(err)
	}
	return strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "53") && e.Code != codeDiskFull
}

// lost reports whether err is a network error.
func lost(err error) bool {
	var n net.Error
	return pgconn.SafeToRetry(err) || errors.As(err, &n) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
