package exchange

import (
	"context"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
)

// Replaced puts recovered sessions into the bin if their transcript has turned up,
// unless they were continued here. It returns how many. r says what was imported.
//
// The error is the store's.
func Replaced(ctx context.Context, j *job.Job, r interop.Report) (n int, err error) {
	if r.Events == 0 { // reading the list of sessions would cost as much as finding that no file changed
		return 0, nil
	}
	var all []skein.Session
	for s, err := range j.Store.Sessions(ctx, skein.Filter{Origin: claudecode.HistoryName, IncludeEmpty: true}) {
		if err != nil {
			return 0, err
		}
		all = append(all, s)
	}
	for _, s := range all {
		real, err := j.Store.Session(ctx, skein.SessionID(s.Origin.ID))
		switch {
		case sessions.Gone(err) || err == nil && real.Binned != 0:
			continue
		case err != nil:
			return n, err
		}
		if own, err := wentOn(ctx, j.Store, s.ID); own || err != nil {
			if err != nil {
				return n, err
			}
			continue
		}
		if err := skein.LifecycleOf(j.Store).Bin(ctx, s.ID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// wentOn reports whether a recovered session has messages besides the recovered
// ones.
func wentOn(ctx context.Context, s skein.Store, id skein.SessionID) (bool, error) {
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return false, err
		}
		if e.Kind == skein.KindSaid && !strings.HasPrefix(string(e.ClientID), claudecode.RecoveredKey) {
			return true, nil
		}
	}
	return false, nil
}
