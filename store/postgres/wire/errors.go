package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// Again reports whether err says that a transaction conflicted with others and
// certainly was not committed.
func Again(err error) bool {
	if errors.Is(err, skein.ErrUnknown) {
		return false
	}
	c := sqlstate.Of(err)
	return errors.Is(err, ErrMoved) || c == sqlstate.Moved || c == sqlstate.Serialization || c == sqlstate.Deadlock
}

// Classify wraps an error of the server with the error of the root package that
// callers can test for.
func Classify(err error) error {
	switch sqlstate.Of(err) {
	case sqlstate.OtherSchema:
		return schema.OtherError(err)
	case sqlstate.DiskFull:
		return fmt.Errorf("%w: %w", skein.ErrFull, err)
	case sqlstate.ReadOnly:
		return readOnlyError{err}
	case sqlstate.LockTime:
		return fmt.Errorf("%w: waited too long for another transaction: %w", skein.ErrAway, err)
	case sqlstate.Damaged, sqlstate.IndexDamaged:
		return fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	}
	if (sqlstate.Unreachable(err) || sqlstate.Of(err) == sqlstate.Canceled) && !errors.Is(err, skein.ErrUnknown) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", skein.ErrAway, onOneLine(err))
	}
	return err
}

// A readOnlyError says that the server accepts no writes. What the server says, it says
// of a statement that no person typed.
type readOnlyError struct{ answer error }

// Error implements error.
func (e readOnlyError) Error() string { return skein.ErrReadOnly.Error() + ": " + e.answer.Error() }

// Unwrap returns [skein.ErrReadOnly] and the server's answer.
func (e readOnlyError) Unwrap() []error { return []error{skein.ErrReadOnly, e.answer} }

// Reason is what [skein.Reason] returns.
func (readOnlyError) Reason() string {
	return skein.ErrReadOnly.Error() + ": the database server is a standby, or was set to accept no writes"
}

// An unreachedError is the error of a connection that was not made, on one line: the
// driver names each address that it tried, twice if it tried twice.
type unreachedError struct{ tried *pgconn.ConnectError }

func onOneLine(err error) error {
	if tried := (*pgconn.ConnectError)(nil); errors.As(err, &tried) {
		return unreachedError{tried}
	}
	return err
}

// Error implements error.
func (e unreachedError) Error() string {
	var all []string
	for line := range strings.Lines(e.tried.Unwrap().Error()) {
		if line = dialed().ReplaceAllString(strings.TrimSpace(line), ""); !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the driver's error.
func (e unreachedError) Unwrap() error { return e.tried }

// dialed matches what the driver says of an address that the line names already.
var dialed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`hostname resolving error: |dial error: (dial \S+ \S+: )?`)
})

// ClassifyCommit is Classify for the error of a commit: unless the server answered
// that the transaction failed, or nothing was sent to it, the transaction may have
// been committed. The connection may end between the commit and its answer. Codes
// that begin with 08, from a pooler too, say that the connection to the server was
// lost; a pooler may leave out the unlocalized severity.
func ClassifyCommit(err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
		if severity != "FATAL" && severity != "PANIC" && !strings.HasPrefix(e.Code, sqlstate.ConnectionClass) {
			return err
		}
	case pgconn.SafeToRetry(err):
		return err
	}
	return fmt.Errorf("%w: %w", skein.ErrUnknown, err)
}
