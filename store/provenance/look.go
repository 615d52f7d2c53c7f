package provenance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/internal/repository"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// A searcher looks in a store for what sessions did to the files of a repository.
type searcher struct {
	store skein.Store
	root  string        // of the working tree
	repo  repository.ID // "" if it has none

	sessions map[skein.SessionID]*skein.Session
	succeed  map[string]bool    // calls, by session and ID
	named    map[string][]Write // what calls did to files, by the last part of a path that their messages name
	found    map[string][]Write // calls that put a line into a file of the repository, by the line
	next     map[since]skein.Time
	former   []string // other names of the repository: of its remotes, and of folders in which commits of it were made
}

// since is what searcher.next is by: it has the time of the first event after a place that
// is not before a time.
type since struct {
	skein.Place
	time skein.Time
}

func newSearcher(store skein.Store, root string) searcher {
	return searcher{
		store: store, root: root, sessions: map[skein.SessionID]*skein.Session{}, succeed: map[string]bool{},
		named: map[string][]Write{}, found: map[string][]Write{}, next: map[since]skein.Time{},
	}
}

const (
	pageOf  = 1000      // hits that one search asks for
	allWork = time.Hour // more than there is to search
)

// each passes the messages that match q to take, the newest first. The error is the
// store's or take's.
func (s *searcher) each(ctx context.Context, q skein.Query, take func(h *skein.Hit, x *skein.Session) error) error {
	q.Each, q.Newest, q.Whole, q.Rewound, q.Limit = true, true, true, true, pageOf
	seen := map[skein.Place]bool{}
	q.Deadline = allWork
	for {
		found, err := s.store.Search(ctx, q)
		if err != nil {
			return err
		}
		fresh := 0
		for i := range found.Hits {
			h := &found.Hits[i]
			if at := (skein.Place{Session: h.Session, Seq: h.Seq}); seen[at] || h.Event == nil {
				continue
			} else {
				seen[at] = true
			}
			fresh++
			x, err := s.session(ctx, h.Session)
			if err != nil {
				return err
			}
			if x == nil {
				continue
			}
			if err := take(h, x); err != nil {
				return err
			}
		}
		switch all := !found.CutOff && len(found.Hits) < pageOf; {
		case all:
			return nil
		case fresh == 0:
			return fmt.Errorf("more than %d messages have one time: not all of them can be looked at", len(found.Hits))
		}
		q.Until = found.Hits[len(found.Hits)-1].Time + 1
	}
}

// session returns a session; nil if it was deleted meanwhile.
func (s *searcher) session(ctx context.Context, id skein.SessionID) (*skein.Session, error) {
	if x, ok := s.sessions[id]; ok {
		return x, nil
	}
	found, err := lookup.ByID(ctx, s.store, []skein.SessionID{id})
	if err != nil {
		return nil, err
	}
	if x, ok := found[id]; ok {
		s.sessions[id] = &x
	} else {
		s.sessions[id] = nil
	}
	return s.sessions[id], nil
}

// phrase returns the terms that find a text, as a phrase of its words; nil if it has no word.
func phrase(text string) []skein.Term {
	var words []string
	for at := range search.Words(text) {
		words = append(words, text[at.Start:at.End])
	}
	if len(words) == 0 {
		return nil
	}
	return []skein.Term{{Words: words}}
}

// writesTo returns the calls that changed the file at these paths, relative to the root,
// by time. The error is the store's.
func (s *searcher) writesTo(ctx context.Context, paths []string) (all []Write, err error) {
	names := map[string]bool{}
	for _, p := range paths {
		names[path.Base(p)] = true
	}
	for name := range names {
		q := skein.Query{Terms: phrase(name), Role: skein.RoleAssistant}
		if q.Terms == nil {
			q = skein.Query{Path: name, Role: skein.RoleAssistant}
		}
		if _, known := s.named[name]; !known {
			if s.named[name], err = s.writes(ctx, q); err != nil {
				return nil, err
			}
		}
		for _, w := range s.named[name] {
			if x := s.sessions[w.Session]; x != nil && slices.ContainsFunc(paths, func(p string) bool { return s.is(x, &w.Edit, p) }) {
				all = append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, byTime)
	return all, nil
}

func byTime(a, b Write) int { return cmp.Compare(a.Time, b.Time) }

// others returns the calls that put a line into any file of the repository, by time. The
// error is the store's.
func (s *searcher) others(ctx context.Context, text string) (all []Write, err error) {
	if all, known := s.found[text]; known {
		return all, nil
	}
	terms := phrase(text)
	if terms == nil || len(terms[0].Words) < 2 {
		return nil, nil
	}
	terms[0].Words = terms[0].Words[:min(len(terms[0].Words), 12)]
	found, err := s.writes(ctx, skein.Query{Terms: terms, Role: skein.RoleAssistant})
	if err != nil {
		return nil, err
	}
	for _, w := range found {
		x := s.sessions[w.Session]
		if x != nil && s.here(x, &w.Edit) && slices.ContainsFunc(w.Edit.Added, func(l string) bool { return strings.TrimSpace(l) == text }) {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, byTime)
	s.found[text] = all
	return all, nil
}

// writes returns what the calls that q finds did to files.
func (s *searcher) writes(ctx context.Context, q skein.Query) (all []Write, err error) {
	err = s.each(ctx, q, func(h *skein.Hit, x *skein.Session) error {
		m := messageOf(h.Event)
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			for _, e := range edits.Of(p.Call) {
				if e.Dir = slashed(e.Dir); !path.IsAbs(e.Dir) {
					e.Dir = path.Join(slashed(x.Cwd), e.Dir)
				}
				all = append(all, Write{Place: skein.Place{Session: h.Session, Seq: h.Seq}, Turn: h.Turn, Time: h.Time, Call: p.Call.ID, Model: m.Model, Edit: e})
			}
		}
		return nil
	})
	return all, err
}

// messageOf returns the message of a said event; one without parts if it is damaged.
func messageOf(e *skein.Event) (m skein.Message) {
	if json.Unmarshal(e.Payload, &m) != nil {
		return skein.Message{}
	}
	return m
}

// is reports whether an edit of session x is of the file at path, relative to the root.
func (s *searcher) is(x *skein.Session, e *edits.Edit, file string) bool {
	return s.inside(x, e, e.Path) == file || s.inside(x, e, e.From) == file
}

// inside returns the path of a file that an edit of session x names, relative to the root
// of the repository; "" if it is not in the repository, as far as is known.
func (s *searcher) inside(x *skein.Session, e *edits.Edit, p string) string {
	if p == "" {
		return ""
	}
	p = clean(p, e.Dir)
	if !path.IsAbs(p) {
		if s.belongs(x) && !strings.HasPrefix(p, "../") {
			return p
		}
		return ""
	}
	for _, dir := range s.tops(x, p) {
		if name, ok := strings.CutPrefix(p, dir+"/"); ok {
			return name
		}
	}
	return ""
}

// here reports whether an edit of session x is of a file in the repository.
func (s *searcher) here(x *skein.Session, e *edits.Edit) bool { return s.inside(x, e, e.Path) != "" }

// tops returns the folders that may be the top of a working tree of the repository, the
// likeliest first, for a file at p that session x changed: a linked working tree that the
// session is in; this one; on another machine, the folder with the repository's name that
// the session is in, or its own if it is of the same repository; and the outermost folder
// with the name that the file is in.
func (s *searcher) tops(x *skein.Session, p string) (all []string) {
	same, known := s.same(x)
	at := top(x)
	if linked := linkedTree(at); linked != "" && s.belongs(x) {
		all = append(all, linked)
	}
	all = append(all, slashed(s.root))
	if known && !same {
		return all
	}
	for dir := at; len(dir) > 1; dir = path.Dir(dir) {
		if slices.Contains(s.names(), path.Base(dir)) {
			all = append(all, dir)
			break
		}
	}
	if same && at != "" {
		all = append(all, at)
	}
	outermost := ""
	for dir := path.Dir(p); len(dir) > 1; dir = path.Dir(dir) {
		if slices.Contains(s.names(), path.Base(dir)) {
			outermost = dir
		}
	}
	if outermost != "" {
		all = append(all, outermost)
	}
	return all
}

// linkedTree returns the top of the linked working tree that a folder is in, where
// programs put them: NAME in a folder worktrees; "" if it is in none.
func linkedTree(dir string) string {
	before, after, ok := strings.Cut(dir, "/worktrees/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "/")
	return before + "/worktrees/" + name
}

// clean returns the path that a call means, with slashes.
func clean(p, dir string) string {
	p, dir = slashed(p), slashed(dir)
	if !path.IsAbs(p) && dir != "" {
		p = path.Join(dir, p)
	}
	return path.Clean(p)
}

// slashed returns a path of any system with slashes, a drive as a folder.
func slashed(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if len(p) > 2 && p[1] == ':' {
		p = "/" + strings.ToLower(p[:1]) + p[2:]
	}
	return p
}

// top is the folder that a session calls its project.
func top(x *skein.Session) string { return slashed(cmp.Or(x.Project, x.Cwd)) }

// same reports whether a session is of the repository, and whether its record tells. A
// repository of the same name may be a fork.
func (s *searcher) same(x *skein.Session) (same, known bool) {
	of := x.Checkout.Repository
	known = of != "" && !strings.HasPrefix(of, "root:")
	return known && (of == string(s.repo) || slices.Contains(s.names(), path.Base(of))), known
}

// inNamed reports whether a folder, or one that it is in, has the repository's name.
func (s *searcher) inNamed(dir string) bool {
	names := s.names()
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(names, part) })
}

// belongs reports whether session x is of the repository.
func (s *searcher) belongs(x *skein.Session) bool {
	if same, known := s.same(x); known {
		return same
	}
	dir := top(x)
	return dir != "" && (dir == slashed(s.root) || strings.HasPrefix(dir, slashed(s.root)+"/") || s.inNamed(dir))
}

// names are what folders of the repository may be called.
func (s *searcher) names() []string {
	return append([]string{path.Base(slashed(s.root)), strings.TrimSuffix(path.Base(string(s.repo)), ".git")}, s.former...)
}

// succeeded reports whether a call succeeded: not if its result says that it failed. The
// error is the store's.
func (s *searcher) succeeded(ctx context.Context, w *Write) (bool, error) {
	key := string(w.Session) + " " + w.Call
	if ok, known := s.succeed[key]; known || w.Call == "" {
		return ok || !known, nil
	}
	ok := true
	n := 0
	for e, err := range s.store.Events(ctx, w.Session, w.Seq) {
		if err != nil {
			if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrCorrupt) {
				break
			}
			return false, err
		}
		if n++; n > 200 {
			break
		}
		if e.Kind != skein.KindSaid {
			continue
		}
		m := messageOf(&e)
		i := slices.IndexFunc(m.Parts, func(p skein.Part) bool { return p.Result != nil && p.Result.CallID == w.Call })
		if i >= 0 {
			ok = !failed(&m.Parts[i])
			break
		}
	}
	s.succeed[key] = ok
	return ok, nil
}

// failed reports whether a result says that the call failed.
func failed(p *skein.Part) bool {
	var meta struct {
		Exit int `json:"exit_code"`
	}
	_ = json.Unmarshal(p.Meta, &meta)
	return p.Result.Failed || meta.Exit != 0
}

// wentOn reports whether session w.Session did anything after w between two times. The
// error is the store's.
func (s *searcher) wentOn(ctx context.Context, w *Write, from, to skein.Time) (bool, error) {
	x, err := s.session(ctx, w.Session)
	if err != nil || x == nil || x.Updated < from {
		return false, err
	}
	key := since{w.Place, from}
	next, known := s.next[key]
	if !known {
		next = math.MaxInt64
		for e, err := range s.store.Events(ctx, w.Session, w.Seq) {
			if err != nil {
				return false, err
			}
			if e.Time >= from {
				next = e.Time
				break
			}
		}
		s.next[key] = next
	}
	return next <= to, nil
}

// maker returns the result of a command that reported that it made a commit with this
// subject at the author's time; nil if no session has one. The commit may have another hash since: a
// rebase keeps the author's time. The error is the store's.
func (s *searcher) maker(ctx context.Context, c *git.Commit) (maker *Write, err error) {
	terms := phrase(c.Subject)
	if terms == nil {
		return nil, nil
	}
	terms[0].Words = terms[0].Words[:min(len(terms[0].Words), 12)]
	q := skein.Query{Terms: terms, Role: skein.RoleTool, Since: c.Time - hooks, Until: c.Time + hooks}
	err = s.each(ctx, q, func(h *skein.Hit, x *skein.Session) error {
		m := messageOf(h.Event)
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			for made := range edits.Commits(p.Result.Text.UTF8()) {
				same := strings.HasPrefix(c.Hash, made.Hash)
				near := max(h.Time-c.Time, c.Time-h.Time) <= 2*slack // another commit may have the same subject
				if made.Subject != c.Subject || !same && (!near || !s.belongs(x) || maker != nil) {
					continue
				}
				maker = &Write{Place: skein.Place{Session: h.Session, Seq: h.Seq}, Turn: h.Turn, Time: h.Time, Call: p.Result.CallID}
				if dir := path.Base(slashed(cmp.Or(x.Project, x.Cwd))); same && !slices.Contains(s.names(), dir) {
					s.former = append(s.former, dir)
				}
			}
		}
		return nil
	})
	return maker, err
}
