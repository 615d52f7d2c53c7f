package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/remote"
)

// A command that was interrupted still reports what it found out.
func TestWhatAnInterruptionCannotCauseIsTold(t *testing.T) {
	for _, of := range []struct {
		err  error
		code int
		says string
	}{
		{errors.Join(context.Canceled, fmt.Errorf("close: %w", skein.ErrReplaced)), exitFailed, "close: "},
		{fmt.Errorf("read: %w", skein.ErrCorrupt), exitFailed, "skein doctor"},
		{skein.ErrFull, exitFailed, "make room on the disk"},
		{skein.ErrReadOnly, exitFailed, "the right to write"},
		{fmt.Errorf("open: %w", skein.ErrNewer), exitFailed, "install the newer skein"},
		{errors.Join(context.Canceled, skein.ErrFenced), exitLocked, "what was stored before that is safe"},
		{&skein.LockedError{Session: "a"}, exitLocked, "locked by"},
		{advise(skein.ErrDeleted, "destroy it there, too"), exitFailed, "destroy it there, too"},
		{usagef("-x: what is that?"), exitUsage, "what is that?"},
		{fmt.Errorf("%w: %w", skein.ErrUnknown, context.Canceled), exitInterrupted, "skein: interrupted\n"},
		{fmt.Errorf("%w: it ended the stream", remote.ErrUnreachable), exitInterrupted, "skein: interrupted\n"},
		{fmt.Errorf("body: %w: unexpected end", skein.ErrInvalid), exitInterrupted, "skein: interrupted\n"},
		{skein.ErrClosed, exitInterrupted, "skein: interrupted\n"},
		{errors.New("the connection broke off"), exitInterrupted, "skein: interrupted\n"},
		{context.Canceled, exitInterrupted, "skein: interrupted\n"},
	} {
		var out bytes.Buffer
		f := &frame{env: &Env{Stderr: &out, Now: time.Now}}
		if code := f.report(givenUp(of.err), "skein serve"); code != of.code || !strings.Contains(out.String(), of.says) {
			t.Errorf("%v: exit code %d and %q, want %d and %q", of.err, code, out.String(), of.code, of.says)
		}
	}
}
