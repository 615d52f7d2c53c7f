package cli

import (
	"context"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/sessionlog"
)

// logDir returns the folder of the logs of all sessions.
func (j *job) logDir() string { return filepath.Join(j.dirs.State, "log") }

// logs returns what writes the logs of the sessions in store; nil, which writes
// none, if the settings say so.
func (j *job) logs(store skein.Store) *sessionlog.Logs {
	if j.settings.text("log") == "off" {
		return nil
	}
	return sessionlog.New(j.logDir(), store)
}

// openLog mends the thread's log, and removes those of sessions that were
// deleted for good.
func (t *thread) openLog(ctx context.Context) {
	if t.logs == nil {
		return
	}
	if t.Begun() {
		t.badLog(t.logs.Mend(ctx, t.ID()))
	}
	t.badLog(t.logs.Sweep(ctx))
}

// log adds what was stored to the log of its session.
func (t *thread) log(u agent.Update) {
	id := u.Child
	if id == "" && t.Thread != nil {
		id = t.ID()
	} else if id == "" {
		id = t.at.session.ID // its thread is being opened
	}
	t.badLog(t.logs.Append(context.Background(), id, u.Events...))
}

// badLog says, once, that the log could not be written. The turn goes on: a
// log can be made again.
func (t *thread) badLog(err error) {
	if err != nil && !t.logFailed {
		t.logFailed = true
		t.face.tell("the log is not written: %v", err)
	}
}
