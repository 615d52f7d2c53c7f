package listing

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// counted returns the expression of a row s of sessions that has the value of by, its
// tags as a JSON array; "" if sessions are not counted by that.
func counted(by skein.Dimension) string {
	return map[skein.Dimension]string{
		skein.ByModelID: "s.model", skein.ByAgent: "s.agent", skein.ByProject: "s.project", skein.ByBranch: "s.branch", skein.BySurface: "s.surface", skein.ByTag: "s.tags",
		skein.ByRepository: "CASE s.repository WHEN '' THEN s.project ELSE s.repository END",
		skein.ByState:      "CASE WHEN json_valid(s.state) THEN coalesce(s.state ->> '$.activity.state', 'idle') ELSE 'idle' END",
		skein.BySlot:       "s.updated / 900000 * 900000", // as [skein.Time.Slot]
	}[by]
}

// Count counts the sessions of f that a user may see, which has no title, by each of some
// dimensions, into t. It reads every session once and counts here: what SQLite must sort
// to count takes it longer than to pass it on.
//
// The error is the driver's, or wraps [skein.ErrCorrupt].
func Count(c *engine.Conn, user skein.User, f skein.Filter, by []skein.Dimension, t skein.SessionCounts) error {
	f.Before = nil
	w := where(user, f)
	var values []string
	for _, d := range by {
		values = append(values, counted(d))
		clear(t[d])
	}
	return c.Query(`SELECT `+strings.Join(values, ", ")+` FROM sessions s`+w.SQL(), w.Args, func(row []driver.Value) error {
		for i, d := range by {
			if err := count(t[d], d, row[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// count adds a session to counts that has v, of a column of [counted], for d.
func count(counts map[string]int, d skein.Dimension, v driver.Value) error {
	switch v := v.(type) {
	case int64:
		counts[skein.Time(v).String()]++
	case string:
		if d != skein.ByTag {
			counts[v]++
			return nil
		}
		var tags []string
		if v == "[]" {
			return nil
		}
		if err := json.Unmarshal([]byte(v), &tags); err != nil {
			return fmt.Errorf("tags %.100q: %w: %w", v, err, skein.ErrCorrupt)
		}
		for _, tag := range tags {
			counts[tag]++
		}
	default:
		return fmt.Errorf("%s: %T, want text or a number", d, v)
	}
	return nil
}
