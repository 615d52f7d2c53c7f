package clitest

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/store/memory"
)

// NewJob returns a job in a folder of its own, with a model that answers.
func NewJob(t *testing.T) (j *job.Job, cwd string) {
	t.Helper()
	env, _, _ := NewEnv(t, memory.New())
	cwd, err := env.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if cwd, err = filepath.EvalSymlinks(cwd); err != nil { // as project paths are resolved
		t.Fatal(err)
	}
	env.Getwd = func() (string, error) { return cwd, nil }
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if name == "SKEIN_MODEL" {
			return "echo"
		}
		return getenv(name)
	}
	env.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	j, err = (&job.Frame{Env: env}).NewJob()
	if err != nil {
		t.Fatal(err)
	}
	if j.Store, err = env.Open(t.Context(), j.Place); err != nil {
		t.Fatal(err)
	}
	return j, cwd
}

// NewEnv returns an environment with the store st, and what is printed in it.
func NewEnv(t *testing.T, st skein.Store) (env *config.Env, stdout, stderr *bytes.Buffer) {
	t.Helper()
	home := t.TempDir()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	vars := map[string]string{"HOME": home, "USERPROFILE": home, "SKEIN_HOME": home}
	return &config.Env{
		Stdin: strings.NewReader("hello"), Stdout: stdout, Stderr: stderr,
		Getenv: func(name string) string { return vars[name] },
		Getwd:  func() (string, error) { return home, nil },
		Now:    func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		OS:     "linux", Version: "test",
		Open: func(context.Context, config.Place) (skein.Store, error) { return st, nil },
	}, stdout, stderr
}

// A KeptOpen store stays open when a command that used it closes it.
type KeptOpen struct{ skein.Store }

func (w KeptOpen) Unwrap() skein.Store { return w.Store }

// Close implements [skein.Store]. It does nothing.
func (KeptOpen) Close() error { return nil }

// Begin puts a session with one message into st.
func Begin(t *testing.T, st skein.Store, id skein.SessionID, title string) {
	t.Helper()
	created := skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: title})
	if _, err := skein.Add(t.Context(), st, id, created, skein.Say(2, skein.UserSays("about "+title))); err != nil {
		t.Fatal(err)
	}
}
