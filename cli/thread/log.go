package thread

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

// A keptLog is the log of a thread's session and of its delegates' sessions. It can
// always be rebuilt from the store, so a turn continues when the log cannot be written.
type keptLog struct {
	logs   *sessionlog.Logs // nil if none are kept
	tell   func(format string, args ...any)
	failed bool       // and the person was told
	swept  chan error // receives the result of removing dead logs; nil if none are removed
}

// mend repairs the log of a session.
func (l *keptLog) mend(ctx context.Context, id skein.SessionID) {
	if l.logs != nil {
		l.note(l.logs.Mend(ctx, id))
	}
}

// sweep starts to remove, from the logs of all users, those of sessions that were
// purged.
func (l *keptLog) sweep(ctx context.Context, all *sessionlog.Logs) {
	if l.logs == nil {
		return
	}
	l.swept = make(chan error, 1)
	go func() { l.swept <- all.Sweep(context.WithoutCancel(ctx)) }()
}

// add adds what was stored to the log of its session.
func (l *keptLog) add(id skein.SessionID, events []skein.Event) {
	l.note(l.logs.Append(context.Background(), id, events...))
}

// close waits until sweep has ended.
func (l *keptLog) close() {
	if l.swept != nil {
		l.note(<-l.swept)
		l.swept = nil
	}
}

// note says, once, that the log could not be written.
func (l *keptLog) note(err error) {
	if err != nil && !l.failed {
		l.failed = true
		l.tell("cannot write the log: %v", err)
	}
}
