package authorship

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/provenance"
)

// Operations are the settings of the operations.
type Operations struct {
	Redact *redact.Redactor // masks secrets; nil: nothing is masked
	Here   bool             // the projects of sessions are folders of this machine that the store's user may read
}

// editedFile is what a call did to a file.
type editedFile struct {
	Path    string          `json:"path" doc:"from the root of the repository on; absolute, if the file is not known to be in it"`
	From    string          `json:"from,omitempty" doc:"the path before, if the call moved the file"`
	Session skein.SessionID `json:"session"`
	Name    string          `json:"name" doc:"of the session"`
	Agent   string          `json:"agent,omitempty"`
	Model   string          `json:"model,omitempty"`
	Seq     skein.Seq       `json:"seq" doc:"of the call's message"`
	Turn    int             `json:"turn" doc:"0 before the first"`
	Time    skein.Time      `json:"time"`
	Call    string          `json:"call"`
	Whole   bool            `json:"whole,omitempty" doc:"true if the call wrote all of the file: removed is not known then"`
	Deleted bool            `json:"deleted,omitempty"`
	Added   []string        `json:"added" doc:"lines, without their ends"`
	Removed []string        `json:"removed"`
}

// editPage is a page of edits.
type editPage struct {
	Path  string       `json:"path,omitempty" doc:"of the file that was asked for"`
	Items []editedFile `json:"items"`
	Next  string       `json:"next_cursor,omitempty"`
}

// A Paging has the parameters of a list of edits.
type Paging struct {
	Limit  int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"about this many: those of one message stay together"`
	Cursor string `query:"cursor" doc:"next_cursor of the previous page"`
	Raw    bool   `query:"raw" doc:"include secrets; needs the scope read:raw"`
}

// Register adds the operations to a table.
func (o Operations) Register(t *openapi.Table) {
	type of struct {
		ID skein.SessionID `path:"id"`
		Paging
	}
	type out struct{ Body editPage }
	openapi.Register(t, openapi.Operation{
		ID: "session-changes", Method: http.MethodGet, Path: "/sessions/{id}/changes", Tag: "files", Scope: door.Read, Summary: "What a session did to files",
		Doc:    "The edits of its calls that did not fail, in order, as their inputs tell. What a command changes by itself is not known.",
		Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *of) (*out, error) {
		if err := rawly(ctx, i.Raw); err != nil {
			return nil, err
		}
		store := door.From(ctx).Store
		x, err := store.Session(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		all, err := provenance.Changes(ctx, store, &x)
		if err != nil {
			return nil, err
		}
		page, err := o.page(ctx, all, i.Paging)
		return &out{page}, err
	})
	type file struct {
		RepositoryQuery
		Path string `query:"path" required:"true" doc:"from the root of the repository on, or absolute, as in its newest session"`
		Paging
	}
	openapi.Register(t, openapi.Operation{
		ID: "file-history", Method: http.MethodGet, Path: "/files/history", Tag: "files", Scope: door.Read, Summary: "What sessions did to a file, the newest first",
		Doc:    "The edits of all sessions of a repository, in whatever clone, agent and folder; moves are followed to the names that the file had before.",
		Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *file) (*out, error) {
		if err := rawly(ctx, i.Raw); err != nil {
			return nil, err
		}
		x, err := i.newest(ctx)
		if err != nil {
			return nil, err
		}
		name, all, err := provenance.History(ctx, door.From(ctx).Store, &x, i.Path)
		if err != nil {
			return nil, err
		}
		page, err := o.page(ctx, all, i.Paging)
		page.Path = o.text(name, i.Raw)
		return &out{page}, err
	})
	o.lines(t)
}

// rawly returns an error if secrets are asked for that the visitor may not see.
func rawly(ctx context.Context, asked bool) error {
	if v := door.From(ctx); asked && !v.Raw {
		return openapi.Refuse(http.StatusForbidden, "scope", "%s", v.NoRaw())
	}
	return nil
}

// A RepositoryQuery names a repository.
type RepositoryQuery struct {
	Project    string `query:"project" doc:"path of the project, exact"`
	Repository string `query:"repository" doc:"the same in every clone: github.com/owner/name, or root: and the hash of the first commit"`
}

// newest returns the newest session of the repository. The error wraps
// [skein.ErrNotFound] if there is none.
func (f *RepositoryQuery) newest(ctx context.Context) (skein.Session, error) {
	if f.Project == "" && f.Repository == "" {
		return skein.Session{}, fmt.Errorf("%w: want a project or a repository", skein.ErrInvalid)
	}
	for x, err := range door.From(ctx).Store.Sessions(ctx, skein.Filter{Project: f.Project, Repository: f.Repository, Limit: 1}) {
		return x, err
	}
	return skein.Session{}, fmt.Errorf("a session of the project %q or the repository %q: %w", f.Project, f.Repository, skein.ErrNotFound)
}

// page returns the page of edits that was asked for.
func (o Operations) page(ctx context.Context, all []provenance.SessionEdit, p Paging) (page editPage, err error) {
	page.Items = []editedFile{}
	begin := 0
	if p.Cursor != "" {
		if begin, err = after(all, p.Cursor); err != nil {
			return page, err
		}
	}
	end := min(begin+p.Limit, len(all))
	for end < len(all) && all[end].Place == all[end-1].Place {
		end++
	}
	store, known := door.From(ctx).Store, map[skein.SessionID]skein.Session{}
	for i := begin; i < end; i++ {
		w := &all[i]
		x, ok := known[w.Session]
		if !ok {
			if x, err = store.Session(ctx, w.Session); err != nil {
				return page, err
			}
			x = o.session(x)
			known[w.Session] = x
		}
		page.Items = append(page.Items, editedFile{
			Path: o.text(w.Path, p.Raw), From: o.text(w.From, p.Raw), Session: x.ID, Name: x.Name(), Agent: x.Agent, Model: cmp.Or(w.Model, x.Model),
			Seq: w.Seq, Turn: w.Turn, Time: w.Time, Call: w.Call, Whole: w.Edit.Whole, Deleted: w.Edit.Deleted,
			Added: o.texts(w.Edit.Added, p.Raw), Removed: o.texts(w.Edit.Removed, p.Raw),
		})
	}
	if end < len(all) {
		page.Next = fmt.Sprintf("%d.%s", all[end-1].Seq, all[end-1].Session)
	}
	return page, nil
}

// after returns the index behind the edits of the message that a cursor names. The error
// wraps [skein.ErrInvalid] if there is no such message.
func after(all []provenance.SessionEdit, cursor string) (int, error) {
	seq, session, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(seq, 10, 64)
	if ok && err == nil {
		last := skein.Place{Session: skein.SessionID(session), Seq: skein.Seq(n)}
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Place == last {
				return i + 1, nil
			}
		}
	}
	return 0, fmt.Errorf("%w cursor %q: no edit is there", skein.ErrInvalid, cursor)
}

func (o Operations) session(x skein.Session) skein.Session {
	if o.Redact == nil {
		return x
	}
	return o.Redact.Session(x)
}

// text returns s without secrets, unless raw is set.
func (o Operations) text(s string, raw bool) string {
	if raw || o.Redact == nil {
		return s
	}
	return o.Redact.Text(s)
}

// texts is as text, for lines that follow each other.
func (o Operations) texts(lines []string, raw bool) []string {
	if len(lines) == 0 {
		return []string{}
	}
	return strings.Split(o.text(strings.Join(lines, "\n"), raw), "\n")
}
