package main

import (
	"context"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/sqlite"
)

// open opens the store at place.
func open(ctx context.Context, place config.Place) (skein.Store, error) {
	notice := func(text string) { fmt.Fprintln(os.Stderr, "skein:", text) }
	if place.Scheme == "postgres" {
		s, err := postgres.Open(ctx, place.Path, postgres.Options{Notice: notice})
		if err != nil { // else the interface would hold a nil pointer
			return nil, err
		}
		return s, nil
	}
	return sqlite.Open(ctx, place.Path, sqlite.Options{Notice: notice})
}
