package activity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
)

// Probes are where to look what the events of sessions do not say. What is nil is not
// looked at: the files and hooks of another machine say nothing here.
type Probes struct {
	File func(path string) (os.FileInfo, error)            // such as [os.Stat]: looks a source file up
	News func(agent, session string) (hooknews.News, bool) // such as [hooknews.Board.Of]: what hooks last said
}

// A Now is a session and what it is doing.
type Now struct {
	skein.Session
	Situation
}

// All returns what the sessions that f selects are doing at the time now: those that
// wait for a person first, then those that work, then the others, the newest first.
//
// The errors are the store's.
func All(ctx context.Context, store skein.Store, f skein.Filter, now skein.Time, p Probes) ([]Now, error) {
	var all []Now
	for s, err := range store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		all = append(all, Now{Session: s})
	}
	for i := range all {
		n := &all[i]
		x, err := Look(ctx, store, &n.Session, now, p)
		if err != nil {
			return nil, err
		}
		n.Situation = Of(&n.Session, x)
		if n.Text == "" {
			if n.Text, err = why(ctx, store, n); err != nil {
				return nil, err
			}
		}
		n.Text = skein.FirstWords(n.Text)
	}
	slices.SortStableFunc(all, func(a, b Now) int { return cmp.Compare(rank(a.State), rank(b.State)) })
	return all, nil
}

func rank(s skein.WorkState) int {
	switch s {
	case skein.StateWaiting:
		return 0
	case skein.StateWorking:
		return 1
	}
	return 2
}

// Look looks up what [Of] wants to know about s beside its events.
//
// The errors are the store's; a file that cannot be looked up is no error.
func Look(ctx context.Context, store skein.Store, s *skein.Session, now skein.Time, p Probes) (Sight, error) {
	x := Sight{Now: now}
	if p.News != nil && s.Origin != nil {
		x.News, _ = p.News(s.Origin.Format, cmp.Or(s.Origin.ID, string(s.ID)))
	}
	if p.File == nil || s.Origin == nil || !ownFile(s.Origin.Path) {
		return x, nil
	}
	info, err := p.File(s.Origin.Path)
	if err != nil || !info.Mode().IsRegular() {
		return x, nil //nolint:nilerr // it is gone, or on another machine
	}
	x.Changed = skein.At(info.ModTime())
	if now.Std().Sub(x.Changed.Std()) >= growing {
		return x, nil
	}
	read, err := skein.SourcesOf(store).File(ctx, s.Origin.Format, s.Origin.Path)
	if errors.Is(err, skein.ErrNotFound) {
		return x, nil
	}
	x.Ahead = info.Size() > read.Size
	return x, err
}

// ownFile reports whether a source at path is a text of one session: a database or a
// folder changes with every session that it has.
func ownFile(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".json", ".ndjson", ".md":
		return true
	}
	return false
}

// why returns the question that a session asks, or the error that it ended with.
func why(ctx context.Context, store skein.Store, n *Now) (string, error) {
	if n.Seq == 0 {
		return "", nil
	}
	for e, err := range store.Events(ctx, n.ID, n.Seq-1) {
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrCorrupt) {
			return "", nil // it was deleted meanwhile, or cannot be read
		}
		if err != nil {
			return "", err
		}
		return Says(e, n.Activity.Call()), nil
	}
	return "", nil
}

// Says returns what the event e says to a person: the question of the call c, which
// may be nil, or an error.
func Says(e skein.Event, c *skein.ActiveCall) string {
	f, err := skein.FactsOf(e)
	switch {
	case err != nil:
	case f.Tool != nil:
		return cmp.Or(f.Tool.Ask, f.Tool.Title)
	case f.Step != nil && f.Step.Error != nil:
		return f.Step.Error.Message
	case f.Ended != nil:
		return f.Ended.How
	case f.Message != nil && f.Message.Error != nil:
		return f.Message.Error.Message
	case f.Message != nil && c != nil:
		for _, p := range f.Message.Parts {
			if p.Call != nil && p.Call.ID == c.ID {
				return question(p.Call.Input)
			}
		}
	}
	return ""
}

// question returns what a tool asks in its input: the first text under a name that
// says so, at any depth.
func question(input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) != nil {
		return ""
	}
	for _, name := range []string{"question", "plan", "prompt", "message", "response"} {
		if text := find(v, name); text != "" {
			return text
		}
	}
	return ""
}

// find returns the first text under name in v.
func find(v any, name string) string {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v[name].(string); ok {
			return text
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text := find(v[key], name); text != "" {
				return text
			}
		}
	case []any:
		for _, x := range v {
			if text := find(x, name); text != "" {
				return text
			}
		}
	}
	return ""
}
