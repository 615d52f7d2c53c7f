package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/search"
)

// listQuery is a skein.Filter as URL parameters.
type listQuery struct {
	User         skein.User      `query:"user" doc:"whose; for tokens that see everybody's"`
	Key          string          `query:"key"`
	Project      string          `query:"project" doc:"path, exact"`
	Agent        string          `query:"agent"`
	Profile      string          `query:"profile"`
	Model        string          `query:"model" doc:"exact"`
	Origin       string          `query:"origin" doc:"format that they were imported from"`
	Born         bool            `query:"born" doc:"only those that were not imported"`
	Surface      string          `query:"surface"`
	Tag          string          `query:"tag"`
	Pinned       bool            `query:"pinned" doc:"only pinned ones"`
	Parent       skein.SessionID `query:"parent" doc:"only its forks, children and continuations"`
	NoChildren   bool            `query:"no_children" doc:"without those that an agent started for a part of its work"`
	Bin          bool            `query:"bin" doc:"those in the bin instead"`
	Since        string          `query:"since" doc:"active since: 3h, 2d, yesterday, 2026-11-21 or RFC 3339"`
	Until        string          `query:"until" doc:"active before"`
	IDPrefix     string          `query:"id_prefix"`
	IDSuffix     string          `query:"id_suffix"`
	Title        string          `query:"title" doc:"titles, or first words, that contain this"`
	LargerThan   int64           `query:"larger_than" minimum:"0" doc:"bytes on disk"`
	IncludeEmpty bool            `query:"include_empty" doc:"also those in which nothing was said yet"`
	OpenCalls    bool            `query:"open_calls" doc:"only those with calls that run, or ran when a program died"`
	Limit        int             `query:"limit" default:"50" minimum:"1" maximum:"1000"`
	Cursor       string          `query:"cursor" doc:"next_cursor of the page before"`
}

// filter returns the filter for q, with a limit of one session more, to know
// whether there are others.
func (a *service) filter(q *listQuery) (f skein.Filter, err error) {
	f = skein.Filter{
		User: q.User, Key: q.Key, Project: q.Project, Agent: q.Agent, Profile: q.Profile, Model: q.Model, Origin: q.Origin, Born: q.Born,
		Surface: q.Surface, Tag: q.Tag, Pinned: q.Pinned, Parent: q.Parent, NoChildren: q.NoChildren, Bin: q.Bin, IDPrefix: q.IDPrefix, IDSuffix: q.IDSuffix,
		Title: q.Title, LargerThan: q.LargerThan, IncludeEmpty: q.IncludeEmpty, WithOpenCalls: q.OpenCalls, Limit: q.Limit + 1,
	}
	if f.Since, f.Until, err = a.span(q.Since, q.Until); err != nil || q.Cursor == "" {
		return f, err
	}
	f.Before, err = sessionAt(q.Cursor)
	return f, err
}

// span reads two times as people type them.
func (a *service) span(since, until string) (from, to skein.Time, err error) {
	if since != "" {
		if from, err = search.ParseSince(since, a.Now()); err != nil {
			return 0, 0, fmt.Errorf("since: %w", err)
		}
	}
	if until != "" {
		if to, err = search.ParseUntil(until, a.Now()); err != nil {
			return 0, 0, fmt.Errorf("until: %w", err)
		}
	}
	return from, to, nil
}

// cursorOf returns the cursor of the place after s in a list: when it was
// active, and its ID.
func cursorOf(s *skein.Session) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(int64(s.Updated), 10) + " " + string(s.ID)))
}

// sessionAt returns a session with the fields that the cursor has.
func sessionAt(cursor string) (*skein.Session, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, ok := strings.Cut(string(b), " ")
	updated, err2 := strconv.ParseInt(at, 10, 64)
	if err != nil || err2 != nil || !ok || skein.SessionID(id).Check() != nil {
		return nil, &cursorError{cursor}
	}
	return &skein.Session{Updated: skein.Time(updated), ID: skein.SessionID(id)}, nil
}

// lists registers the list of sessions.
func (a *service) lists(t *openapi.Table) {
	type sessions struct{ Body api.Page[sessionLine] }
	openapi.Register(t, openapi.Operation{
		ID: "list-sessions", Method: http.MethodGet, Path: "/sessions", Tag: "sessions", Scope: door.Read, Summary: "Sessions, the latest first",
		Doc: "Those in the bin, and those in which nothing was said, are left out if nothing else is asked for. All conditions hold together.",
	}, func(ctx context.Context, q *listQuery) (*sessions, error) {
		f, err := a.filter(q)
		if err != nil {
			return nil, err
		}
		out := &sessions{api.Page[sessionLine]{Items: []sessionLine{}}}
		seen, last := 0, skein.Session{}
		for s, err := range a.told(ctx, false).Sessions(ctx, f) {
			if err != nil {
				return nil, err
			}
			if seen == q.Limit {
				out.Body.Next = cursorOf(&last)
				break
			}
			seen, last = seen+1, s
			out.Body.Items = append(out.Body.Items, a.lineOf(s))
		}
		return out, nil
	})
}
