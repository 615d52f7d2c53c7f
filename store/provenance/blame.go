package provenance

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/internal/gitai"
	"github.com/skein-dev/skein/internal/repository"
)

// ErrRefused says that Git does not do what it was asked for: there is no such file, line
// or revision, or it does not fit.
var ErrRefused = git.ErrRefused

// A Question names lines of a file.
type Question struct {
	File        string // path
	Revision    string // "" for the file as it is now
	First, Last int    // 0 for the first, and the last
}

// A Report says whose the lines of a file are.
type Report struct {
	File    string // relative to the root
	Lines   []git.Line
	Answers []Answer // one for each line
}

// A Tracer answers questions about the files of one repository. It is for one goroutine.
type Tracer struct {
	searcher
	Tree  git.WorkTree // that the folder is in
	Notes *AINotes     // of its repository

	ancestry *git.Ancestry
	rule     Attributor
}

// Open returns a Tracer for the working tree that a folder is in. Close it. The error
// wraps [skein.ErrNotFound] if the folder is in no working tree, and is the system's
// otherwise.
func Open(ctx context.Context, store skein.Store, dir string) (*Tracer, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	tree, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	t := &Tracer{searcher: newSearcher(store, tree.Root), Tree: tree, Notes: &AINotes{ref: tree.Notes(gitai.Ref)}}
	if at, err := repository.At(tree.Root); err == nil {
		t.repo = at.Repository
	}
	for _, address := range tree.Remotes {
		t.former = append(t.former, strings.TrimSuffix(path.Base(edits.Slashed(address)), ".git"))
	}
	if main := strings.TrimSuffix(edits.Slashed(tree.Common), "/.git"); main != edits.Slashed(tree.Root) { // this is a linked working tree
		t.former = append(t.former, strings.TrimSuffix(path.Base(main), ".git"))
	}
	t.ancestry, err = tree.Ancestry(ctx)
	t.rule = t.attributor(ctx)
	return t, err
}

// Close ends what Open started. The error is the system's.
func (t *Tracer) Close() error { return t.ancestry.Close() }

// Session returns a session that an answer names; nil if it was deleted meanwhile. The
// error is the store's.
func (t *Tracer) Session(ctx context.Context, id skein.SessionID) (*skein.Session, error) {
	return t.session(ctx, id)
}

// Blame answers q. The error is Git's or the store's.
func (t *Tracer) Blame(ctx context.Context, q Question) (*Report, error) {
	name, err := t.relative(q.File)
	if err != nil {
		return nil, err
	}
	r := &Report{File: name}
	if r.Lines, err = t.Tree.Blame(ctx, q.Revision, r.File, q.First, q.Last); err != nil {
		return nil, err
	}
	if len(r.Lines) <= fewLines {
		if r.Answers, err = t.few(ctx, r.File, r.Lines); err != nil || r.Answers != nil {
			return r, err
		}
	}
	if len(r.Lines) == 0 {
		return r, nil
	}
	return r, t.among(ctx, r, q)
}

const (
	fewLines = 3 // that are looked up each by itself
	surround = 5 // lines before and after those in question: some are recognized together
)

// few answers for lines that are each known by their text alone; nil if one is not.
func (t *Tracer) few(ctx context.Context, file string, lines []git.Line) ([]Answer, error) {
	all := make([]Answer, len(lines))
	for i := range lines {
		text := textOf(&lines[i])
		found, err := t.others(ctx, text)
		if err != nil || len(text) < longLine || lines[i].Commit.ByBot() {
			return nil, err
		}
		var here []*Write
		for k := range found {
			if x := t.sessions[found[k].Session]; t.is(x, &found[k].Edit, lines[i].Path) || t.is(x, &found[k].Edit, file) {
				here = append(here, &found[k])
			}
		}
		if all[i], err = t.rule.newest(here, lines[i].Commit, Exact); err != nil || all[i].Certainty != Exact || all[i].Write.Edit.Whole && len(here) > 1 {
			return nil, err
		}
	}
	return all, nil
}

// among answers for the lines of a report with those around them.
func (t *Tracer) among(ctx context.Context, r *Report, q Question) (err error) {
	lines := r.Lines
	first, last := lines[0].Number, lines[len(lines)-1].Number
	if q.First > 0 || q.Last > 0 {
		if lines, err = t.Tree.Blame(ctx, q.Revision, r.File, max(1, first-surround), last+surround); err != nil {
			return err
		}
	}
	r.Answers, err = t.answers(ctx, r.File, lines)
	if err == nil {
		begin := first - lines[0].Number
		r.Lines, r.Answers = lines[begin:begin+len(r.Lines)], r.Answers[begin:begin+len(r.Lines)]
	}
	return err
}

// relative returns the path of a file from the root on, with slashes.
func (t *Tracer) relative(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	name, err := filepath.Rel(t.Tree.Root, file)
	return filepath.ToSlash(name), err
}

// answers returns whose the lines of a file are.
func (t *Tracer) answers(ctx context.Context, file string, lines []git.Line) (_ []Answer, err error) {
	paths := []string{file}
	for i := range lines {
		if p := lines[i].Path; !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
		// First of all, because makers tell what else the repository was called.
		if _, err := t.rule.Maker(lines[i].Commit); err != nil {
			return nil, err
		}
	}
	if t.rule.Writes, err = t.writesTo(ctx, paths); err != nil {
		return nil, err
	}
	return t.rule.Answers(lines)
}

// attributor returns an Attributor that looks up what it asks for.
func (t *Tracer) attributor(ctx context.Context) Attributor {
	known, makers := map[string]skein.Time{}, map[string]*Write{}
	before := func(c *git.Commit) (at skein.Time, err error) {
		at, ok := known[c.Hash]
		if !ok {
			if c.Hash == "" {
				_, at, err = t.ancestry.Find("HEAD")
			} else {
				at, err = t.ancestry.Before(c)
			}
			if err == nil {
				known[c.Hash] = at
			}
		}
		return at, err
	}
	return Attributor{
		Before:   before,
		Others:   func(text string) ([]Write, error) { return t.others(ctx, text) },
		Active:   func(w *Write, from, to skein.Time) (bool, error) { return t.wentOn(ctx, w, from, to) },
		Happened: func(w *Write) (bool, error) { return t.succeeded(ctx, w) },
		Was:      t.was,
		Noted:    func(l *git.Line) (*Write, error) { return t.noted(ctx, l) },
		Maker: func(c *git.Commit) (maker *Write, err error) {
			maker, ok := makers[c.Hash]
			if !ok && c.Hash != "" && !c.ByBot() {
				if maker, err = t.maker(ctx, c); err == nil {
					makers[c.Hash] = maker
				}
			}
			return maker, err
		},
	}
}

// was returns a file as it was before a commit, by a line that the commit has added; "" if it was not
// there.
func (t *Tracer) was(l *git.Line) (string, error) {
	if l.Was == "" {
		return "", nil
	}
	o, err := t.ancestry.Read(l.Was)
	if err != nil || o == nil {
		return "", err
	}
	return string(o.Body), nil
}
