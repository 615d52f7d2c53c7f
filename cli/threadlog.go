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

// logDir returns the folder with the logs of all sessions.
func (j *job) logDir() string { return filepath.Join(j.dirs.State, "log") }

// logs returns the writer of the logs of the sessions in store; nil, which writes
// none, if logs are turned off in the settings.
func (j *job) logs(store skein.Store) *sessionlog.Logs {
	if j.settings.text("log") == "off" {
		return nil
	}
	return sessionlog.New(j.logDir(), store)
}

// catchUp adds to the log of s, if it has one, what a command has appended outside
// the session's thread. If a thread is open, it does that itself.
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

// openLog repairs the thread's log, and starts to remove the logs of sessions that
// were deleted for good.
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

// closeLog waits for what openLog started.
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
		id = t.at.session.ID // the thread is still being opened
	}
	t.badLog(t.logs.Append(context.Background(), id, u.Events...))
}

// badLog says, once, that the log could not be written. The turn continues: a log can
// be rebuilt.
func (t *thread) badLog(err error) {
	if err != nil && !t.logFailed {
		t.logFailed = true
		t.face.tell("the log is not written: %v", err)
	}
}
