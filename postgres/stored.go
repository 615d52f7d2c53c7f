package postgres

import "github.com/skein-dev/skein"

// An echo is what follows from a commit and is no part of it: watchers look,
// other processes are told, the search index is fed.
type echo struct {
	index indexer
}

type indexer struct{}

func (indexer) finish() {}

func (c *core) begin()                                    {}
func (c *core) finish()                                   {}
func (c *core) stored(events int, ids ...skein.SessionID) {}
