package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
)

func TestCodesAreTheErrorsThatCallersKnow(t *testing.T) {
	answered := func(severity, code string) error {
		return &pgconn.PgError{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: "x"}
	}
	for _, c := range []struct {
		name       string
		err        error
		plain      error // that classify(err) wraps; nil for none of ours
		commit     error // the same of classifyCommit
		triedAgain bool
	}{
		{"disk full", answered("ERROR", "53100"), skein.ErrFull, nil, false},
		{"read-only", answered("ERROR", "25006"), skein.ErrReadOnly, nil, false},
		{"damaged", answered("ERROR", "XX001"), skein.ErrCorrupt, nil, false},
		{"deadlock", answered("ERROR", "40P01"), nil, nil, true},
		{"serialization", answered("ERROR", "40001"), nil, nil, true},
		{"not as it was read", answered("ERROR", "SK001"), nil, nil, true},
		{"moved", ErrMoved, nil, skein.ErrUnknown, true},
		{"unique", answered("ERROR", "23505"), nil, nil, false},
		{"lock timeout", answered("ERROR", "55P03"), skein.ErrAway, nil, false},
		{"statement timeout", answered("ERROR", "57014"), skein.ErrAway, nil, false},
		{"no room for a connection", answered("FATAL", "53300"), skein.ErrAway, skein.ErrUnknown, false},
		{"still starting", answered("FATAL", "57P03"), skein.ErrAway, skein.ErrUnknown, false},
		{"ended by an administrator", answered("FATAL", "57P01"), skein.ErrAway, skein.ErrUnknown, false},
		{"crashed", answered("FATAL", "57P02"), skein.ErrAway, skein.ErrUnknown, false},
		{"the server does not know", answered("ERROR", "08007"), skein.ErrAway, skein.ErrUnknown, false},
		{"a pooler lost the server", &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: "server conn crashed?"}, skein.ErrAway, skein.ErrUnknown, false},
		{"a pooler gave up", answered("ERROR", "08006"), skein.ErrAway, skein.ErrUnknown, false},
		{"a pooler ended it", &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "shut down"}, skein.ErrAway, skein.ErrUnknown, false},
		{"unknown, for others were in the way", fmt.Errorf("%w: %w", skein.ErrUnknown, answered("FATAL", "40001")), skein.ErrUnknown, skein.ErrUnknown, false},
		{"unknown, for the server is away", fmt.Errorf("%w: %w", skein.ErrUnknown, answered("FATAL", "57P01")), skein.ErrUnknown, skein.ErrUnknown, false},
		{"the caller has gone", fmt.Errorf("%w: %w", context.Canceled, io.ErrUnexpectedEOF), nil, skein.ErrUnknown, false},
		{"connection lost", io.ErrUnexpectedEOF, skein.ErrAway, skein.ErrUnknown, false},
		{"no answer in time", context.DeadlineExceeded, nil, skein.ErrUnknown, false},
	} {
		sentinels := []error{skein.ErrFull, skein.ErrReadOnly, skein.ErrCorrupt, skein.ErrUnknown, skein.ErrExists, skein.ErrLocked, skein.ErrAway}
		for _, s := range sentinels {
			if got := errors.Is(Classify(c.err), s); got != errors.Is(c.plain, s) {
				t.Errorf("%s: classify(%v) wraps %v: %v, want %v", c.name, c.err, s, got, !got)
			}
			if got := errors.Is(ClassifyCommit(c.err), s); got != errors.Is(c.commit, s) {
				t.Errorf("%s: classifyCommit(%v) wraps %v: %v, want %v", c.name, c.err, s, got, !got)
			}
		}
		if got := Again(c.err); got != c.triedAgain {
			t.Errorf("%s: again(%v) = %v, want %v", c.name, c.err, got, c.triedAgain)
		}
	}
	if Classify(nil) != nil || ClassifyCommit(nil) != nil || Again(nil) {
		t.Error("no error is one")
	}
}

// A person typed no SELECT.
func TestWhatAServerThatAcceptsNoWritesAnswersIsForLogs(t *testing.T) {
	err := fmt.Errorf("postgres: append to s: %w", Classify(&pgconn.PgError{Severity: "ERROR", Code: "25006", Message: "cannot execute SELECT in a read-only transaction"}))
	if got := skein.Reason(err); strings.Contains(got, "SELECT") || !strings.Contains(got, "standby") {
		t.Errorf("Reason = %q, want that the server is a standby, without its answer", got)
	}
	if !strings.Contains(err.Error(), "cannot execute SELECT") {
		t.Errorf("the whole error is %q, want the server's answer too", err)
	}
}
