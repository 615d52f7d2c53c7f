package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// A start is the thread to use if no flag picks one.
type start int

// The starts.
const (
	projectThread start = iota // the one with the project's key, or a new one with that key
	newestThread               // as with -c, but it must exist
	freshThread                // a new one
)

// A spot is the session that a thread is to work on.
type spot struct {
	session skein.Session // to continue or to fork; its ID is "" if there is none
	forked  bool          // a new one that begins as a fork of session
	created skein.Created // creation of a new one

	// again finds another spot if another program has just taken the key of this one;
	// nil if there is no other.
	again func(ctx context.Context) (spot, error)
}

// isNew reports whether the session is not stored yet.
func (s *spot) isNew() bool { return s.session.ID == "" || s.forked }

// stored returns the ID of the session to continue, "" for a new one.
func (s *spot) stored() skein.SessionID {
	if s.isNew() {
		return ""
	}
	return s.session.ID
}

// forkAt returns the spot of a new session that shows s up to a seq. It costs
// nothing before its first message; until then, earlier messages are read from s.
func (j *job) forkAt(s skein.Session, at skein.Seq, title string) spot {
	return spot{session: s, forked: true, created: forkOf(s, at, title, j.Version)}
}

// user returns the owner of the session.
func (s *spot) user() skein.User {
	if s.isNew() {
		return s.created.User
	}
	return s.session.User
}

// project returns the project that the session belongs to.
func (s *spot) project() string {
	if s.isNew() {
		return s.created.Project
	}
	return s.session.Project
}

// pick returns the spot that the flags mean.
func (o *threadOptions) pick(ctx context.Context, j *job, start start) (spot, error) {
	switch {
	case o.name != "":
		return o.named(ctx, j)
	case o.key != "":
		return o.keyed(ctx, j)
	case o.newest || start == newestThread:
		s, err := o.latest(ctx, j)
		if !errors.Is(err, skein.ErrNotFound) || start == newestThread {
			return s, err
		}
	case start == freshThread:
		return o.fresh(ctx, j)
	}
	return o.projects(ctx, j)
}

// named returns the session that --resume names.
func (o *threadOptions) named(ctx context.Context, j *job) (spot, error) {
	mine := *j
	if o.user != "" {
		mine.store = j.store.As(skein.User(o.user))
	}
	s, err := mine.session(ctx, o.name)
	return spot{session: s}, err
}

// keyed returns the session with the key in --key, or a new one.
func (o *threadOptions) keyed(ctx context.Context, j *job) (spot, error) {
	s, err := j.withKey(ctx, o.who(j), o.key)
	if !errors.Is(err, skein.ErrNotFound) {
		return spot{session: s}, err
	}
	again := func(ctx context.Context) (spot, error) { return o.keyed(ctx, j) }
	return o.begin(j, o.key, again)
}

// latest returns the newest session of the command line, preferably of this
// project, except children of agents and imported sessions.
func (o *threadOptions) latest(ctx context.Context, j *job) (spot, error) {
	_, project, err := o.place(j)
	if err != nil {
		return spot{}, err
	}
	for _, f := range []skein.Filter{{Project: project}, {}} {
		f.User, f.Surface, f.NoChildren, f.Born, f.Limit = o.who(j), "cli", true, true, 1
		if found, err := j.sessions(ctx, f); err != nil || len(found) > 0 {
			return spot{session: append(found, skein.Session{})[0]}, err
		}
	}
	return spot{}, advise(missing("there is no session to go on with yet"), "begin one: skein chat, or skein run PROMPT")
}

// projects returns the project's own thread.
func (o *threadOptions) projects(ctx context.Context, j *job) (spot, error) {
	_, project, err := o.place(j)
	if err != nil {
		return spot{}, err
	}
	key, s, err := j.projectKey(ctx, o.who(j), project)
	if err != nil || s.ID != "" {
		return spot{session: s}, err
	}
	again := func(ctx context.Context) (spot, error) { return o.projects(ctx, j) }
	return o.begin(j, key, again)
}

// fresh returns a new session: for a one-shot, or after /new.
func (o *threadOptions) fresh(ctx context.Context, j *job) (spot, error) {
	_, project, err := o.place(j)
	if err != nil {
		return spot{}, err
	}
	base, _, err := j.projectKey(ctx, o.who(j), project)
	if err != nil {
		return spot{}, err
	}
	return o.freshAt(j, base, j.Now().UnixMilli())
}

// freshAt returns a new session with a key of base and a number of milliseconds; if
// that is taken, with the next number.
func (o *threadOptions) freshAt(j *job, base string, ms int64) (spot, error) {
	again := func(context.Context) (spot, error) { return o.freshAt(j, base, ms+1) }
	return o.begin(j, fmt.Sprintf("%s:%d", base, ms), again)
}

// begin returns a new session with this key.
func (o *threadOptions) begin(j *job, key string, again func(context.Context) (spot, error)) (spot, error) {
	cwd, project, err := o.place(j)
	if err != nil {
		return spot{}, err
	}
	return spot{again: again, created: skein.Created{
		Key: key, User: o.who(j), Surface: "cli", Project: project, Cwd: cwd, Program: "skein", Version: j.Version,
	}}, nil
}

// who returns the user that new sessions belong to.
func (o *threadOptions) who(j *job) skein.User {
	if o.user != "" {
		return skein.User(o.user)
	}
	return j.owner()
}

// place returns the folder in which the person works, and its project.
func (o *threadOptions) place(j *job) (cwd, project string, err error) {
	if cwd, err = j.Getwd(); err != nil {
		return "", "", err
	}
	if o.cwd != "" {
		if cwd, err = j.folder(o.cwd); err != nil {
			return "", "", err
		}
	}
	return cwd, projectRoot(cwd), nil
}

// folder returns the absolute path of the folder that a person names.
func (j *job) folder(path string) (string, error) {
	cwd, err := j.Getwd()
	if err != nil {
		return "", err
	}
	path = fromHome(path, j.dirs.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", advise(missing("--cwd: there is no folder %s", path), "name one that is there, or make it first: mkdir -p %s", shellWord(path))
	case !info.IsDir():
		return "", usagef("--cwd: %s is no folder", path)
	}
	return filepath.Clean(path), nil
}

// elsewhere reports whether the session at a spot belongs to another project than
// the person's.
func (o *threadOptions) elsewhere(j *job, at spot) bool {
	_, project, err := o.place(j)
	return err == nil && at.session.Project != project && at.session.Project != ""
}
