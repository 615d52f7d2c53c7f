package project

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/provenance"
)

// A SharedCommit says how much of a commit which sessions wrote.
type SharedCommit struct {
	Hash, Subject, Author string
	Time                  skein.Time
	Files, Lines          int // that it changes, that it adds
	Known                 int // lines that sessions wrote
	By                    []CommitPart
}

// A CommitPart is what one session has in a commit.
type CommitPart struct {
	Session skein.Session
	Lines   int
	Made    bool // it made the commit
}

// Commits returns the newest commits of what is checked out in a folder, and whether
// there are more. The error is Git's or the store's.
func (s DataSource) Commits(ctx context.Context, dir string, most int) (all []SharedCommit, more bool, err error) {
	t, err := provenance.Open(ctx, s.Store, dir)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	hashes, err := t.Tree.Revisions(ctx, "HEAD", most+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(hashes) > most; more {
		hashes = hashes[:most]
	}
	for _, hash := range hashes {
		found, err := t.Commit(ctx, hash)
		if err != nil {
			return nil, false, err
		}
		c := SharedCommit{Hash: found.Commit.Hash, Subject: found.Commit.Subject, Author: found.Commit.Author, Time: found.Commit.Time, Files: len(found.Files), Lines: found.Lines}
		for _, share := range found.Shares {
			one, err := t.Session(ctx, share.Session)
			if err != nil {
				return nil, false, err
			}
			if one == nil {
				one = &skein.Session{ID: share.Session}
			}
			c.Known += share.Lines
			c.By = append(c.By, CommitPart{*one, share.Lines, share.Made})
		}
		all = append(all, c)
	}
	return all, more, nil
}
