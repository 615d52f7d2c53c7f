package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/web/transcript"
)

// funcs are what templates may call.
func (s *site) funcs() template.FuncMap {
	return template.FuncMap{
		"asset":     func(name string) string { return s.assets[name].url },
		"ago":       func(t skein.Time) string { return ago(t, s.Now()) },
		"age":       func(t skein.Time) string { return age(t, s.Now()) },
		"stamp":     stamp,
		"day":       func(t skein.Time) string { return t.Std().In(s.Now().Location()).Format("Jan 2, 2006") },
		"iso":       func(t skein.Time) string { return t.String() },
		"count":     func(n any) string { return render.Count(toInt(n)) },
		"short":     func(n any) string { return render.Short(toInt(n)) },
		"bytes":     func(n any) string { return render.Bytes(toInt(n)) },
		"megabytes": func(n int64) int64 { return (n + 999_999) / 1_000_000 },
		"line":      func(text string) string { return s.Redact(render.Line(text)) },
		"session":   transcript.SessionPath,
		"base":      base,
		"compare":   comparePath,
		"project":   func(of skein.Session) string { return projectPath(cmp.Or(of.Checkout.Repository, of.Project)) },
		"plural":    plural,
		"shares":    func() bool { return s.Shares.Shares != nil },
		"views":     s.views,
		"version":   func() string { return s.Version },
	}
}

func toInt(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case skein.Seq:
		return int64(n)
	}
	return 0
}

// plural returns a number with its noun: 1 turn, 12 turns.
func plural(n any, what string) string {
	if toInt(n) == 1 {
		return "1 " + what
	}
	return render.Count(toInt(n)) + " " + what + "s"
}

// stamp returns t for people, in UTC; the page's script converts it to the
// reader's time zone.
func stamp(t skein.Time) string {
	if t == 0 {
		return ""
	}
	return t.Std().UTC().Format("2006-01-02 15:04 MST")
}

// ago returns how long ago t was: just now, 5 min, 3 h, 2 d, or its date.
func ago(t skein.Time, now time.Time) string {
	if t == 0 {
		return ""
	}
	switch d := now.Sub(t.Std()); {
	case d < -time.Minute, d >= 7*24*time.Hour:
		return t.Std().UTC().Format("2006-01-02")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d/time.Hour))
	default:
		return fmt.Sprintf("%d d ago", int(d/(24*time.Hour)))
	}
}

// age returns how long ago t was, as briefly as it can be said: now, 5m, 3h, 2d, Nov 2,
// Nov 2025.
func age(t skein.Time, now time.Time) string {
	at := t.Std().In(now.Location())
	switch d := now.Sub(at); {
	case d < -time.Minute, d >= 7*24*time.Hour:
		if at.Year() == now.Year() {
			return at.Format("Jan 2")
		}
		return at.Format("Jan 2006")
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	default:
		return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
	}
}

// base returns the last element of a path of any system.
func base(path string) string {
	path = strings.TrimRight(path, `/\`)
	return render.Line(path[strings.LastIndexAny(path, `/\`)+1:])
}

// views returns links to the other pages of a session.
func (s *site) views(id skein.SessionID) []navLink {
	all := sessionViews(transcript.SessionPath(id))
	if s.Chat != nil {
		all = append([]navLink{{"chat", "Chat", transcript.SessionPath(id) + "/chat"}}, all...)
	}
	return all
}
