package postgres

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
)

// PostgreSQL's error codes, https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeReadOnly      = "25006"
	codeDiskFull      = "53100"
	codeLockTime      = "55P03"
	codeCancelled     = "57014" // by the server's statement_timeout or its administrator
	codeDuplicate     = "42710"
	codeNoPermission  = "42501"
	codeDamaged       = "XX001"
	codeIndexDamaged  = "XX002"
	codeMoved         = "SK001" // must_be, schema/0001.sql
	codeOtherSchema   = "SK002" // other_schema, schema/0009.sql
	connectionCodes   = "08"    // prefix of connection_failure, transaction_resolution_unknown
	codeInternal      = "XX000" // tuple concurrently updated
)

// code returns the code of an error that the server sent; "" for other errors.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// again reports whether err says that a transaction conflicted with others and
// certainly was not committed.
func again(err error) bool {
	if errors.Is(err, skein.ErrUnknown) {
		return false
	}
	c := code(err)
	return errors.Is(err, errMoved) || c == codeMoved || c == codeSerialization || c == codeDeadlock
}

// classify wraps an error of the server with the error of the root package that
// callers can test for.
func classify(err error) error {
	switch code(err) {
	case codeOtherSchema:
		return otherSchema(err)
	case codeDiskFull:
		return fmt.Errorf("%w: %w", skein.ErrFull, err)
	case codeReadOnly:
		return fmt.Errorf("%w: %w", skein.ErrReadOnly, err)
	case codeLockTime:
		return fmt.Errorf("%w: waited too long for another transaction: %w", skein.ErrAway, err)
	case codeDamaged, codeIndexDamaged:
		return fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	}
	if (unreachable(err) || code(err) == codeCancelled) && !errors.Is(err, skein.ErrUnknown) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", skein.ErrAway, onOneLine(err))
	}
	return err
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

// classifyCommit is classify for the error of a commit: unless the server answered
// that the transaction failed, or nothing was sent to it, the transaction may have
// been committed. The connection may end between the commit and its answer. Codes
// that begin with 08, from a pooler too, say that the connection to the server was
// lost; a pooler may leave out the unlocalized severity.
func classifyCommit(err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		severity := cmp.Or(e.SeverityUnlocalized, e.Severity)
		if severity != "FATAL" && severity != "PANIC" && !strings.HasPrefix(e.Code, connectionCodes) {
			return err
		}
	case pgconn.SafeToRetry(err):
		return err
	}
	return fmt.Errorf("%w: %w", skein.ErrUnknown, err)
}
