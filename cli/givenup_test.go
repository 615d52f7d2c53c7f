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
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/store/remote"
)

// A command that was interrupted still reports what it found out.
func TestWhatAnInterruptionCannotCauseIsTold(t *testing.T) {
	for _, of := range []struct {
		err  error
		code int
		says string
	}{
		{errors.Join(context.Canceled, fmt.Errorf("close: %w", skein.ErrReplaced)), fault.ExitFailed, "close: "},
		{fmt.Errorf("read: %w", skein.ErrCorrupt), fault.ExitFailed, "skein doctor"},
		{skein.ErrFull, fault.ExitFailed, "make room on the disk"},
		{skein.ErrReadOnly, fault.ExitFailed, "get permission to write"},
		{fmt.Errorf("open: %w", skein.ErrNewer), fault.ExitFailed, "install a newer skein"},
		{errors.Join(context.Canceled, skein.ErrFenced), fault.ExitLocked, "what was stored before that is safe"},
		{&skein.LockedError{Session: "a"}, fault.ExitLocked, "locked by"},
		{fault.Advise(skein.ErrDeleted, "destroy it there, too"), fault.ExitFailed, "destroy it there, too"},
		{fault.Usage("-x: what is that?"), fault.ExitUsage, "what is that?"},
		{fmt.Errorf("%w: %w", skein.ErrUnknown, context.Canceled), fault.ExitInterrupted, "skein: interrupted\n"},
		{fmt.Errorf("%w: the server ended the stream", remote.ErrUnreachable), fault.ExitInterrupted, "skein: interrupted\n"},
		{fmt.Errorf("body: %w: unexpected end", skein.ErrInvalid), fault.ExitInterrupted, "skein: interrupted\n"},
		{skein.ErrClosed, fault.ExitInterrupted, "skein: interrupted\n"},
		{errors.New("the connection broke off"), fault.ExitInterrupted, "skein: interrupted\n"},
		{context.Canceled, fault.ExitInterrupted, "skein: interrupted\n"},
	} {
		var out bytes.Buffer
		f := &job.Frame{Env: &config.Env{Stderr: &out, Now: time.Now}}
		if code := report(f, givenUp(of.err), "skein serve"); code != of.code || !strings.Contains(out.String(), of.says) {
			t.Errorf("%v: exit code %d and %q, want %d and %q", of.err, code, out.String(), of.code, of.says)
		}
	}
}
