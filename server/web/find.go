package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/search"
)

const (
	maxInside  = 100                   // hits shown at once
	keptInside = 500                   // hits that the pages show in all
	findFor    = 25 * time.Millisecond // for ranking what the index finds; after that, the newest are shown
	lookFor    = 2 * time.Second       // for what the index does not find, and when nothing was found that soon
)

// hitPage is a page of what a search in one session found.
type hitPage struct {
	Words          string // to search for; "" for no search
	Bad            string // error in the words
	Hits           []hit  // of this page, in order
	All            int    // number of hits on all pages
	From, To       int    // the hits on this page, counted from 1
	CutOff         bool   // there may be more
	Earlier, Later string // paths of the previous and the next page; "" if there are none
	Now            int    // the hit that the reader is at, counted from 1; 0 for none
	Prev, Next     string // paths of the hits before and after where the reader is; "" if there are none
}

// findIn searches the session of a page.
func (s sessionPages) findIn(r *http.Request, p *sessionPage) error {
	ctx, f := r.Context(), &p.Found
	if f.Words = strings.TrimSpace(r.URL.Query().Get("find")); f.Words == "" {
		return nil
	}
	past, err := seqOf("past", cmp.Or(r.URL.Query().Get("past"), "0"))
	if err != nil {
		return err
	}
	q, err := search.ParseAt(f.Words, s.Now())
	if errors.Is(err, skein.ErrInvalid) {
		f.Bad = skein.Reason(err)
		return nil
	}
	if err != nil {
		return err
	}
	q.Rewound = q.Rewound || p.Rewound
	q.Session, q.Each, q.Limit, q.Deadline = p.Session.ID, true, keptInside+1, lookFor
	if hasWords(&q) {
		q.Deadline = s.FindFor
	}
	got, err := s.store(ctx).Search(ctx, q)
	if err == nil && got.CutOff && len(got.Hits) == 0 && q.Deadline < lookFor {
		q.Deadline = lookFor
		got, err = s.store(ctx).Search(ctx, q)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(got.Hits, func(a, b skein.Hit) int { return cmp.Compare(a.Seq, b.Seq) })
	hits := got.Hits[:min(len(got.Hits), keptInside)]
	f.CutOff, f.All = got.CutOff || len(hits) < len(got.Hits), len(hits)
	foundPage(p, hits, past)
	return nil
}

// foundPage puts a page of hits into p: those after a seq.
func foundPage(p *sessionPage, hits []skein.Hit, past skein.Seq) {
	f := &p.Found
	link := func(key string, seq skein.Seq) string {
		return p.Link(key, seq) + "&find=" + url.QueryEscape(f.Words)
	}
	begin := sort.Search(len(hits), func(i int) bool { return hits[i].Seq > past })
	end := min(begin+maxInside, len(hits))
	if f.From, f.To = begin+1, end; end < len(hits) {
		f.Later = link("past", hits[end-1].Seq)
	}
	if begin > maxInside {
		f.Earlier = link("past", hits[begin-maxInside-1].Seq)
	} else if begin > 0 {
		f.Earlier = link("past", 0)
	}
	path := func(h *skein.Hit) string {
		to := fmt.Sprintf("%s&past=%d", link("at", h.Seq), past)
		if h.Rewound && !p.Rewound {
			to += "&rewound=1"
		}
		return to + fmt.Sprintf("#m%d", h.Seq)
	}
	for _, h := range hits[begin:end] {
		h.Session = p.Session.ID // in a fork, also for hits in the parent's events
		f.Hits = append(f.Hits, hit{Hit: h, Session: p.Session, Name: p.Title, Pieces: pieces(&h), Path: path(&h)})
	}
	here := sort.Search(len(hits), func(i int) bool { return hits[i].Seq >= p.At })
	if here > 0 {
		f.Prev = path(&hits[here-1])
	}
	if here < len(hits) && hits[here].Seq == p.At {
		here++
		f.Now = here
	}
	if here < len(hits) {
		f.Next = path(&hits[here])
	}
}

// A wanted is a kind of message to jump to.
type wanted string

const (
	wantUser  wanted = "user"
	wantTool  wanted = "tool"
	wantError wanted = "error"
)

// next redirects to the next message of a kind, or to the previous one.
func (s sessionPages) next(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	what := wanted(q.Get("what"))
	from, err := seqOf("from", cmp.Or(q.Get("from"), "0"))
	if err == nil && what != wantUser && what != wantTool && what != wantError {
		err = fmt.Errorf("what=%q: %w: want user, tool or error", what, skein.ErrInvalid)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	store := transcript.Legible(door.From(r.Context()).Store)
	messages := following(r.Context(), store, one.ID, from)
	if q.Has("back") {
		messages = preceding(r.Context(), store, one.ID, from)
	}
	if !q.Has("rewound") {
		messages = render.Live(messages)
	}
	t := transcript.PageView{Session: one, Raw: q.Has("raw"), Rewound: q.Has("rewound")}
	for m, err := range messages {
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if what.is(&m.Message) {
			http.Redirect(w, r, t.Link("at", m.Seq)+fmt.Sprint("#m", m.Seq), http.StatusSeeOther)
			return
		}
	}
	back(w, r, t.Link("at", max(from, 1))+fmt.Sprint("#m", from), map[wanted]string{
		wantUser: "There is no other user message.", wantTool: "There is no other tool call.", wantError: "There is no other error.",
	}[what])
}

// is reports whether m is of kind k.
func (k wanted) is(m *skein.Message) bool {
	if k == wantUser {
		return m.Typed()
	}
	if k == wantError && m.Error != nil {
		return true
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if k == wantTool && p.Call != nil || k == wantError && p.Result != nil && p.Result.Failed {
			return true
		}
	}
	return false
}

// following yields the messages after a seq.
func following(ctx context.Context, store skein.Store, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		read := transcript.Windows{Store: store, Session: id, Size: transcript.MaxWindow, Rewound: true}
		share := room.Of(ctx)
		for was := share.Used(); ; share.Give(share.Used() - was) {
			found, err := read.MessagesFrom(ctx, after)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found.Entries {
				if !yield(e, nil) {
					return
				}
			}
			if after = found.After; after == 0 {
				return
			}
		}
	}
}

// preceding yields the messages before a seq, the nearest first.
func preceding(ctx context.Context, store skein.Store, id skein.SessionID, before skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		share := room.Of(ctx)
		for was := share.Used(); before > 1; share.Give(share.Used() - was) {
			found, err := store.Newest(ctx, id, transcript.MaxWindow, before)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for i := len(found) - 1; i >= 0; i-- {
				if !yield(found[i], nil) {
					return
				}
			}
			if len(found) == 0 {
				return
			}
			before = found[0].Seq
		}
	}
}
