package transcript

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// ZoneCookie is the name of the cookie in which the page's script keeps the reader's
// time zone: an IANA name, such as Europe/Paris.
const ZoneCookie = "skein_zone"

// ZoneOf returns the time zone of who sent r; UTC if that is not known.
func ZoneOf(r *http.Request) *time.Location {
	c, err := r.Cookie(ZoneCookie)
	if err != nil || c.Value == "" || c.Value == "Local" {
		return time.UTC
	}
	if zone, err := time.LoadLocation(strings.ReplaceAll(c.Value, "%2F", "/")); err == nil {
		return zone
	}
	return time.UTC
}

// clockMark is shown where a day begins, and where nothing happened for a while.
type clockMark struct {
	Day  string // "Saturday, November 21, 2026"; "" if it is the same day
	Date string // 2026-11-21
	Gap  string // "2 h later"; "" for none
}

// quiet is how long nothing happens before the page says so.
const quiet = 30 * time.Minute

func (v *PageView) in(t skein.Time) time.Time {
	return t.Std().In(cmp.Or(v.Zone, time.UTC))
}

// Clock returns the time of day of t for the reader: 14:03.
func (v *PageView) Clock(t skein.Time) string { return v.in(t).Format("15:04") }

// Stamp returns t for the reader, with its date and zone.
func (v *PageView) Stamp(t skein.Time) string { return v.in(t).Format("2006-01-02 15:04:05 MST") }

// clock adds a mark before what happened at now, if a day begins or nothing happened for
// a while.
func (t *transcriber) clock(now skein.Time) {
	if now == 0 {
		return
	}
	var m clockMark
	at := t.in(now)
	if m.Date = at.Format("2006-01-02"); m.Date != t.date {
		m.Day, t.date = at.Format("Monday, January 2, 2006"), m.Date
	}
	if gap := now.Std().Sub(t.last.Std()); t.last > 0 && gap >= quiet {
		m.Gap = later(gap)
	}
	if t.last = max(t.last, now); m.Day != "" || m.Gap != "" {
		t.add(transcriptItem{Clock: &m})
	}
}

// later returns how much later something is: 40 min later, 2 h later, 3 days later.
func later(d time.Duration) string {
	switch {
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min later", int(d.Minutes()))
	case d < 36*time.Hour:
		return fmt.Sprintf("%d h later", int((d + 30*time.Minute).Hours()))
	}
	return fmt.Sprintf("%d days later", int((d+12*time.Hour).Hours()/24))
}
