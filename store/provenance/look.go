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

// A Searcher looks in a store for what sessions did to the files of a repository.
type Searcher struct {
	Store skein.Store
	Root  string        // of the working tree
	Repo  repository.ID // "" if it has none

	sessions map[skein.SessionID]*skein.Session
	happened map[string]bool
	all      []skein.Session // of the store; nil if they were not read
	former   []string        // names of folders in which commits of the repository were made
}

// pageOf is how many hits one search asks for.
const pageOf = 1000

// each passes the messages that match q to take, the newest first. The error is the
// store's or take's.
func (s *Searcher) each(ctx context.Context, q skein.Query, take func(h *skein.Hit, x *skein.Session) error) error {
	q.Each, q.Newest, q.Whole, q.Rewound, q.Limit = true, true, true, true, pageOf
	seen := map[skein.Place]bool{}
	for {
		var found skein.Results
		for r, err := range search.Widen(ctx, s.Store, q, 0) {
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
func (s *Searcher) session(ctx context.Context, id skein.SessionID) (*skein.Session, error) {
	if x, ok := s.sessions[id]; ok {
		return x, nil
	}
	found, err := lookup.ByID(ctx, s.Store, []skein.SessionID{id})
	if err != nil {
		return nil, err
	}
	if s.sessions == nil {
		s.sessions = map[skein.SessionID]*skein.Session{}
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

// Writes returns the calls that changed the file at these paths, relative to the root,
// by time. The error is the store's.
func (s *Searcher) Writes(ctx context.Context, paths []string) (all []Write, err error) {
	names := map[string]bool{}
	for _, p := range paths {
		names[path.Base(p)] = true
	}
	for name := range names {
		q := skein.Query{Terms: phrase(name), Role: skein.RoleAssistant}
		if q.Terms == nil {
			q = skein.Query{Path: name, Role: skein.RoleAssistant}
		}
		found, err := s.writes(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			if x := s.sessions[w.Session]; x != nil && slices.ContainsFunc(paths, func(p string) bool { return s.is(x, &w.Edit, p) }) {
				all = append(all, w)
			}
		}
	}
	slices.SortStableFunc(all, byTime)
	return all, nil
}

func byTime(a, b Write) int { return cmp.Compare(a.Time, b.Time) }

// Others returns the calls that put a line into any file of the repository, by time. The
// error is the store's.
func (s *Searcher) Others(ctx context.Context, text string) (all []Write, err error) {
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
func (s *Searcher) writes(ctx context.Context, q skein.Query) (all []Write, err error) {
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
func (s *Searcher) is(x *skein.Session, e *edits.Edit, file string) bool {
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

// here reports whether an edit of session x is of a file in the repository.
func (s *Searcher) here(x *skein.Session, e *edits.Edit) bool {
	p := clean(e.Path, e.Dir)
	return s.belongs(x) && (!path.IsAbs(p) || x.Project == "" || strings.HasPrefix(p, slashed(x.Project)+"/")) || strings.HasPrefix(p, slashed(s.Root)+"/")
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
func (s *Searcher) folder(x *skein.Session, dir string) bool {
	names := s.names()
	switch {
	case dir == slashed(s.Root):
		return true
	case x.Checkout.Repository != "" && !strings.HasPrefix(x.Checkout.Repository, "root:"):
		return x.Checkout.Repository == string(s.Repo) || slices.Contains(names, path.Base(x.Checkout.Repository)) // maybe a fork's
	}
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(names, part) })
}

// belongs reports whether session x is of the repository.
func (s *Searcher) belongs(x *skein.Session) bool {
	dir := slashed(cmp.Or(x.Project, x.Cwd))
	return dir != "" && s.folder(x, dir)
}

// names are what folders of the repository may be called.
func (s *Searcher) names() []string {
	return append([]string{path.Base(slashed(s.Root)), strings.TrimSuffix(path.Base(string(s.Repo)), ".git")}, s.former...)
}

// Happened reports whether a call succeeded: not if its result says that it failed. The
// error is the store's.
func (s *Searcher) Happened(ctx context.Context, w *Write) (bool, error) {
	key := string(w.Session) + " " + w.Call
	if ok, known := s.happened[key]; known || w.Call == "" {
		return ok || !known, nil
	}
	ok := true
	n := 0
	for e, err := range s.Store.Events(ctx, w.Session, w.Seq) {
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
	if s.happened == nil {
		s.happened = map[string]bool{}
	}
	s.happened[key] = ok
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

// Active reports whether session w.Session did anything after w between two times. The
// error is the store's.
func (s *Searcher) Active(ctx context.Context, w *Write, from, to skein.Time) (bool, error) {
	x, err := s.session(ctx, w.Session)
	if err != nil || x == nil || x.Updated < from {
		return false, err
	}
	for e, err := range s.Store.Events(ctx, w.Session, w.Seq) {
		if err != nil {
			return false, err
		}
		if e.Time >= from {
			return e.Time <= to, nil
		}
	}
	return false, nil
}

// Alive reports whether a session of the repository was active between two times. The
// error is the store's.
func (s *Searcher) Alive(ctx context.Context, from, to skein.Time) (bool, error) {
	return s.active(ctx, from, to, s.belongs)
}

// active reports whether a session that fits was active between two times.
func (s *Searcher) active(ctx context.Context, from, to skein.Time, fits func(x *skein.Session) bool) (bool, error) {
	if s.all == nil {
		s.all = []skein.Session{}
		for x, err := range s.Store.Sessions(ctx, skein.Filter{}) {
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

// Maker returns the session in which a command reported that it made a commit with this
// subject at the author's time; "" if none did. The commit may have another hash since: a
// rebase keeps the author's time. The error is the store's.
func (s *Searcher) Maker(ctx context.Context, c *git.Commit) (maker skein.SessionID, err error) {
	terms := phrase(c.Subject)
	anybody := func(*skein.Session) bool { return true }
	if some, err := s.active(ctx, c.Time-slack, c.Time+slack, anybody); err != nil || !some || terms == nil {
		return "", err
	}
	terms[0].Words = terms[0].Words[:min(len(terms[0].Words), 12)]
	q := skein.Query{Terms: terms, Role: skein.RoleTool, Since: c.Time - 10*slack, Until: c.Time + 10*slack}
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
				maker = h.Session
				if dir := path.Base(slashed(cmp.Or(x.Project, x.Cwd))); same && !slices.Contains(s.names(), dir) {
					s.former = append(s.former, dir)
				}
			}
		}
		return nil
	})
	return maker, err
}

// Prompt returns what a person said at the beginning of the turn of a message; "" if
// that is not found. The error is the store's.
func Prompt(ctx context.Context, store skein.Store, at skein.Place) (string, error) {
	for n := 20; n <= 20000; n *= 10 {
		entries, err := store.Newest(ctx, at.Session, n, at.Seq)
		if err != nil {
			return "", err
		}
		for _, e := range slices.Backward(entries) {
			if e.Message.Typed() {
				return e.Message.Prompt(), nil
			}
		}
		if len(entries) < n {
			break
		}
	}
	return "", nil
}
