package status

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/interop/formats/codex"
)

// A PlanWindow is a window of a subscription to an agent that has not ended.
type PlanWindow struct {
	Agent  string `json:"agent"`  // claude-code, codex
	Window string `json:"window"` // 5 hours, the week
	planWindow
}

// Text says how much is used: "12% of 5 hours, until 14:00".
func (w PlanWindow) Text(now time.Time) string {
	share, until, _ := strings.Cut(w.text(now), " ")
	return share + " of " + w.Window + ", " + until
}

// PlanWindows returns the windows of subscriptions that have not ended: those that Claude
// Code told the status line last, and those in Codex's newest records. The error is the
// store's.
func PlanWindows(ctx context.Context, j *job.Job) (all []PlanWindow, err error) {
	l := readLimits(j)
	told := []PlanWindow{{"claude-code", spanName(windowSpan), l.Five}, {"claude-code", spanName(week), l.Seven}}
	codexs, err := codexWindows(ctx, j)
	for _, w := range codexs {
		told = append(told, PlanWindow{codex.Name, spanName(w.Span), planWindow{w.Percent, w.Resets}})
	}
	for _, w := range told {
		if w.resets(j.Now()) {
			all = append(all, w)
		}
	}
	return all, err
}

// How many of Codex's newest sessions, and of the newest records of each, are looked at.
// A turn ends with a record that tells of windows, if there are any.
const (
	newestSessions = 5
	newestRecords  = 200
)

const week = 7 * 24 * time.Hour

// codexWindows returns the windows that Codex wrote down last.
func codexWindows(ctx context.Context, j *job.Job) ([]codex.RateWindow, error) {
	newest := skein.Filter{Origin: codex.Name, NoChildren: true, Since: skein.At(j.Now().Add(-week)), Limit: newestSessions}
	for s, err := range j.Store.Sessions(ctx, newest) {
		if err != nil {
			return nil, err
		}
		last, err := lastWindows(ctx, j.Store, s.Origin)
		if err != nil || last != nil {
			return last, err
		}
	}
	return nil, nil
}

// lastWindows returns the windows that the records of a session told of last.
func lastWindows(ctx context.Context, store skein.Store, o *skein.Origin) (last []codex.RateWindow, err error) {
	sources := skein.SourcesOf(store)
	f, err := sources.File(ctx, o.Format, o.Path)
	if errors.Is(err, skein.ErrNotFound) {
		return nil, nil // it came from another machine without its records
	}
	if err != nil {
		return nil, err
	}
	var bad *skein.DamagedRecordsError
	for r, err := range sources.Records(ctx, o.Format, o.Path, max(0, f.Records-newestRecords)) {
		switch {
		case errors.As(err, &bad):
			return last, nil
		case err != nil:
			return nil, err
		}
		if w := codex.Windows(r.Raw); w != nil {
			last = w
		}
	}
	return last, nil
}

// spanName names a window by its length, which may be a minute off.
func spanName(span time.Duration) string {
	hours := int(span.Round(time.Hour).Hours())
	switch {
	case hours == 7*24:
		return "the week"
	case hours >= 48 && hours%24 == 0:
		return fmt.Sprintf("%d days", hours/24)
	}
	return fmt.Sprintf("%d hours", hours)
}
