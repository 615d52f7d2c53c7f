package server

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// newSession is the body of POST /v1/sessions.
type newSession struct {
	ID       skein.SessionID `json:"id,omitempty" doc:"ID of the session; by default, a new one is made"`
	Key      string          `json:"key,omitempty" doc:"the session's natural name, such as telegram:bot:42; only one session outside the bin has it"`
	Title    string          `json:"title,omitempty"`
	Surface  string          `json:"surface,omitempty" doc:"where the conversation takes place, such as cli or telegram; by default api"`
	Project  string          `json:"project,omitempty" doc:"absolute path of the project"`
	Checkout *skein.Checkout `json:"checkout,omitempty" doc:"the repository, and what is checked out"`
	Cwd      string          `json:"cwd,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Profile  string          `json:"profile,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Model    string          `json:"model,omitempty"`
	Parent   *skein.Parent   `json:"parent,omitempty" doc:"parent of a child or a continuation; forks have their own operation"`
}

type madeSession struct {
	ID skein.SessionID `json:"id"`
}

// sessionLine is a session, and its display name.
type sessionLine struct {
	skein.Session
	Name string `json:"name" doc:"its title, else its first words, else its ID"`
}

func (a *service) lineOf(s skein.Session) sessionLine {
	s = a.veiledSession(s)
	return sessionLine{s, s.Name()}
}

// oneSession is the answer with one session and its version.
type oneSession struct {
	Status int
	ETag   string `header:"ETag"`
	Body   sessionLine
}

func (a *service) answer(s skein.Session) *oneSession {
	return &oneSession{http.StatusOK, etag(&s), a.lineOf(s)}
}

// sessions registers the routes of one session as a whole.
func (a sessionOps) sessions(t *openapi.Table) {
	type in struct {
		Once
		Body newSession
	}
	type out struct {
		Location string `header:"Location"`
		Body     madeSession
	}
	openapi.Register(t, openapi.Operation{
		ID: "create-session", Method: http.MethodPost, Path: "/sessions", Tag: "sessions", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Begin a session",
		Doc:    "Appends the session's created event. Lists leave the session out until it has messages. A session can also begin with the first batch of events that is appended to it.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, i *in) (*out, error) {
		if err := hangsOn(ctx, door.From(ctx).Store, i.Body.Parent); err != nil {
			return nil, err
		}
		s, err := a.begin(ctx, i.Body.ID, i.Body.created(a.Version), i.Once, i.Body)
		return &out{"/v1/sessions/" + string(s.ID), madeSession{s.ID}}, err
	})
	type one struct {
		ID   skein.SessionID `path:"id"`
		Have string          `header:"If-None-Match"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "get-session", Method: http.MethodGet, Path: "/sessions/{id}", Tag: "sessions", Scope: door.Read, Summary: "A session, without its messages",
		Doc: "Finds sessions in the bin, too. With If-None-Match and the ETag of an earlier response: 304 if nothing has changed.", Errors: []int{http.StatusNotModified, http.StatusNotFound},
	}, func(ctx context.Context, i *one) (*oneSession, error) {
		s, err := door.From(ctx).Store.Session(ctx, i.ID)
		out := a.answer(s)
		if i.Have != "" && matches(i.Have, out.ETag, wholly) {
			out.Status = http.StatusNotModified
		}
		return out, err
	})
	type byKey struct {
		Key string `path:"key"`
	}
	openapi.Register(t, openapi.Operation{ID: "get-session-by-key", Method: http.MethodGet, Path: "/keys/{key}", Tag: "sessions", Scope: door.Read, Summary: "The session with this key", Doc: "A key is the session's natural name, such as cli:api; at most one session of a user has it that is not in the bin.", Errors: []int{http.StatusNotFound, http.StatusConflict}},
		func(ctx context.Context, i *byKey) (*oneSession, error) {
			s, err := keyed(ctx, door.From(ctx).Store, i.Key)
			return a.answer(s), err
		})
	type named struct {
		Name string `query:"name" required:"true" doc:"ID, key, part of an ID (4 characters or more), title or part of a title"`
		Bin  bool   `query:"bin" doc:"look in the bin"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "resolve", Method: http.MethodGet, Path: "/resolve", Tag: "sessions", Scope: door.Read, Summary: "Find a session by any of its names", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Doc: "Where the name could mean several, the problem has code ambiguous and names them.",
	}, func(ctx context.Context, i *named) (*oneSession, error) {
		s, err := a.resolve(ctx, i.Name, skein.Filter{Bin: i.Bin})
		return a.answer(s), err
	})
}

// hangsOn returns an error unless a session can have the parent p, which may be nil:
// one of its own user, at one of the parent's events. Only what is imported can have a
// parent that is not there, which may come later.
func hangsOn(ctx context.Context, store skein.Store, p *skein.Parent) error {
	if p == nil || p.IsFork() { // a store checks what a fork begins with
		return nil
	}
	if whys := []skein.Why{skein.Fork, skein.Child, skein.Continuation}; !slices.Contains(whys, p.Why) {
		return fmt.Errorf("%w parent: why %q, want one of %q", skein.ErrInvalid, p.Why, whys)
	}
	s, err := store.Session(ctx, p.Session)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	if p.Seq < 0 || p.Seq > s.Last {
		return fmt.Errorf("%w parent: seq %d, session %s has the events 1 to %d", skein.ErrInvalid, p.Seq, s.ID, s.Last)
	}
	return nil
}

// created returns the event that begins n.
func (n *newSession) created(version string) skein.Created {
	c := skein.Created{
		Key: n.Key, Title: skein.ShortTitle(n.Title), Surface: n.Surface, Project: n.Project, Cwd: n.Cwd, Checkout: n.Checkout, Agent: n.Agent, Profile: n.Profile,
		Provider: n.Provider, Model: n.Model, Parent: n.Parent, Program: "skein serve", Version: version,
	}
	if c.Surface == "" {
		c.Surface = "api"
	}
	return c
}

// keyed returns the live session with that key.
func keyed(ctx context.Context, store skein.Store, key string) (found skein.Session, err error) {
	defer skein.Wrapf(&err, "key %q", key)
	var all []skein.Session
	for s, err := range store.Sessions(ctx, skein.Filter{Key: key, IncludeEmpty: true, Limit: lookup.MaxCandidates}) {
		if err != nil {
			return found, err
		}
		all = append(all, s)
	}
	switch {
	case key == "" || len(all) == 0:
		return found, skein.ErrNotFound
	case len(all) > 1: // of several users
		return found, &skein.AmbiguousError{Name: key, Candidates: all}
	}
	return all[0], nil
}

// listQuery is a skein.Filter as URL parameters.
type listQuery struct {
	User         skein.User      `query:"user" doc:"owner of the sessions; for tokens that see all users' sessions"`
	Key          string          `query:"key"`
	Project      string          `query:"project" doc:"path, exact; with repository, sessions of either"`
	Repository   string          `query:"repository" doc:"the same in every clone: github.com/owner/name, or root: and the hash of the first commit"`
	Agent        string          `query:"agent"`
	Profile      string          `query:"profile"`
	Model        string          `query:"model" doc:"exact name of the model"`
	Origin       string          `query:"origin" doc:"only sessions imported from this format"`
	Born         bool            `query:"born" doc:"only sessions that were not imported"`
	Surface      string          `query:"surface"`
	Tag          string          `query:"tag"`
	Pinned       bool            `query:"pinned" doc:"only pinned sessions"`
	Parent       skein.SessionID `query:"parent" doc:"only forks, children and continuations of this session"`
	NoChildren   bool            `query:"no_children" doc:"leave out sessions that an agent started for a part of its work"`
	Bin          bool            `query:"bin" doc:"only sessions in the bin"`
	Since        string          `query:"since" doc:"only sessions active since this time: 3h, 2d, yesterday, 2026-11-21 or RFC 3339"`
	Until        string          `query:"until" doc:"only sessions active before this time"`
	IDPrefix     string          `query:"id_prefix"`
	IDSuffix     string          `query:"id_suffix"`
	Title        string          `query:"title" doc:"only sessions whose title, or first words, contain this"`
	LargerThan   int64           `query:"larger_than" minimum:"0" doc:"only sessions that use more bytes than this on disk"`
	IncludeEmpty bool            `query:"include_empty" doc:"include sessions without messages"`
	OpenCalls    bool            `query:"open_calls" doc:"only sessions with tool calls that are running, or were when a program died"`
	Limit        int             `query:"limit" default:"50" minimum:"1" maximum:"1000"`
	Cursor       string          `query:"cursor" doc:"next_cursor of the previous page"`
}

// filter returns the filter for q, with a limit of one session more, to know
// whether there are others.
func (a *service) filter(q *listQuery) (f skein.Filter, err error) {
	f = skein.Filter{
		User: q.User, Key: q.Key, Project: q.Project, Repository: q.Repository, Agent: q.Agent, Profile: q.Profile, Model: q.Model, Origin: q.Origin, Born: q.Born,
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
func (a sessionOps) lists(t *openapi.Table) {
	type sessions struct{ Body api.Page[sessionLine] }
	openapi.Register(t, openapi.Operation{
		ID: "list-sessions", Method: http.MethodGet, Path: "/sessions", Tag: "sessions", Scope: door.Read, Summary: "List sessions, latest first",
		Doc: "Sessions in the bin and sessions without messages are left out by default. A session is listed if it meets all conditions.",
	}, func(ctx context.Context, q *listQuery) (*sessions, error) {
		f, err := a.filter(q)
		if err != nil {
			return nil, err
		}
		out := &sessions{api.Page[sessionLine]{Items: []sessionLine{}}}
		seen, last := 0, skein.Session{}
		for s, err := range a.shownStore(ctx, false).Sessions(ctx, f) {
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
