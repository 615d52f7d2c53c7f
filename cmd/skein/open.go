package main

import (
	"context"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli"
	"github.com/skein-dev/skein/sqlite"
)

// open opens the store at place.
func open(ctx context.Context, place cli.Place) (skein.Store, error) {
	return sqlite.Open(ctx, place.Path, sqlite.Options{
		Notice: func(text string) { fmt.Fprintln(os.Stderr, "skein:", text) },
	})
}
