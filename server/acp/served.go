package acp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

// atOnce is how many requests are served at the same time.
const atOnce = 16

// pageSize is how many sessions a page of session/list has.
const pageSize = 50

// An asking is the params of a request that is served from the store.
type asking struct {
	SessionID  string          `json:"sessionId"`
	Cwd        string          `json:"cwd"`
	McpServers json.RawMessage `json:"mcpServers"`
	Cursor     string          `json:"cursor"`
	Title      string          `json:"title"`
	Meta       struct {
		Skein struct {
			MessageID string    `json:"messageId"` // fork after this message
			Seq       skein.Seq `json:"seq"`       // fork after this event
			TakeOver  bool      `json:"takeOver"`  // end the lease of another editor
		} `json:"skein"`
	} `json:"_meta"`
	raw []byte
}

// An answerError is an answer with a code of its own.
type answerError struct {
	code int
	text string
}

func (e *answerError) Error() string { return e.text }

// notFound is the code of the protocol for a session that does not exist.
const notFound = -32002

// served returns what answers requests of a method from the store; nil for others.
func (r *relay) served(method string) func(context.Context, *asking) (any, error) {
	r.mu.Lock()
	v1 := r.agent.protocol == 1
	r.mu.Unlock()
	if !v1 {
		return nil
	}
	switch method {
	case "session/list":
		return r.list
	case "session/load":
		return r.load
	case "session/resume":
		return r.resume
	case "session/fork":
		return r.fork
	case "session/close":
		return r.closeSession
	case "session/delete":
		return r.bin
	case "session/set_title":
		return r.rename
	}
	return nil
}

// serve answers a request from the store, unless it is the agent's to answer.
func (r *relay) serve(m *wire.Message, line []byte) bool {
	answer := r.served(m.Method)
	if answer == nil {
		return false
	}
	a := &asking{raw: m.Params.Of(line)}
	if err := json.Unmarshal(a.raw, a); err != nil {
		r.toEditor.put(failed(m.ID, -32602, "params: "+err.Error()))
		return true
	}
	id := m.ID
	r.serving <- struct{}{}
	go func() {
		defer func() { <-r.serving }()
		result, err := answer(r.ctx, a)
		var coded *answerError
		switch {
		case errors.As(err, &coded):
			r.toEditor.put(failed(id, coded.code, coded.text))
		case errors.Is(err, skein.ErrNotFound):
			r.toEditor.put(failed(id, notFound, err.Error()))
		case err != nil:
			r.toEditor.put(failed(id, internalError, "skein: "+err.Error()))
		default:
			r.toEditor.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, skein.MustJSON(result)))
		}
	}()
	return true
}

// A sessionInfo is a session in a list.
type sessionInfo struct {
	SessionID skein.SessionID `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	Title     string          `json:"title,omitempty"`
	Updated   skein.Time      `json:"updatedAt,omitzero"`
	Meta      any             `json:"_meta,omitempty"`
}

type sessionList struct {
	Sessions []sessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

// list returns a page of the sessions of a folder's repository, of all agents; without a
// folder, of all sessions.
func (r *relay) list(ctx context.Context, a *asking) (any, error) {
	f := skein.Filter{User: r.o.User, NoChildren: true, Limit: pageSize + 1}
	if a.Cwd != "" {
		f.Project = a.Cwd
		if r.o.Checkout != nil {
			x, project := r.o.Checkout(a.Cwd)
			f.Project, f.Repository = project, x.Repository
		}
	}
	if a.Cursor != "" {
		f.Before = &skein.Session{}
		b, err := base64.RawURLEncoding.DecodeString(a.Cursor)
		if err != nil || json.Unmarshal(b, f.Before) != nil {
			return nil, &answerError{-32602, fmt.Sprintf("cursor %q is not from here", a.Cursor)}
		}
	}
	page := sessionList{Sessions: []sessionInfo{}}
	var last skein.Session
	for s, err := range r.o.Store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		if len(page.Sessions) == pageSize {
			page.Next = base64.RawURLEncoding.EncodeToString(skein.MustJSON(map[string]any{"id": last.ID, "updated_at": last.Updated}))
			break
		}
		page.Sessions, last = append(page.Sessions, r.info(&s, a.Cwd)), s
	}
	return page, nil
}

func (r *relay) info(s *skein.Session, cwd string) sessionInfo {
	i := sessionInfo{SessionID: s.ID, Cwd: s.Cwd, Title: skein.ShortTitle(s.Name()), Updated: s.Updated}
	if s.Agent != "" && s.Agent != r.agent.name() {
		i.Title += " (" + s.Agent + ")"
	}
	if _, err := os.Stat(s.Cwd); s.Cwd == "" || err != nil && cwd != "" {
		i.Cwd = cmp.Or(cwd, r.o.Dir)
	}
	i.Meta = map[string]any{"skein": map[string]any{"agent": s.Agent, "turns": s.Turns, "state": s.Activity.State}}
	return i
}

// closeSession ends the work on a session.
func (r *relay) closeSession(ctx context.Context, a *asking) (any, error) {
	s := r.byOuter(a.SessionID)
	if s == nil {
		return struct{}{}, nil
	}
	if r.can("close") {
		if _, err := r.request(ctx, "session/close", map[string]any{"sessionId": s.inner}); err != nil {
			return nil, err
		}
	}
	r.forget(s)
	return struct{}{}, r.endOne(s, "done")
}

// bin puts a session into the bin. The agent keeps its own.
func (r *relay) bin(ctx context.Context, a *asking) (any, error) {
	if _, err := r.closeSession(ctx, a); err != nil {
		return nil, err
	}
	return struct{}{}, skein.LifecycleOf(r.o.Store).Bin(ctx, skein.SessionID(a.SessionID))
}

func (r *relay) rename(ctx context.Context, a *asking) (any, error) {
	title := skein.ShortTitle(a.Title)
	e := skein.NewEvent(skein.KindTitled, r.now(), skein.Titled{Title: title, By: skein.ByPerson})
	if _, err := r.o.Store.Append(ctx, skein.Batch{Session: skein.SessionID(a.SessionID), Events: []skein.Event{e}}); err != nil {
		return nil, err
	}
	return map[string]any{"title": title}, nil
}
