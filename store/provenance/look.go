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
	succeed  map[string]bool         // calls, by session and ID
	named    map[string][]Write      // what calls did to files, by the path for which they were looked for
	wrote    map[skein.Place][]Write // what the calls of a message did to files
	found    map[string][]Write      // calls that put a line into a file of the repository, by the line
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
		named: map[string][]Write{}, wrote: map[skein.Place][]Write{}, found: map[string][]Write{}, next: map[since]skein.Time{},
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
// or at those from which they moved it there, by time. The error is the store's.
func (s *searcher) writesTo(ctx context.Context, paths []string) (all []Write, err error) {
	paths = slices.Clone(paths)
	seen := map[skein.Place]bool{} // what another path found, too
	var found [][]Write
	for i := 0; i < len(paths) && i < mostPaths; i++ {
		writes, err := s.naming(ctx, paths[i])
		if err != nil {
			return nil, err
		}
		found = append(found, writes)
		before, err := s.before(ctx, paths[i], writes)
		if err != nil {
			return nil, err
		}
		for _, p := range before {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	for _, writes := range found {
		for _, w := range writes {
			if x := s.sessions[w.Session]; !seen[w.Place] && x != nil && slices.ContainsFunc(paths, func(p string) bool { return s.is(x, &w.Edit, p) }) {
				all = append(all, w)
			}
		}
		for i := range writes {
			seen[writes[i].Place] = true
		}
	}
	slices.SortStableFunc(all, byTime)
	return all, nil
}

// mostPaths bounds how many names of a file are looked for.
const mostPaths = 20

// before returns the paths that a file had before calls moved it, or a folder that it is
// in, to where it is. These are the calls that name the file.
func (s *searcher) before(ctx context.Context, file string, naming []Write) (all []string, err error) {
	for to, below := file, ""; ; {
		for i := range naming {
			w := &naming[i]
			x := s.sessions[w.Session]
			if w.Edit.From == "" || x == nil || !slices.Contains(s.all(x, &w.Edit, w.Edit.Path), to) {
				continue
			}
			if ok, err := s.succeeded(ctx, w); err != nil || !ok {
				if err != nil {
					return nil, err
				}
				continue
			}
			if from := s.inside(x, &w.Edit, w.Edit.From); from != "" {
				all = append(all, path.Join(from, below))
			}
		}
		folder := path.Dir(to)
		if folder == "." || folder == "/" {
			return all, nil
		}
		to, below = folder, path.Join(path.Base(to), below)
		if naming, err = s.naming(ctx, to); err != nil {
			return nil, err
		}
	}
}

// naming returns what the calls of those messages did to files that change one with such a
// path, and maybe of others. The error is the store's.
func (s *searcher) naming(ctx context.Context, name string) (all []Write, err error) {
	if all, known := s.named[name]; known {
		return all, nil
	}
	q := skein.Query{Terms: phrase(path.Base(name)), Role: skein.RoleAssistant}
	if q.Terms == nil {
		q = skein.Query{Path: path.Base(name), Role: skein.RoleAssistant}
	}
	if all, err = s.indexed(ctx, edits.FileKeys(name), q); err == nil {
		s.named[name] = all
	}
	return all, err
}

// indexed returns what the calls did to files that have any of these keys; or, if the
// store has no index of edits, or not all is in it yet, what those did that q finds.
func (s *searcher) indexed(ctx context.Context, keys []edits.IndexKey, q skein.Query) (all []Write, err error) {
	index, ok := skein.PartOf[edits.Index](s.store)
	if !ok {
		return s.writes(ctx, q)
	}
	for h, err := range index.Edits(ctx, keys) {
		if errors.Is(err, edits.ErrBehind) {
			return s.writes(ctx, q)
		}
		if err != nil {
			return nil, err
		}
		x, err := s.session(ctx, h.Session)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		at := skein.Place{Session: h.Session, Seq: h.Seq}
		if _, read := s.wrote[at]; !read { // many lines of a file are in few messages
			s.wrote[at] = writesOf(&h, x)
		}
		all = append(all, s.wrote[at]...)
	}
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
	q := skein.Query{Terms: terms, Role: skein.RoleAssistant}
	var found []Write
	if key, long := edits.LineKey(text); long {
		found, err = s.indexed(ctx, []edits.IndexKey{key}, q)
	} else {
		found, err = s.writes(ctx, q)
	}
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
		all = append(all, writesOf(h, x)...)
		return nil
	})
	return all, err
}

// writesOf returns what the calls of a message of session x did to files.
func writesOf(h *skein.Hit, x *skein.Session) (all []Write) {
	m := messageOf(h.Event)
	for _, p := range m.Parts {
		if p.Call == nil {
			continue
		}
		for _, e := range edits.Of(p.Call) {
			if e.Dir = edits.Slashed(e.Dir); !path.IsAbs(e.Dir) {
				e.Dir = path.Join(edits.Slashed(x.Cwd), e.Dir)
			}
			all = append(all, Write{Place: skein.Place{Session: h.Session, Seq: h.Seq}, Turn: h.Turn, Time: h.Time, Call: p.Call.ID, Model: m.Model, Edit: e})
		}
	}
	return all
}

// messageOf returns the message of a said event; one without parts if it is damaged.
func messageOf(e *skein.Event) (m skein.Message) {
	if json.Unmarshal(e.Payload, &m) != nil {
		return skein.Message{}
	}
	return m
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
				if dir := path.Base(edits.Slashed(cmp.Or(x.Project, x.Cwd))); same && !slices.Contains(s.names(), dir) {
					s.former = append(s.former, dir)
				}
			}
		}
		return nil
	})
	return maker, err
}
