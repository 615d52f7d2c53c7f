package web

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

// sum returns what rows cost at a time, for people: >$1.20 if some of it has no
// price, ? if none has, "" if nothing was used.
func sum(table *price.Table, rows []skein.UsageRow, at skein.Time) string {
	total, unpriced := price.NanoUSD(0), false
	for _, r := range rows {
		usd, ok := table.Cost(r.Provider, r.Model, at, r.Usage)
		total += usd
		unpriced = unpriced || !ok
	}
	switch {
	case total == 0 && unpriced:
		return "?"
	case total == 0:
		return ""
	case unpriced:
		return ">" + dollars(total)
	}
	return dollars(total)
}
