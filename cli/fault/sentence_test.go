package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/skein-dev/skein"
)

func TestAnErrorSaysItsCauseAndNotItsPath(t *testing.T) {
	act := func(err error, acts ...string) error {
		for _, a := range acts {
			skein.Wrapf(&err, "%s", a)
		}
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{act(fmt.Errorf("session 01a2: fence 7, now it is 8: %w", skein.ErrFenced), "sqlite: append to 01a2", "agent: turn in 01a2"), "another program took this session over, so nothing more was stored here"},
		{act(fmt.Errorf("session nope %w", skein.ErrNotFound), "sqlite: session nope", `session "nope"`), "session nope not found"},
		{act(fmt.Errorf("%w: file is not a database (26)", skein.ErrCorrupt), "sqlite: open /x/skein.db"), "open /x/skein.db: stored data is damaged: file is not a database (26)"},
		{act(errors.New("disk I/O error"), "sqlite: append to 01a2", "agent: turn in 01a2"), "disk I/O error"},
		{act(errors.New("model is busy"), "agent: turn in 01a2"), "model is busy"},
		{fmt.Errorf("a.jsonl: line 7: %w", act(errors.New("disk I/O error"), "sqlite: append to 01a2")), "a.jsonl: line 7: disk I/O error"},
		{act(&fs.PathError{Op: "open", Path: "/a/b", Err: fs.ErrPermission}, "file /a/b"), "open /a/b: permission denied"},
		{errors.Join(act(skein.ErrFull, "sqlite: append to 01a2"), errors.New("other")), "disk is full\nother"},
		{act(fmt.Errorf("%w: %w", skein.ErrFull, errors.New("disk I/O error (4874)")), "sqlite: append to 01a2"), "disk is full"},
		{Advise(act(skein.ErrClosed, "memory: feed"), "go"), "store is closed"},
	} {
		if got := Sentence(c.err); got != c.want {
			t.Errorf("sentence(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}
