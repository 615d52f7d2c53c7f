package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// A Report says what Copy did, and what both stores have of the sessions that
// the first one had when it began.
type Report struct {
	Stored   int      `json:"stored"` // events, in this run
	From     Totals   `json:"from"`
	To       Totals   `json:"to"`
	Differ   int      `json:"differ"`             // sessions and files that are not the same
	Examples []string `json:"examples,omitempty"` // of them, for people

	// Renamed has the IDs in the second store of the sessions whose own IDs are taken
	// there, by their IDs in the first.
	Renamed map[skein.SessionID]skein.SessionID `json:"renamed,omitempty"`

	// Keyless has the keys of sessions of the first store that have none in the second,
	// because another session has it.
	Keyless map[skein.SessionID]string `json:"keyless,omitempty"`

	// Damaged says what of the first store could not be read, in words: an event was
	// replaced by a placeholder; blobs and source files were not copied.
	Damaged []string `json:"damaged,omitempty"`
}

// Same reports whether the second store has everything, exactly.
func (r *Report) Same() bool { return r.Differ == 0 && r.From == r.To }

// add adds the result of another Copy to the report.
func (r *Report) add(one Report) {
	r.Stored += one.Stored
	r.Differ += one.Differ
	r.Examples = append(r.Examples, one.Examples[:min(len(one.Examples), maxExamples-len(r.Examples))]...)
	r.Damaged = append(r.Damaged, one.Damaged...)
	for id, to := range one.Renamed {
		r.rename(id, to)
	}
	for id, key := range one.Keyless {
		if r.Keyless == nil {
			r.Keyless = map[skein.SessionID]string{}
		}
		r.Keyless[id] = key
	}
	r.From.add(one.From)
	r.To.add(one.To)
}

func (r *Report) rename(id, to skein.SessionID) {
	if id == to {
		return
	}
	if r.Renamed == nil {
		r.Renamed = map[skein.SessionID]skein.SessionID{}
	}
	r.Renamed[id] = to
}

func (t *Totals) add(one Totals) {
	t.Sessions += one.Sessions
	t.Binned += one.Binned
	t.Events += one.Events
	t.Blobs += one.Blobs
	t.Files += one.Files
	t.Records += one.Records
	t.Tombstones += one.Tombstones
	t.Tokens += one.Tokens
	if t.Hash == "" {
		t.Hash = one.Hash
		return
	}
	sum := sha256.Sum256([]byte(t.Hash + one.Hash))
	t.Hash = hex.EncodeToString(sum[:])
}

// Totals are sums over a store.
type Totals struct {
	Sessions   int    `json:"sessions"`
	Binned     int    `json:"binned"`
	Events     int    `json:"events"`
	Blobs      int    `json:"blobs"`
	Files      int    `json:"source_files"`
	Records    int    `json:"records"`
	Tombstones int    `json:"tombstones"`
	Tokens     int64  `json:"tokens"`
	Hash       string `json:"sha256"` // of all sessions with their events, and of all source files with their records
}

const maxExamples = 10

// compare reads both stores.
func (c *copyRun) compare(ctx context.Context) (Report, error) {
	r := Report{Stored: c.stored}
	a, b := &contentDigest{copyRun: c, store: c.from, blobs: map[skein.Hash]bool{}}, &contentDigest{copyRun: c, store: c.to, blobs: map[skein.Hash]bool{}, second: true}
	for _, s := range []*contentDigest{a, b} {
		var err error
		if _, s.listed, err = listing(ctx, s.store); err != nil {
			return r, err
		}
	}
	c.leftKeys(a.listed, b.listed)
	ids := slices.Sorted(slices.Values(c.order))
	for i, id := range ids {
		if err := c.pair(ctx, &r, "session "+string(id), func(s *contentDigest) ([]byte, error) { return s.session(ctx, c.sessions[id]) }, a, b); err != nil {
			return r, err
		}
		c.o.tell(Progress{"comparing", i + 1, len(ids), c.stored})
	}
	for _, u := range c.users() {
		for f, err := range skein.SourcesOf(c.from.As(u)).Files(ctx, "") {
			if err != nil {
				return r, err
			}
			if err := c.pair(ctx, &r, "source file "+f.Path, func(s *contentDigest) ([]byte, error) { return s.file(ctx, u, f) }, a, b); err != nil {
				return r, err
			}
		}
	}
	for _, id := range ids {
		r.rename(id, c.place(id))
	}
	if len(c.keyless) > 0 {
		r.Keyless = c.keyless
	}
	r.Damaged = c.damaged
	var err error
	if r.From, err = a.totals(ctx); err != nil {
		return r, err
	}
	r.To, err = b.totals(ctx)
	return r, err
}

// leftKeys finds the keys that sessions do not have in the second store because others
// have them there.
func (c *copyRun) leftKeys(from, to map[skein.SessionID]skein.Session) {
	taken := map[string]bool{}
	for _, s := range to {
		taken[s.Key] = true
	}
	for id := range c.sessions {
		if key := from[id].Key; c.only != "" && key != "" && to[c.place(id)].Key == "" && taken[key] {
			c.keyless[id] = key
		}
	}
}

// pair compares one thing in both stores.
func (c *copyRun) pair(_ context.Context, r *Report, what string, sum func(*contentDigest) ([]byte, error), a, b *contentDigest) error {
	x, err := sum(a)
	if err != nil {
		return err
	}
	y, err := sum(b)
	if err != nil {
		return err
	}
	if string(x) == string(y) {
		return nil
	}
	if r.Differ++; len(r.Examples) < maxExamples {
		r.Examples = append(r.Examples, what)
	}
	return nil
}

// A contentDigest sums up the contents of a store.
type contentDigest struct {
	*copyRun
	store  skein.Store
	second bool // it is the second store
	listed map[skein.SessionID]skein.Session
	sums   []byte // of each thing, one after the other
	blobs  map[skein.Hash]bool
	Totals
}

func (s *contentDigest) add(sum []byte) []byte {
	s.sums = append(s.sums, sum...)
	return sum
}

// session returns the hash of a session's state and own events; nil if the
// store does not have it. If the session went on since, only the part that k has is
// hashed.
func (s *contentDigest) session(ctx context.Context, k *sourceSession) ([]byte, error) {
	id := k.ID
	if s.second {
		id = s.place(id)
	}
	is, ok := s.listed[id]
	if !ok {
		return nil, nil
	}
	h := sha256.New()
	s.Sessions++
	if is.Binned != 0 {
		s.Binned++
		is.Binned = 1
	}
	is.Revision, is.LockedBy = 0, ""
	is.Updated, is.Touched = 0, 0 // they follow from the events
	if s.keyless[k.ID] != "" {
		is.Key = ""
	}
	if !s.second {
		is.ID, is.User = s.place(is.ID), s.whose(is.User)
		if is.Parent != nil {
			p := *is.Parent
			p.Session = s.place(p.Session)
			is.Parent = &p
		}
	}
	hurt := false
	for e, err := range s.store.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		hurt = hurt || e.IsPlaceholder()
		if e.Seq > is.Base {
			s.Events++
		}
		if !s.second {
			if e, err = s.given(k.ID, begun(e, &k.Session)); err != nil {
				return nil, err
			}
		}
		switch {
		case s.only == "":
		case e.Kind == skein.KindCreated && e.Seq <= is.Base:
			e.Payload = canonical(e) // the parent may have it under an ID of its own
		default:
			e = keyless(e) // another session may have had the key
		}
		fmt.Fprintf(h, "%d %d %q %q %d ", e.Seq, e.Time, e.Kind, e.ClientID, len(e.Payload))
		h.Write(e.Payload)
		if err := s.refer(ctx, id, e); err != nil {
			return nil, err
		}
	}
	if !hurt { // otherwise the second store adds up only what could be read
		s.Tokens += is.Usage.Tokens()
		h.Write(skein.MustJSON(is))
	}
	return s.add(h.Sum(nil)), nil
}

// refer checks whether the blobs that e refers to exist.
func (s *contentDigest) refer(ctx context.Context, id skein.SessionID, e skein.Event) error {
	f, err := skein.FactsOf(e)
	if err != nil {
		return err
	}
	for _, b := range f.Blobs {
		if s.blobs[b] {
			continue
		}
		_, err := s.store.Blob(ctx, id, b) // which checks its hash
		if s.isHurt(err, fmt.Sprintf("session %s: blob %s", id, b)) {
			continue
		}
		if err != nil {
			return err
		}
		s.blobs[b] = true
	}
	return nil
}

// file returns the hash of what is known about a source file, which is u's in the
// first store, and its records; nil if the store does not have it, or it was not copied
// because a record is damaged.
func (s *contentDigest) file(ctx context.Context, u skein.User, f skein.SourceFile) ([]byte, error) {
	if s.second {
		u = s.whose(u)
	}
	what := "source file " + f.Path
	if s.second && slices.Contains(s.damaged, what) {
		return nil, nil
	}
	view := s.store.As(u)
	is, err := skein.SourcesOf(view).File(ctx, f.Format, f.Path)
	if errors.Is(err, skein.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !s.second {
		is = s.givenFile(is)
	}
	h, records := sha256.New(), 0
	h.Write(skein.MustJSON(is))
	for r, err := range skein.SourcesOf(view).Records(ctx, f.Format, f.Path, 0) {
		if s.isHurt(err, what) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		records++
		h.Write(skein.MustJSON(r))
	}
	s.Files, s.Records = s.Files+1, s.Records+records
	return s.add(h.Sum(nil)), nil
}

// isHurt reports whether err says that something in the first store is damaged, which
// is noted; or that the second store lacks it for that reason.
func (s *contentDigest) isHurt(err error, what string) bool {
	if s.second {
		return err != nil && slices.Contains(s.damaged, what)
	}
	if errors.Is(err, skein.ErrCorrupt) {
		s.hurt(what)
		return true
	}
	return false
}

// totals returns the sums.
func (s *contentDigest) totals(ctx context.Context) (Totals, error) {
	s.Blobs = len(s.blobs)
	sum := sha256.Sum256(s.sums)
	s.Hash = hex.EncodeToString(sum[:])
	if !s.second {
		s.Tombstones = len(s.stones)
		return s.Totals, nil
	}
	b, ok := skein.PartOf[erase.Tombstones](s.store)
	if !ok {
		return s.Totals, nil
	}
	for t, err := range b.Tombstones(ctx) {
		if err != nil {
			return s.Totals, err
		}
		if s.stones[tombstoneKey{t.User, t.Hash}] { // otherwise the first store never had it
			s.Tombstones++
		}
	}
	return s.Totals, nil
}
