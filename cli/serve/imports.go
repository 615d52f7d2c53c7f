package serve

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/examples"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/server/web/imports"
)

// importsOf returns the imports of the dashboard: nil unless the store is one person's, on
// this machine.
func importsOf(j *job.Job, purged func(skein.Session) error) *imports.Imports {
	if j.Place.Scheme != "sqlite" {
		return nil
	}
	return imports.New(imports.Options{
		Store: j.Store, Formats: exchange.All(), Home: exchange.Home(j), Checkout: j.LookUp, Samples: examples.Home(), Purged: purged,
		After: func(ctx context.Context, r interop.Report) error {
			_, err := exchange.Replaced(ctx, j, r)
			return err
		},
	})
}
