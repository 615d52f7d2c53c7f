package server

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// patch is the body of PATCH /v1/sessions/{id}: fields that are left out stay
// unchanged.
type patch struct {
	Title       *string   `json:"title,omitempty" doc:"title given by a person: no model or import replaces it"`
	Description *string   `json:"description,omitempty"`
	Key         *string   `json:"key,omitempty" doc:"an empty key removes it"`
	Pinned      *bool     `json:"pinned,omitempty"`
	Tags        *[]string `json:"tags,omitempty" doc:"the complete list of tags"`
	Agent       *string   `json:"agent,omitempty"`
	Provider    *string   `json:"provider,omitempty"`
	Model       *string   `json:"model,omitempty"`
	Profile     *string   `json:"profile,omitempty"`
	Project     *string   `json:"project,omitempty"`
	Cwd         *string   `json:"cwd,omitempty"`
	Status      *string   `json:"status,omitempty"`
}

// patches registers the route that changes a session's title, tags and so on.
func (a sessionOps) patches(t *openapi.Table) {
	type in struct {
		ID   skein.SessionID `path:"id"`
		If   string          `header:"If-Match" doc:"ETag of the version to change; 412 if the current version is another one"`
		Body patch
	}
	openapi.Register(t, openapi.Operation{
		ID: "change-session", Method: http.MethodPatch, Path: "/sessions/{id}", Tag: "sessions", Scope: door.Write, Body: door.MaxBody, Summary: "Change a session's title, tags, model …",
		Doc:    "Appends titled and changed events for what differs. The ID never changes.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed},
	}, func(ctx context.Context, i *in) (*oneSession, error) {
		store := door.From(ctx).Store
		s, err := store.Session(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		if i.If != "" && !matches(i.If, etag(&s), version) {
			return nil, stale(&s)
		}
		evs := a.changes(&s, &i.Body)
		if len(evs) == 0 {
			return a.answer(s), nil
		}
		b := skein.Batch{Session: s.ID, Events: evs}
		if i.If != "" && i.If != "*" {
			b.After = s.Last
		}
		if _, err := store.Append(ctx, b); errors.Is(err, skein.ErrConflict) {
			return nil, stale(&s)
		} else if err != nil {
			return nil, err
		}
		s, err = store.Session(ctx, i.ID)
		return a.answer(s), err
	})
}

func stale(s *skein.Session) error {
	return openapi.Refuse(http.StatusPreconditionFailed, "stale", "session %s has changed since: read it again", s.ID)
}

// changes returns the events that make s as p wants it.
func (a sessionOps) changes(s *skein.Session, p *patch) (evs []skein.Event) {
	now := skein.At(a.Now())
	if differs(s.Title, p.Title) || differs(s.Description, p.Description) {
		t := skein.Titled{Title: s.Title, Description: s.Description, By: skein.ByPerson}
		if set(&t.Title, p.Title); p.Title != nil {
			t.Title = skein.ShortTitle(t.Title)
		}
		set(&t.Description, p.Description)
		evs = append(evs, skein.NewEvent(skein.KindTitled, now, t))
	}
	c, some := skein.Changed{}, false
	for _, f := range []struct {
		is     string
		to     *string
		change **string
	}{
		{s.Key, p.Key, &c.Key},
		{s.Agent, p.Agent, &c.Agent},
		{s.Provider, p.Provider, &c.Provider},
		{s.Model, p.Model, &c.Model},
		{s.Profile, p.Profile, &c.Profile},
		{s.Project, p.Project, &c.Project},
		{s.Cwd, p.Cwd, &c.Cwd},
		{s.Status, p.Status, &c.Status},
	} {
		if differs(f.is, f.to) {
			*f.change, some = f.to, true
		}
	}
	if differs(s.Pinned, p.Pinned) {
		c.Pinned, some = p.Pinned, true
	}
	if p.Tags != nil && !slices.Equal(s.Tags, slices.Compact(slices.Sorted(slices.Values(*p.Tags)))) {
		c.Tags, some = p.Tags, true
	}
	if some {
		evs = append(evs, skein.NewEvent(skein.KindChanged, now, c))
	}
	return evs
}

func differs[T comparable](is T, to *T) bool { return to != nil && *to != is }

func set(s, to *string) {
	if to != nil {
		*s = *to
	}
}

// etag is the version of a session as clients see it: its last seq, its
// revision, and when it was binned and created; after a dot, a hash of who
// holds its lease, which If-Match ignores.
func etag(s *skein.Session) string {
	h := fnv.New32a()
	h.Write([]byte(s.LockedBy)) //nolint:errcheck // it never fails
	return fmt.Sprintf(`"%d-%d-%d-%d.%x"`, s.Last, s.Revision, s.Binned, s.Created, h.Sum32())
}

// matches reports whether the value of an If-Match or If-None-Match header
// names tag.
func matches(header, tag string, same func(a, b string) bool) bool {
	for t := range strings.SplitSeq(header, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" || same(t, tag) {
			return true
		}
	}
	return false
}

func wholly(a, b string) bool { return a == b }

// version compares tags, ignoring who holds the lease.
func version(a, b string) bool {
	a, _, ok := strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return ok && a == b
}
