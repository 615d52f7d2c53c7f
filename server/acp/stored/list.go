package stored

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
)

// pageSize is how many sessions a page of session/list has.
const pageSize = 50

// A Catalog lists the sessions of one user.
type Catalog struct {
	Store skein.Store
	User  skein.User

	// Checkout returns what a folder is a checkout of, and its project; may be nil.
	Checkout func(dir string) (skein.Checkout, string)

	Dir string // named as the folder of sessions that have none
}

// A SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID skein.SessionID `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	Title     string          `json:"title,omitempty"`
	Updated   skein.Time      `json:"updatedAt,omitzero"`
	Meta      any             `json:"_meta,omitempty"`
}

// A ListPage is the answer to session/list.
type ListPage struct {
	Sessions []SessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

// List returns a page of the sessions of a folder's repository, of all agents; without a
// folder, of all sessions. The titles of sessions of other agents than the named one say
// which one they are from.
//
// The error wraps [skein.ErrInvalid] if the cursor is not from here, or is the Store's.
func (c *Catalog) List(ctx context.Context, r *Request, agent string) (page ListPage, err error) {
	f := skein.Filter{User: c.User, NoChildren: true, Limit: pageSize + 1}
	if r.Cwd != "" {
		f.Project = r.Cwd
		if c.Checkout != nil {
			x, project := c.Checkout(r.Cwd)
			f.Project, f.Repository = project, x.Repository
		}
	}
	if r.Cursor != "" {
		f.Before = &skein.Session{}
		b, err := base64.RawURLEncoding.DecodeString(r.Cursor)
		if err != nil || json.Unmarshal(b, f.Before) != nil {
			return page, fmt.Errorf("%w cursor %q: it is not from here", skein.ErrInvalid, r.Cursor)
		}
	}
	page.Sessions = []SessionInfo{}
	var last skein.Session
	for s, err := range c.Store.Sessions(ctx, f) {
		if err != nil {
			return page, err
		}
		if len(page.Sessions) == pageSize {
			page.Next = base64.RawURLEncoding.EncodeToString(skein.MustJSON(map[string]any{"id": last.ID, "updated_at": last.Updated}))
			break
		}
		page.Sessions, last = append(page.Sessions, c.info(&s, r.Cwd, agent)), s
	}
	return page, nil
}

func (c *Catalog) info(s *skein.Session, cwd, agent string) SessionInfo {
	i := SessionInfo{SessionID: s.ID, Cwd: s.Cwd, Title: skein.ShortTitle(s.Name()), Updated: s.Updated}
	if s.Agent != "" && s.Agent != agent {
		i.Title += " (" + s.Agent + ")"
	}
	if _, err := os.Stat(s.Cwd); s.Cwd == "" || err != nil && cwd != "" {
		i.Cwd = cmp.Or(cwd, c.Dir)
	}
	i.Meta = map[string]any{"skein": map[string]any{"agent": s.Agent, "turns": s.Turns, "state": s.Activity.State}}
	return i
}

// Session returns a session that can be opened: one in the bin must be restored first.
//
// The error wraps [skein.ErrNotFound], or is the Store's.
func (c *Catalog) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	s, err := c.Store.Session(ctx, id)
	if err == nil && s.Binned != 0 {
		err = fmt.Errorf("session %s is in the bin: %w; bring it back with skein restore", id, skein.ErrNotFound)
	}
	return s, err
}

// Bin puts a session into the bin. Errors are the Store's.
func (c *Catalog) Bin(ctx context.Context, id skein.SessionID) error {
	return skein.LifecycleOf(c.Store).Bin(ctx, id)
}

// Rename gives a session a title, and returns the answer to session/set_title. Errors
// are the Store's.
func (c *Catalog) Rename(ctx context.Context, r *Request, now skein.Time) (any, error) {
	title := skein.ShortTitle(r.Title)
	e := skein.NewEvent(skein.KindTitled, now, skein.Titled{Title: title, By: skein.ByPerson})
	if _, err := c.Store.Append(ctx, skein.Batch{Session: skein.SessionID(r.SessionID), Events: []skein.Event{e}}); err != nil {
		return nil, err
	}
	return map[string]any{"title": title}, nil
}
