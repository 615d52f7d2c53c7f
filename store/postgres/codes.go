package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
)

// Codes of PostgreSQL, https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeReadOnly      = "25006"
	codeDiskFull      = "53100"
	codeLockTime      = "55P03"
	codeCancelled     = "57014" // a bound of the server's on how long a statement may take, or its administrator
	codeDuplicate     = "42710"
	codeNoPermission  = "42501"
	codeDamaged       = "XX001"
	codeIndexDamaged  = "XX002"
	codeMoved         = "SK001" // must_be, schema/0001.sql
	codeOtherSchema   = "SK002" // other_schema, schema/0009.sql
	connectionCodes   = "08"    // they begin so: connection_failure, transaction_resolution_unknown
	codeInternal      = "XX000" // tuple concurrently updated
)

// code returns the code of the error that the server answered; "" if it has
// answered none.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// again reports whether err says that others were in the way of a transaction,
// which is certain not to be committed.
func again(err error) bool {
	if errors.Is(err, skein.ErrUnknown) {
		return false
	}
	c := code(err)
	return errors.Is(err, errMoved) || c == codeMoved || c == codeSerialization || c == codeDeadlock
}

// classify adds to an error of the server's the error of the root package that
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
		return fmt.Errorf("%w: another transaction does not end: %w", skein.ErrAway, err)
	case codeDamaged, codeIndexDamaged:
		return fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	}
	if (unreachable(err) || code(err) == codeCancelled) && !errors.Is(err, skein.ErrUnknown) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", skein.ErrAway, err)
	}
	return err
}

// classifyCommit is classify for the error of what commits: unless the server
// has answered that the transaction failed, or was sent nothing, it may have
// committed. What ends the connection may come between the commit and its
// answer. Codes that begin with 08 say, of a pooler too, that the connection to
// the server was lost; a pooler may leave out the severity that is not localized.
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
