package cli

import (
	"context"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server"
)

// apiOptions returns the options of the API.
func (j *job) apiOptions() server.Options {
	return server.Options{
		Store: j.store, Version: j.Version, Now: j.Now, Formats: formats(), Redact: redact.New(),
		Prices: sync.OnceValues(func() (*price.List, error) { return price.Load(j.settings.prices...) }),
		Purged: func(u skein.User, id skein.SessionID) error { return sessionlog.Remove(j.logDir(), u, id) },
		Ready: func(ctx context.Context) error {
			for _, err := range j.store.Sessions(ctx, skein.Filter{Limit: 1}) {
				return err
			}
			return nil
		},
	}
}
