package thread

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/internal/repository"
)

// A Start is the thread to use if no flag picks one.
type Start int

// The starts.
const (
	ProjectThread Start = iota // the one with the project's key, or a new one with that key
	NewestThread               // as with -c, but it must exist
	FreshThread                // a new one
)

// A Selection is the session that a thread is to work on.
type Selection struct {
	Session skein.Session // to continue or to fork; its ID is "" if there is none
	Forked  bool          // a new one that begins as a fork of session
	Created skein.Created // creation of a new one

	// Again finds another spot if another program has just taken the key of this one;
	// nil if there is no other.
	Again func(ctx context.Context) (Selection, error)
}

// IsNew reports whether the session is not stored yet.
func (s *Selection) IsNew() bool { return s.Session.ID == "" || s.Forked }

// stored returns the ID of the session to continue, "" for a new one.
func (s *Selection) stored() skein.SessionID {
	if s.IsNew() {
		return ""
	}
	return s.Session.ID
}

// forkAt returns the spot of a new session that shows s up to a seq. It costs
// nothing before its first message; until then, earlier messages are read from s.
func forkAt(j *job.Job, s skein.Session, at skein.Seq, title string) Selection {
	return Selection{Session: s, Forked: true, Created: sessions.ForkOf(s, at, title, j.Version)}
}

// user returns the owner of the session.
func (s *Selection) user() skein.User {
	if s.IsNew() {
		return s.Created.User
	}
	return s.Session.User
}

// Project returns the project that the session belongs to.
func (s *Selection) Project() string {
	if s.IsNew() {
		return s.Created.Project
	}
	return s.Session.Project
}

// pick returns the spot that the flags mean.
func (o *Options) pick(ctx context.Context, j *job.Job, start Start) (Selection, error) {
	switch {
	case o.Name != "":
		return o.named(ctx, j)
	case o.Key != "":
		return o.Keyed(ctx, j)
	case o.Newest || start == NewestThread:
		s, err := o.latest(ctx, j)
		if !errors.Is(err, skein.ErrNotFound) || start == NewestThread {
			return s, err
		}
	case start == FreshThread:
		return o.Fresh(ctx, j)
	}
	return o.projects(ctx, j)
}

// named returns the session that --resume names.
func (o *Options) named(ctx context.Context, j *job.Job) (Selection, error) {
	mine := *j
	if o.User != "" {
		mine.Store = j.Store.As(skein.User(o.User))
	}
	s, err := sessions.Live(ctx, &mine, o.Name)
	return Selection{Session: s}, err
}

// Keyed returns the session with the key in --key, or a new one.
//
// The error is that of the store.
func (o *Options) Keyed(ctx context.Context, j *job.Job) (Selection, error) {
	s, err := withKey(ctx, j, o.who(j), o.Key)
	if !errors.Is(err, skein.ErrNotFound) {
		return Selection{Session: s}, err
	}
	again := func(ctx context.Context) (Selection, error) { return o.Keyed(ctx, j) }
	return o.begin(j, o.Key, again)
}

// latest returns the newest session of the command line, preferably of this
// project, except children of agents and imported sessions.
func (o *Options) latest(ctx context.Context, j *job.Job) (Selection, error) {
	here, err := o.place(j)
	if err != nil {
		return Selection{}, err
	}
	near := skein.Filter{Project: here.Project, Repository: here.Checkout.Repository}
	if o.here {
		near.Repository = ""
	}
	for _, f := range []skein.Filter{near, {}} {
		f.User, f.Surface, f.NoChildren, f.Born, f.Limit = o.who(j), "cli", true, true, 1
		if found, err := sessions.Matching(ctx, j, f); err != nil || len(found) > 0 {
			return Selection{Session: append(found, skein.Session{})[0]}, err
		}
	}
	return Selection{}, fault.Advise(fault.Missing("there is no session to continue yet"), "begin one: skein chat, or skein run PROMPT")
}

// projects returns the project's own thread; if it has none, that of another clone
// of the same repository.
func (o *Options) projects(ctx context.Context, j *job.Job) (Selection, error) {
	here, err := o.place(j)
	if err != nil {
		return Selection{}, err
	}
	key, s, err := projectKey(ctx, j, o.who(j), here.Project)
	if err == nil && s.ID == "" && !o.here {
		s, err = repositoryThread(ctx, j, o.who(j), here.Checkout.Repository)
	}
	if err != nil || s.ID != "" {
		return Selection{Session: s}, err
	}
	again := func(ctx context.Context) (Selection, error) { return o.projects(ctx, j) }
	return o.begin(j, key, again)
}

// Fresh returns a new session: for a one-shot, or after /new.
//
// The error is that of the store, or of finding the working directory.
func (o *Options) Fresh(ctx context.Context, j *job.Job) (Selection, error) {
	cwd, err := o.folder(j)
	if err != nil {
		return Selection{}, err
	}
	base, _, err := projectKey(ctx, j, o.who(j), repository.Project(cwd))
	if err != nil {
		return Selection{}, err
	}
	return o.freshAt(j, base, j.Now().UnixMilli())
}

// freshAt returns a new session with a key of base and a number of milliseconds; if
// that is taken, with the next number.
func (o *Options) freshAt(j *job.Job, base string, ms int64) (Selection, error) {
	again := func(context.Context) (Selection, error) { return o.freshAt(j, base, ms+1) }
	return o.begin(j, fmt.Sprintf("%s:%d", base, ms), again)
}

// begin returns a new session with this key.
func (o *Options) begin(j *job.Job, key string, again func(context.Context) (Selection, error)) (Selection, error) {
	here, err := o.place(j)
	if err != nil {
		return Selection{}, err
	}
	return Selection{Again: again, Created: skein.Created{
		Key: key, User: o.who(j), Surface: "cli", Project: here.Project, Cwd: here.Cwd, Checkout: here.Checkout.Known(), Program: "skein", Version: j.Version,
	}}, nil
}

// who returns the user that new sessions belong to.
func (o *Options) who(j *job.Job) skein.User {
	if o.User != "" {
		return skein.User(o.User)
	}
	return j.Owner()
}

// folder returns the folder in which the person works.
func (o *Options) folder(j *job.Job) (string, error) {
	if o.Cwd != "" {
		return j.Folder(o.Cwd)
	}
	return j.Getwd()
}

// place returns the folder in which the person works, its project, and what is
// checked out there, as fields of a session.
func (o *Options) place(j *job.Job) (here skein.Session, err error) {
	if here.Cwd, err = o.folder(j); err == nil {
		here.Checkout, here.Project = j.Here(here.Cwd)
	}
	return here, err
}

// elsewhere reports whether the session at a spot belongs to another project than
// the person's.
func (o *Options) elsewhere(j *job.Job, at Selection) bool {
	cwd, err := o.folder(j)
	return err == nil && at.Session.Project != repository.Project(cwd) && at.Session.Project != ""
}

// projectKey returns the key of the project's own thread, and the thread if it has
// begun. It is the key among projectKeys that has a session of this project, else
// the first one that is free.
func projectKey(ctx context.Context, j *job.Job, u skein.User, project string) (string, skein.Session, error) {
	free := ""
	for _, key := range projectKeys(project) {
		s, err := withKey(ctx, j, u, key)
		switch there := err == nil; {
		case there && s.Project == project:
			return key, s, nil
		case !there && !IsNotFound(err):
			return "", s, err
		case !there && free == "":
			free = key
		}
	}
	return free, skein.Session{}, nil
}

// keyAt returns the key that a session has once it belongs to a project: if it is the
// thread of its project, it becomes the thread of that one, unless that has one
// already.
//
// The error is that of the store.
func keyAt(ctx context.Context, j *job.Job, s skein.Session, project string) (string, error) {
	if !slices.Contains(projectKeys(s.Project), s.Key) || slices.Contains(projectKeys(project), s.Key) {
		return s.Key, nil
	}
	key, has, err := projectKey(ctx, j, s.User, project)
	if err != nil || has.ID != "" || key == "" {
		return s.Key, err
	}
	return key, nil
}

// repositoryThread returns the thread of a project that is a clone of the repository:
// the one that was used last. It has no ID if there is none.
func repositoryThread(ctx context.Context, j *job.Job, u skein.User, repository string) (skein.Session, error) {
	if repository == "" {
		return skein.Session{}, nil
	}
	for s, err := range j.Store.Sessions(ctx, skein.Filter{User: u, Repository: repository, Surface: "cli", NoChildren: true, Born: true}) {
		if err != nil || slices.Contains(projectKeys(s.Project), s.Key) {
			return s, err
		}
	}
	return skein.Session{}, nil
}

// projectKeys returns the keys that a project may use, in the order in which they
// are tried: cli:api, cli:work/api, …, the whole path, and one that is unique.
func projectKeys(project string) []string {
	path := strings.Trim(filepath.ToSlash(project), "/")
	if path == "" {
		return []string{"cli:/"}
	}
	words := strings.Split(path, "/")
	var keys []string
	for i := len(words) - 1; i >= 0; i-- {
		key := "cli:" + strings.Join(words[i:], "/")
		if !isKey(key) {
			break
		}
		keys = append(keys, key)
	}
	sum := sha256.Sum256([]byte(project))
	return append(keys, "cli:~"+hex.EncodeToString(sum[:8]))
}

// isKey reports whether key is valid with the milliseconds of a fresh session
// added.
func isKey(key string) bool {
	return len(key) <= skein.MaxIDLen-len(":1795230386350") && utf8.ValidString(key) && !strings.ContainsFunc(key, unicode.IsControl)
}

// withKey returns the session of u with this key. The error wraps
// skein.ErrNotFound if there is none.
func withKey(ctx context.Context, j *job.Job, u skein.User, key string) (skein.Session, error) {
	found, err := sessions.Matching(ctx, j, skein.Filter{User: u, Key: key, Limit: 1, IncludeEmpty: true})
	if err != nil {
		return skein.Session{}, err
	}
	if len(found) == 0 {
		return skein.Session{}, fault.Missing("no session with the key %q", key)
	}
	return found[0], nil
}
