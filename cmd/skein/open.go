package main

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli"
)

// open opens the store at place.
func open(ctx context.Context, place cli.Place) (skein.Store, error) {
	return nil, fmt.Errorf("store %s:%s: there is none yet", place.Scheme, place.Path)
}
