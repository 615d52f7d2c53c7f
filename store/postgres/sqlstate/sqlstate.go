package sqlstate

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// The codes, https://www.postgresql.org/docs/15/errcodes-appendix.html.
const (
	Unique        = "23505"
	Serialization = "40001"
	Deadlock      = "40P01"
	ReadOnly      = "25006"
	DiskFull      = "53100"
	TooMany       = "53300" // the server, a database, or a role has as many connections as it may have
	LockTime      = "55P03"
	Canceled      = "57014" // by the server's statement_timeout or its administrator
	Duplicate     = "42710"
	NoPermission  = "42501"
	BadText       = "22P02" // a text cannot be parsed; in a feed's query, that is the cursor's snapshot
	Damaged       = "XX001"
	IndexDamaged  = "XX002"
	Internal      = "XX000" // tuple concurrently updated

	// Those of functions in schema/0001.sql.
	Moved       = "SK001" // must_be
	OtherSchema = "SK002" // other_schema

	// ConnectionClass is the prefix of connection_failure, transaction_resolution_unknown.
	ConnectionClass = "08"
)

// Of returns the code of an error that the server sent; "" for other errors.
func Of(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Unreachable reports whether err says that the connection was lost or could
// not be made, or that the server was in no state to answer.
func Unreachable(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return lost(err)
	}
	return strings.HasPrefix(e.Code, ConnectionClass) || strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "53") && e.Code != DiskFull
}

// lost reports whether err is a network error.
func lost(err error) bool {
	var n net.Error
	return pgconn.SafeToRetry(err) || errors.As(err, &n) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
