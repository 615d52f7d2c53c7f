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
)

// A command that was interrupted still reports what is wrong with the store.
func TestWhatIsWrongWithTheStoreIsToldAlsoAfterAnInterruption(t *testing.T) {
	for _, of := range []struct {
		err  error
		code int
		says string
	}{
		{errors.Join(context.Canceled, fmt.Errorf("close: %w", skein.ErrReplaced)), exitFailed, "close: "},
		{fmt.Errorf("read: %w", skein.ErrCorrupt), exitFailed, "skein doctor"},
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
