package skeinlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/replay"
)

// Format returns the reader of skein's own logs.
func Format() interop.Format {
	return interop.Format{
		Name:   replay.Format,
		Doc:    "logs that skein export --to skein wrote",
		Places: func(interop.Home) []string { return nil },
		Match:  match,
		Load:   load,
	}
}

func match(_ string, head []byte) interop.Guess {
	if replay.Match(head) {
		return interop.KnownBy("it begins as skein's logs do")
	}
	return interop.Guess{}
}

func load(ctx context.Context, w interop.Whole) (interop.Took, error) {
	done, err := replay.Load(ctx, w.Store, w.Data, replay.Options{File: w.File, Again: w.Again})
	t := interop.Took{Damaged: done.Damaged, Waits: done.Waits()}
	for _, what := range done.Damage {
		t.Damage = append(t.Damage, damage(w.File.Path, what))
	}
	for _, s := range done.Sessions {
		if s.New > 0 {
			t.News = append(t.News, interop.Growth{Session: s.Here, Created: s.New == s.Events, Events: s.New, Messages: s.Messages})
		}
		switch {
		case errors.Is(s.Err, skein.ErrDeleted):
			t.Removed++
		case s.Err != nil:
			t.Failed = append(t.Failed, s.Err)
		default:
			if why := skipped(s); why != "" {
				t.Skips = append(t.Skips, interop.Skip{Path: w.File.Path, Why: why})
			}
		}
	}
	if onlySessions(err, done.Sessions) {
		err = nil // t has them
	}
	return t, err
}

// skipped returns what is missing from a session; "" for nothing.
func skipped(s replay.LoadedSession) string {
	switch {
	case s.Lacks > 0:
		return fmt.Sprintf("session %s: %d events at the end are missing", s.Session, s.Lacks)
	case s.Key != "":
		return fmt.Sprintf("session %s: it was imported without its key %q, which another session has", s.Session, s.Key)
	}
	return ""
}

// damage parses "line 7: what is wrong".
func damage(path, text string) interop.Damage {
	d := interop.Damage{Path: path, What: text}
	if head, what, ok := strings.Cut(text, ": "); ok {
		if n, err := strconv.Atoi(strings.TrimPrefix(head, "line ")); err == nil {
			d.Line, d.What = n, what
		}
	}
	return d
}

// onlySessions reports whether Load's err consists of errors of single sessions,
// which do not keep others from being loaded.
func onlySessions(err error, sessions []replay.LoadedSession) bool {
	joined, ok := errors.Unwrap(err).(interface{ Unwrap() []error })
	if !ok {
		return false
	}
	for _, e := range joined.Unwrap() {
		if !slices.ContainsFunc(sessions, func(s replay.LoadedSession) bool { return errors.Is(e, s.Err) }) {
			return false
		}
	}
	return true
}
