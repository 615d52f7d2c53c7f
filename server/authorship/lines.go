package authorship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/provenance"
)

// BlamedLines are lines of a file that follow each other, and who wrote them.
type BlamedLines struct {
	First     int                  `json:"first" doc:"number of a line, from 1"`
	Last      int                  `json:"last"`
	Commit    string               `json:"commit,omitempty" doc:"left out if they are not committed"`
	Author    string               `json:"author,omitempty" doc:"of the commit"`
	Certainty provenance.Certainty `json:"certainty,omitempty" enum:"exact,partial,note,moved,commit,earlier,file" doc:"how it is known; earlier and file are only hints. Left out if no session is known"`
	Session   skein.SessionID      `json:"session,omitempty"`
	Name      string               `json:"name,omitempty" doc:"of the session"`
	Agent     string               `json:"agent,omitempty"`
	Model     string               `json:"model,omitempty"`
	Seq       skein.Seq            `json:"seq,omitempty" doc:"of the message with the call that wrote them"`
	Turn      int                  `json:"turn,omitempty"`
	Call      string               `json:"call,omitempty"`
	Written   skein.Time           `json:"written_at,omitzero"`
	Prompt    string               `json:"prompt,omitempty" doc:"the first words of the turn"`
}

// blamedFile is who wrote the lines of a file.
type blamedFile struct {
	File  string        `json:"file" doc:"path from the root of the repository on"`
	Items []BlamedLines `json:"items" doc:"in order; together, all lines that were asked for"`
}

// lineReason is why a line is there.
type lineReason struct {
	BlamedLines
	Asked   string   `json:"asked,omitempty" doc:"all of the prompt"`
	Said    string   `json:"said,omitempty" doc:"by the model, before the edit"`
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}

// A LineQuery names lines of a file.
type LineQuery struct {
	Project  string `query:"project" required:"true" doc:"absolute path of a project that has sessions: a folder of a working tree on the server's machine"`
	File     string `query:"file" required:"true" doc:"path of the file, relative to the project or absolute"`
	Revision string `query:"revision" doc:"the file as it is in this revision, such as HEAD~3; as it is now by default"`
}

// lines registers the operations that ask Git.
func (o Operations) lines(t *openapi.Table) {
	const where = "The server asks Git about the working tree, so it must be on its machine, and the store one person's: else 404. No text of the file is sent. "
	type in struct {
		LineQuery
		First int `query:"first" minimum:"1" doc:"first line"`
		Last  int `query:"last" minimum:"1" doc:"last line"`
	}
	type out struct{ Body blamedFile }
	openapi.Register(t, openapi.Operation{
		ID: "blame", Method: http.MethodGet, Path: "/files/blame", Tag: "files", Scope: door.Read, Summary: "Which session wrote each line of a file",
		Doc: where + "Lines without a session were written by a person, or nobody knows.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *in) (*out, error) {
		if i.Last > 0 && i.Last < i.First {
			return nil, fmt.Errorf("%w lines %d to %d", skein.ErrInvalid, i.First, i.Last)
		}
		out := &out{blamedFile{Items: []BlamedLines{}}}
		err := o.asked(ctx, &i.LineQuery, i.First, i.Last, func(t *provenance.Tracer, r *provenance.Report) error {
			out.Body.File = r.File
			for _, lines := range r.Ranges() {
				x, err := o.blamed(ctx, t, r, lines)
				if err != nil {
					return err
				}
				out.Body.Items = append(out.Body.Items, x)
			}
			return nil
		})
		return out, err
	})
	type one struct {
		LineQuery
		Line int `query:"line" required:"true" minimum:"1"`
	}
	type reason struct{ Body lineReason }
	openapi.Register(t, openapi.Operation{
		ID: "why", Method: http.MethodGet, Path: "/files/why", Tag: "files", Scope: door.Read, Summary: "Why a line of a file is there",
		Doc: where + "The prompt of the turn that wrote the line, what the model said before the edit, and the edit; without secrets.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *one) (*reason, error) {
		out := &reason{}
		err := o.asked(ctx, &i.LineQuery, i.Line, i.Line, func(t *provenance.Tracer, r *provenance.Report) (err error) {
			if out.Body.BlamedLines, err = o.blamed(ctx, t, r, provenance.SameLines{}); err != nil {
				return err
			}
			w := r.Answers[0].Write
			if w == nil || w.Seq == 0 {
				return nil
			}
			why, err := provenance.Why(ctx, door.From(ctx).Store, w)
			out.Body.Asked, out.Body.Said = o.text(why.Prompt, false), o.text(why.Said, false)
			out.Body.Removed, out.Body.Added = o.texts(w.Edit.Removed, false), o.texts(w.Edit.Added, false)
			return err
		})
		return out, err
	})
}

// asked asks whose lines are, and passes the answer to do. The error wraps
// [skein.ErrNotFound] if the project is of no session, or has no working tree here.
func (o Operations) asked(ctx context.Context, q *LineQuery, first, last int, do func(*provenance.Tracer, *provenance.Report) error) (err error) {
	if !o.Here {
		return fmt.Errorf("the files of project %q: %w: this server does not have them", q.Project, skein.ErrNotFound)
	}
	f := RepositoryQuery{Project: q.Project}
	x, err := f.newest(ctx)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(x.Project) {
		return fmt.Errorf("project %q: %w: it is not the path of a folder", q.Project, skein.ErrInvalid)
	}
	file := q.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(x.Project, file)
	}
	t, err := provenance.Open(ctx, door.From(ctx).Store, x.Project)
	if err != nil {
		if !errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("project %q: %w: it is in no working tree of Git here", q.Project, skein.ErrNotFound)
		}
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := t.Blame(ctx, provenance.Question{File: file, Revision: q.Revision, First: first, Last: last})
	switch {
	case errors.Is(err, provenance.ErrRefused):
		return fmt.Errorf("%w: %w", skein.ErrInvalid, err)
	case err != nil:
		return err
	}
	return do(t, r)
}

// blamed says who wrote lines of a report.
func (o Operations) blamed(ctx context.Context, t *provenance.Tracer, r *provenance.Report, of provenance.SameLines) (BlamedLines, error) {
	l, a := &r.Lines[of.First], &r.Answers[of.First]
	x := BlamedLines{First: l.Number, Last: r.Lines[of.Last].Number, Commit: l.Commit.Hash, Author: l.Commit.Author, Certainty: a.Certainty}
	w := a.Write
	if w == nil {
		return x, nil
	}
	x.Session, x.Seq, x.Turn, x.Call, x.Written, x.Model = w.Session, w.Seq, w.Turn, w.Call, w.Time, w.Model
	if w.Seq > 0 {
		why, err := provenance.Why(ctx, door.From(ctx).Store, w)
		if err != nil {
			return x, err
		}
		x.Prompt = o.text(skein.FirstWords(why.Prompt), false)
	}
	author, err := t.Session(ctx, w.Session)
	if author != nil {
		s := o.session(*author)
		x.Name, x.Agent, x.Model = s.Name(), s.Agent, cmp.Or(x.Model, s.Model)
	}
	return x, err
}
