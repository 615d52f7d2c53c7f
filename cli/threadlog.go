package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/sessionlog"
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

// catchUp adds to the log of s, if it has one, what a command that is not the
// session's thread has appended. Where there is a thread, that will do it.
func (j *job) catchUp(ctx context.Context, s *skein.Session) {
	if s.LockedBy != "" {
		return
	}
	path, err := sessionlog.Path(j.logDir(), s.User, s.ID)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err == nil {
		err = j.logs(j.store).Mend(ctx, s.ID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.say("the log is not written: %v", err)
	}
}

// openLog mends the thread's log, and has those of sessions removed that were
// deleted for good.
func (t *thread) openLog(ctx context.Context) {
	if t.logs == nil {
		return
	}
	if t.Begun() {
		t.badLog(t.logs.Mend(ctx, t.ID()))
	}
	t.swept = make(chan error, 1)
	go func() { t.swept <- t.job.logs(t.job.store).Sweep(context.WithoutCancel(ctx)) }()
}

// closeLog waits for what openLog has begun.
func (t *thread) closeLog() {
	if t.swept != nil {
		t.badLog(<-t.swept)
		t.swept = nil
	}
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
