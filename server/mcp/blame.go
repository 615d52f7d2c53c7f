package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/provenance"
)

// blameTools are the tools about the files of a repository.
type blameTools struct{ *toolset }

// tracers registers the tools.
func (s blameTools) tracers(m *sdk.Server) {
	add(s.toolset, m, &sdk.Tool{Name: "session_blame", Title: "Who wrote these lines", Annotations: looks(), Description: "Tell which session wrote the lines of a file in the repository of the current folder: its agent, model, turn and prompt. " +
		"Certainty: exact, partial (but for spaces or punctuation), moved (from another file), note (a note of Git AI says so), commit (the session made the commit; who wrote the line is not known), earlier and file (only hints). Lines without a session were written by a person or are unknown."}, s.blame)
	add(s.toolset, m, &sdk.Tool{Name: "session_why", Title: "Why a line is there", Annotations: looks(), Description: "Tell why a line of a file is there: the prompt of the turn that wrote it, what the model said and thought before the edit, and the edit."}, s.why)
}

type blameIn struct {
	File     string `json:"file" jsonschema:"path of the file"`
	First    int    `json:"first,omitempty" jsonschema:"first line; 1 if not given"`
	Last     int    `json:"last,omitempty" jsonschema:"last line; the last of the file if not given"`
	Revision string `json:"revision,omitempty" jsonschema:"the file as it is in this revision, such as HEAD~3; as it is now if not given"`
}

// A blamedRange is lines of a file that are one session's, or one commit's.
type blamedRange struct {
	First     int                  `json:"first"`
	Last      int                  `json:"last"`
	Commit    string               `json:"commit,omitempty"`
	Author    string               `json:"author,omitempty"` // of the commit
	Certainty provenance.Certainty `json:"certainty,omitempty"`
	Session   skein.SessionID      `json:"session,omitempty"`
	Name      string               `json:"name,omitempty"`
	Agent     string               `json:"agent,omitempty"`
	Model     string               `json:"model,omitempty"`
	Turn      int                  `json:"turn,omitempty"`
	Seq       skein.Seq            `json:"seq,omitempty"`
	Prompt    string               `json:"prompt,omitempty"`
}

func (s blameTools) blame(ctx context.Context, in blameIn) (_ *sdk.CallToolResult, err error) {
	t, r, err := s.traced(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	p := &answerLines{toolset: s.toolset}
	for _, lines := range r.Ranges() {
		x, err := s.blamed(ctx, t, r, lines.First)
		if err != nil {
			return nil, err
		}
		x.Last = r.Lines[lines.Last].Number
		if !p.add(x) {
			return p.answer(fmt.Sprintf("There are more: ask again with first %d.", x.First)), nil
		}
	}
	return p.answer(end), nil
}

// traced opens the repository and asks whose lines are.
func (s blameTools) traced(ctx context.Context, in blameIn) (*provenance.Tracer, *provenance.Report, error) {
	if in.First < 0 || in.Last < 0 || in.Last > 0 && in.Last < in.First || strings.HasPrefix(in.Revision, "-") || in.File == "" {
		return nil, nil, fmt.Errorf("file %q, lines %d to %d, revision %q: %w: want a file, and lines from 1 on", in.File, in.First, in.Last, in.Revision, skein.ErrInvalid)
	}
	file := in.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.Folder, file)
	}
	t, err := provenance.Open(ctx, s.whole, s.Folder)
	if err != nil {
		return nil, nil, err
	}
	r, err := t.Blame(ctx, provenance.Question{File: file, Revision: in.Revision, First: in.First, Last: in.Last})
	if err != nil {
		if errors.Is(err, provenance.ErrRefused) {
			err = fmt.Errorf("%w: %w", err, skein.ErrInvalid)
		}
		return nil, nil, errors.Join(err, t.Close())
	}
	return t, r, nil
}

// blamed describes line number i of a report.
func (s blameTools) blamed(ctx context.Context, t *provenance.Tracer, r *provenance.Report, i int) (x blamedRange, err error) {
	l, a := &r.Lines[i], &r.Answers[i]
	x = blamedRange{First: l.Number, Last: l.Number, Commit: l.Commit.Hash, Author: s.short(l.Commit.Author), Certainty: a.Certainty}
	w := a.Write
	if w == nil {
		return x, nil
	}
	x.Session, x.Turn, x.Seq, x.Model = w.Session, w.Turn, w.Seq, w.Model
	if w.Seq > 0 {
		why, err := provenance.Why(ctx, s.whole, w)
		if err != nil {
			return x, err
		}
		x.Prompt = s.short(skein.FirstWords(why.Prompt))
	}
	of, err := t.Session(ctx, w.Session)
	if of != nil {
		x.Name, x.Agent, x.Model = s.short(of.Name()), of.Agent, cmp.Or(x.Model, of.Model)
	}
	return x, err
}

type whyIn struct {
	File     string `json:"file" jsonschema:"path of the file"`
	Line     int    `json:"line" jsonschema:"number of the line, from 1"`
	Revision string `json:"revision,omitempty" jsonschema:"the file as it is in this revision; as it is now if not given"`
}

// A reasonLine is why a line is there, in an answer.
type reasonLine struct {
	blamedRange
	Asked   string `json:"asked,omitempty"`
	Said    string `json:"said,omitempty"`
	Removed string `json:"removed,omitempty"`
	Added   string `json:"added,omitempty"`
}

func (s blameTools) why(ctx context.Context, in whyIn) (_ *sdk.CallToolResult, err error) {
	if in.Line < 1 {
		return nil, fmt.Errorf("line %d: %w: want a number from 1 on", in.Line, skein.ErrInvalid)
	}
	t, r, err := s.traced(ctx, blameIn{File: in.File, First: in.Line, Last: in.Line, Revision: in.Revision})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	p := &answerLines{toolset: s.toolset}
	var x reasonLine
	if x.blamedRange, err = s.blamed(ctx, t, r, 0); err != nil {
		return nil, err
	}
	if w := r.Answers[0].Write; w != nil && w.Seq > 0 {
		why, err := provenance.Why(ctx, s.whole, w)
		if err != nil {
			return nil, err
		}
		text := func(lines ...string) string {
			piece, _ := s.cut(strings.Join(lines, "\n"), 0)
			return piece
		}
		x.Asked, x.Said, x.Removed, x.Added = text(why.Prompt), text(why.Said), text(w.Edit.Removed...), text(w.Edit.Added...)
	}
	p.add(x)
	return p.answer(end), nil
}
