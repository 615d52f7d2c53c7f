package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

const (
	maxInside  = 100                   // hits shown at once
	keptInside = 500                   // hits that the pages show in all
	findFor    = 25 * time.Millisecond // for ranking what the index finds; after that, the newest are shown
	lookFor    = 2 * time.Second       // for what the index does not find, and when nothing was found that soon
)

// found is a page of what a search in one session found.
type found struct {
	Words          string // to search for; "" for no search
	Bad            string // error in the words
	Hits           []hit  // of this page, in order
	All            int    // number of hits on all pages
	From, To       int    // the hits on this page, counted from 1
	CutOff         bool   // there may be more
	Earlier, Later string // paths of the previous and the next page; "" if there are none
}

// findIn searches the session of a page.
func (s *site) findIn(r *http.Request, p *sessionPage) error {
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
		f.Bad = err.Error()
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
	got, err := s.told(ctx).Search(ctx, q)
	if err == nil && got.CutOff && len(got.Hits) == 0 && q.Deadline < lookFor {
		q.Deadline = lookFor
		got, err = s.told(ctx).Search(ctx, q)
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
	for _, h := range hits[begin:end] {
		h.Session = p.Session.ID // in a fork, also for hits in the parent's events
		to := fmt.Sprintf("%s&past=%d", link("at", h.Seq), past)
		if h.Rewound && !p.Rewound {
			to += "&rewound=1"
		}
		to += fmt.Sprintf("#m%d", h.Seq)
		f.Hits = append(f.Hits, hit{Hit: h, Session: p.Session, Name: p.Title, Pieces: pieces(&h), Path: to})
	}
}
