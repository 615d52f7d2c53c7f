package provenance

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/internal/repository"
)

// A Question names lines of a file.
type Question struct {
	File        string // path
	Revision    string // "" for the file as it is now
	First, Last int    // 0 for the first, and the last
}

// A Report says whose the lines of a file are.
type Report struct {
	File     string // relative to the root
	Lines    []git.Line
	Answers  []Answer // one for each line
	Sessions map[skein.SessionID]*skein.Session
}

// Blame answers q. The error wraps [skein.ErrNotFound] if the file is in no working tree,
// and is Git's or the store's otherwise.
func Blame(ctx context.Context, store skein.Store, q Question) (_ *Report, err error) {
	file, err := filepath.Abs(q.File)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir, file = real, filepath.Join(real, filepath.Base(file))
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(repo.Root, file)
	if err != nil {
		return nil, err
	}
	r := &Report{File: filepath.ToSlash(name)}
	if r.Lines, err = repo.Blame(ctx, q.Revision, r.File, q.First, q.Last); err != nil {
		return nil, err
	}
	s := &Searcher{Store: store, Root: repo.Root}
	if at, err := repository.At(repo.Root); err == nil {
		s.Repo = at.Repository
	}
	paths := []string{r.File}
	for _, l := range r.Lines {
		if !slices.Contains(paths, l.Path) {
			paths = append(paths, l.Path)
		}
	}
	ancestry, err := repo.Ancestry(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ancestry.Close()) }()
	rule := s.rule(ctx, ancestry)
	for i := range r.Lines { // first, for the makers tell what else the repository was called
		if _, err := rule.Maker(r.Lines[i].Commit); err != nil {
			return nil, err
		}
	}
	if rule.Writes, err = s.Writes(ctx, paths); err != nil {
		return nil, err
	}
	r.Answers, err = rule.Answers(r.Lines)
	r.Sessions = s.sessions
	return r, err
}

// rule returns a rule that looks up what it asks for.
func (s *Searcher) rule(ctx context.Context, ancestry *git.Ancestry) *Attributor {
	known, makers := map[string]skein.Time{}, map[*git.Commit]skein.SessionID{}
	before := func(c *git.Commit) (t skein.Time, err error) {
		if c.Hash == "" {
			return 0, nil
		}
		t, ok := known[c.Hash]
		if !ok {
			if t, err = ancestry.Before(c); err == nil {
				known[c.Hash] = t
			}
		}
		return t, err
	}
	return &Attributor{
		Before: before,
		Others: func(text string) ([]Write, error) { return s.Others(ctx, text) },
		Active: func(w *Write, from, to skein.Time) (bool, error) { return s.Active(ctx, w, from, to) },
		Maker: func(c *git.Commit) (maker skein.SessionID, err error) {
			maker, ok := makers[c]
			if !ok && c.Hash != "" && !c.ByBot() {
				if maker, err = s.Maker(ctx, c); err == nil {
					makers[c] = maker
				}
			}
			return maker, err
		},
		Happened: func(w *Write) (bool, error) { return s.Happened(ctx, w) },
		Alive: func(c *git.Commit) (bool, error) {
			from, err := before(c)
			if err != nil || c.Hash == "" {
				return c.Hash == "", err
			}
			return s.Alive(ctx, from, c.Time+slack)
		},
	}
}
