package provenance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

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
	all      []skein.Session    // of the store; nil if they were not read
	named    map[string][]Write // what calls did to files, by the last part of a path that their messages name
	former   []string           // other names of the repository: of its remotes, and of folders in which commits of it were made
}

func newSearcher(store skein.Store, root string) searcher {
	return searcher{store: store, root: root, sessions: map[skein.SessionID]*skein.Session{}, succeed: map[string]bool{}, named: map[string][]Write{}}
}

// pageOf is how many hits one search asks for.
const pageOf = 1000

// each passes the messages that match q to take, the newest first. The error is the
// store's or take's.
func (s *searcher) each(ctx context.Context, q skein.Query, take func(h *skein.Hit, x *skein.Session) error) error {
	q.Each, q.Newest, q.Whole, q.Rewound, q.Limit = true, true, true, true, pageOf
	seen := map[skein.Place]bool{}
	for {
		var found skein.Results
		for r, err := range search.Widen(ctx, s.store, q, 0) {
			if err != nil {
				return err
			}
			found = r
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
		if fresh == 0 || !found.CutOff && len(found.Hits) < pageOf {
			return nil
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
				if e.Dir == "" {
					e.Dir = x.Cwd
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
	for _, p := range []string{e.Path, e.From} {
		if p == "" {
			continue
		}
		p = clean(p, e.Dir)
		if !path.IsAbs(p) {
			if p == file && s.belongs(x) {
				return true
			}
			continue
		}
		if under, ok := strings.CutSuffix(p, "/"+file); ok && s.folder(x, under) {
			return true
		}
	}
	return false
}

// inside returns the path of a file that an edit of session x names, relative to the root
// of the repository; "" if it is not in the repository, as far as is known.
func (s *searcher) inside(x *skein.Session, e *edits.Edit, p string) string {
	if p == "" {
		return ""
	}
	p = clean(p, e.Dir)
	if !path.IsAbs(p) {
		return p
	}
	for _, dir := range []string{slashed(s.root), slashed(x.Project), slashed(x.Cwd)} {
		if name, ok := strings.CutPrefix(p, dir+"/"); ok && dir != "" && (dir == slashed(s.root) || s.folder(x, dir)) {
			return name
		}
	}
	return ""
}

// here reports whether an edit of session x is of a file in the repository.
func (s *searcher) here(x *skein.Session, e *edits.Edit) bool {
	p := clean(e.Path, e.Dir)
	return s.belongs(x) && (!path.IsAbs(p) || x.Project == "" || strings.HasPrefix(p, slashed(x.Project)+"/")) || strings.HasPrefix(p, slashed(s.root)+"/")
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

// folder reports whether the folder at an absolute path, in which session x changed
// files, is a working tree of the repository: this one; that of the session, if it is of
// the same repository; or one in a folder that has the repository's name.
func (s *searcher) folder(x *skein.Session, dir string) bool {
	names := s.names()
	switch {
	case dir == slashed(s.root):
		return true
	case x.Checkout.Repository != "" && !strings.HasPrefix(x.Checkout.Repository, "root:"):
		return x.Checkout.Repository == string(s.repo) || slices.Contains(names, path.Base(x.Checkout.Repository)) // maybe a fork's
	}
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(names, part) })
}

// belongs reports whether session x is of the repository.
func (s *searcher) belongs(x *skein.Session) bool {
	dir := slashed(cmp.Or(x.Project, x.Cwd))
	return dir != "" && s.folder(x, dir)
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
	for e, err := range s.store.Events(ctx, w.Session, w.Seq) {
		if err != nil {
			return false, err
		}
		if e.Time >= from {
			return e.Time <= to, nil
		}
	}
	return false, nil
}

// active reports whether a session that fits was active between two times. The error is
// the store's.
func (s *searcher) active(ctx context.Context, from, to skein.Time, fits func(x *skein.Session) bool) (bool, error) {
	if s.all == nil {
		s.all = []skein.Session{}
		for x, err := range s.store.Sessions(ctx, skein.Filter{}) {
			if err != nil {
				return false, err
			}
			s.all = append(s.all, x)
		}
	}
	for i := range s.all {
		if x := &s.all[i]; x.Created <= to && x.Updated >= from && fits(x) {
			return true, nil
		}
	}
	return false, nil
}

// maker returns the result of a command that reported that it made a commit with this
// subject at the author's time; nil if no session has one. The commit may have another hash since: a
// rebase keeps the author's time. The error is the store's.
func (s *searcher) maker(ctx context.Context, c *git.Commit) (maker *Write, err error) {
	terms := phrase(c.Subject)
	anybody := func(*skein.Session) bool { return true }
	if some, err := s.active(ctx, c.Time-hooks, c.Time+hooks, anybody); err != nil || !some || terms == nil {
		return nil, err
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
				if made.Subject != c.Subject || !same && !s.belongs(x) {
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
