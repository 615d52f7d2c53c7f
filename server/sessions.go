package server

import (
	"context"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
)

// newSession is the body of POST /v1/sessions.
type newSession struct {
	ID      skein.SessionID `json:"id,omitempty" doc:"the ID it is to have; one is made if it is left out"`
	Key     string          `json:"key,omitempty" doc:"a name of the user's own, such as telegram:bot:42; one live session has it"`
	Title   string          `json:"title,omitempty"`
	Surface string          `json:"surface,omitempty" doc:"where it is held, such as cli or telegram; api if it is left out"`
	Project string          `json:"project,omitempty" doc:"absolute path of the project it is about"`
	Cwd     string          `json:"cwd,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Profile string          `json:"profile,omitempty"`
	Model   string          `json:"model,omitempty"`
}

type sessionID struct {
	ID skein.SessionID `json:"id"`
}

// sessions registers what is about sessions as a whole.
func (a *service) sessions(t *table) {
	type in struct{ Body newSession }
	type out struct {
		Location string `header:"Location"`
		Body     sessionID
	}
	register(t, operation{ID: "create-session", Method: http.MethodPost, Path: "/sessions", Tag: "sessions", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Begin a session"},
		func(ctx context.Context, i *in) (*out, error) {
			id, err := a.create(ctx, i.Body)
			return &out{"/v1/sessions/" + string(id), sessionID{id}}, err
		})
	type one struct {
		ID skein.SessionID `path:"id"`
	}
	type got struct{ Body skein.Session }
	register(t, operation{ID: "get-session", Method: http.MethodGet, Path: "/sessions/{id}", Tag: "sessions", Scope: door.Read, Summary: "A session, without what was said"},
		func(ctx context.Context, i *one) (*got, error) {
			s, err := door.From(ctx).Store.Session(ctx, i.ID)
			return &got{s}, err
		})
}

// create appends the created event of a new session.
func (a *service) create(ctx context.Context, n newSession) (skein.SessionID, error) {
	if n.ID == "" {
		n.ID = skein.NewSessionID(a.Now())
	}
	if n.Surface == "" {
		n.Surface = "api"
	}
	c := skein.Created{Key: n.Key, Title: n.Title, Surface: n.Surface, Project: n.Project, Cwd: n.Cwd, Agent: n.Agent, Profile: n.Profile, Model: n.Model}
	_, err := door.From(ctx).Store.Append(ctx, skein.Batch{Session: n.ID, After: skein.Fresh, Events: []skein.Event{skein.NewEvent(skein.KindCreated, skein.At(a.Now()), c)}})
	return n.ID, err
}
