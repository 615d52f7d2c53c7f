package sessions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
)

// LogDir returns the folder with the logs of all sessions.
func LogDir(j *job.Job) string { return filepath.Join(j.Dirs.State, "log") }

// Logs returns the writer of the logs of the sessions in store; nil, which writes
// none, if logs are turned off in the settings.
func Logs(j *job.Job, store skein.Store) *sessionlog.Logs {
	if j.Settings.Text("log") == "off" {
		return nil
	}
	return sessionlog.New(LogDir(j), store)
}

// CatchUpLog adds to the log of s, if it has one, what a command has appended outside
// the session's thread. If a thread is open, it does that itself.
func CatchUpLog(ctx context.Context, j *job.Job, s *skein.Session) {
	if s.LockedBy != "" {
		return
	}
	path, err := sessionlog.Path(LogDir(j), s.User, s.ID)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err == nil {
		err = Logs(j, j.Store).Mend(ctx, s.ID)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.Say("cannot write the log: %v", err)
	}
}

// LogOf returns the path of the log of s; a log that was lost is rebuilt first.
//
// The error wraps skein.ErrNotFound if the session has no log.
func LogOf(ctx context.Context, j *job.Job, s skein.Session) (string, error) {
	path, err := sessionlog.Path(LogDir(j), s.User, s.ID)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		ran, ranErr := sessionlog.Ran(ctx, j.Store, s)
		if ran && ranErr == nil {
			ranErr = Logs(j, j.Store).Mend(ctx, s.ID)
		}
		if ranErr != nil {
			return "", ranErr
		}
		_, err = os.Stat(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.Advise(fault.Missing("session %s has no log: only those that skein ran have one", ShortID(s.ID)),
			"read it with: skein show %s", ShortID(s.ID))
	}
	return path, err
}

// Write prints the current state of session id as JSON.
//
// The error is that of the store or of writing to stdout.
func Write(ctx context.Context, j *job.Job, id skein.SessionID) error {
	s, err := j.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	costs, err := Costs(ctx, j, []skein.Session{s})
	if err != nil {
		return err
	}
	return WriteAll(j.Stdout, []skein.Session{s}, costs)
}
