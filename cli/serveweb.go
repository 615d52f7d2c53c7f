package cli

import (
	"log/slog"
	"sync"

	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web"
)

// webOptions returns the options of the dashboard.
func (j *job) webOptions(log *slog.Logger) web.Options {
	return web.Options{
		Version: j.Version, Now: j.Now, Log: log, Agents: handoffNames(), Secrets: redact.New(),
		Prices: sync.OnceValues(func() (*price.List, error) { return price.Load(j.settings.prices...) }),
	}
}
