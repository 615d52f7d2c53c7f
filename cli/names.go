package cli

import (
	"context"

	"github.com/skein-dev/skein"
)

// session returns the one session that a person means by name: its ID, key,
// the beginning or end of its ID, its title; - or last is the newest of this
// project.
//
// The error wraps errAmbiguous or skein.ErrNotFound.
func (j *job) session(ctx context.Context, name string) (skein.Session, error) {
	s, err := j.store.Session(ctx, skein.SessionID(name))
	return s, err
}

// shortID returns what to show for id where there is little room.
func shortID(id skein.SessionID) string {
	if len(id) == 36 && id[14] == '7' {
		return string(id[len(id)-8:])
	}
	return string(id[:min(len(id), 8)])
}
