package postgres

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// The search index, found, is fed after the append, not in it: that would make
// the append many times dearer. It is fed from the journal, indexAfter after
// this process's last append, at close, before a search, while appends go on
// without a pause when indexRows events wait, and every indexLook for what a
// process left that died. One process does so at a time, in short steps.
const (
	indexRows  = 4000
	indexAfter = 200 * time.Millisecond
	indexFirst = time.Second
	indexLook  = 5 * time.Second
	indexClose = 2 * time.Second
	indexAgain = 20 * time.Millisecond

	feedRows  = 500       // at most, in one step
	feedBytes = 512 << 10 // of payload

	// sortMemory is for the step in which the server sorts into the index of words what
	// waits for that. With less it does so piece by piece, and writes the places of the
	// usual words anew for each.
	sortMemory = "64MB"

	// indexLockClass and indexLockKey are the advisory lock of who changes found.
	indexLockClass = 0x736b6569
	indexLockKey   = 2
)

// lockIndex keeps steps of the index away until the transaction ends, after it
// has waited for the one under way. Who changes or deletes events, or rows of
// found, takes it first in that transaction: else a step that has read them
// brings back what they said.
func (t *tx) lockIndex() error {
	_, err := t.exec(`SELECT pg_advisory_xact_lock($1::int, $2::int)`, indexLockClass, indexLockKey)
	return err
}

// An indexer feeds the index in the background. An append only counts, and
// wakes it where it sleeps.
type indexer struct {
	all      *Store
	waiting  atomic.Int64 // events stored here that it has not set about, roughly
	last     atomic.Int64 // when that was last, nanoseconds since 1970
	awake    atomic.Bool  // it watches the clock
	wake     chan struct{}
	done     chan struct{}
	catching sync.WaitGroup

	stepping sync.Mutex // held in a step
	lexer    lexer
}

func newIndexer(c *core) *indexer {
	return &indexer{all: &Store{core: c}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// add says that n events were stored. It never waits.
func (x *indexer) add(n int) {
	x.last.Store(time.Now().UnixNano())
	if x.waiting.Add(int64(n)) < indexRows && !x.awake.CompareAndSwap(false, true) {
		return
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

func (x *indexer) loop() {
	defer close(x.done)
	timer := time.NewTimer(indexFirst)
	defer timer.Stop()
	for {
		select {
		case <-x.all.life.Done():
			return
		case <-x.wake:
			if x.waiting.Load() < indexRows {
				timer.Reset(indexAfter)
				continue
			}
		case <-timer.C:
			if pause := time.Since(time.Unix(0, x.last.Load())); pause < indexAfter {
				timer.Reset(indexAfter - pause)
				continue
			}
		}
		timer.Reset(x.feed())
	}
}

// feed feeds until nothing waits, or while there are many others to be written,
// for one step. It returns when to do so again.
func (x *indexer) feed() time.Duration {
	for {
		s, err := x.step(x.all.life)
		x.waiting.Store(max(0, x.waiting.Load()-int64(s.fed)))
		switch {
		case err != nil:
			return indexAfter // it is only late, nothing is lost
		case s.more && time.Since(time.Unix(0, x.last.Load())) < indexAfter && x.waiting.Load() < indexRows:
			return indexAfter
		case s.more:
			continue
		case s.busy, s.waiting:
			return indexAfter
		}
		x.waiting.Store(0)
		x.awake.Store(false)
		return indexLook
	}
}

// finish feeds what waits, if this process has stored something, but not for
// long: others go on with it. It may have to wait for older transactions, or for
// a step of its own that was broken off and that the server has yet to end.
func (x *indexer) finish() {
	x.catching.Wait()
	if x.last.Load() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), indexClose)
	defer cancel()
	tick := time.NewTicker(indexAgain)
	defer tick.Stop()
	for {
		s, err := x.step(ctx)
		switch {
		case err != nil, !s.more && !s.waiting && !s.busy:
			return
		case s.more:
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// A stride is what a step of the index did.
type stride struct {
	fed     int
	more    bool // there is more to do now
	waiting bool // there is more to do in a moment
	busy    bool // another process does it
}

// step indexes the next events. Index and mark are committed together.
func (x *indexer) step(ctx context.Context) (s stride, err error) {
	x.stepping.Lock()
	defer x.stepping.Unlock()
	s, err = x.try(ctx, feedRows, x.row)
	if bad := code(err); strings.HasPrefix(bad, "22") || strings.HasPrefix(bad, "54") {
		// One of them is not as the server would have it. It shall not stop the others.
		s, err = x.try(ctx, 1, x.bare)
	}
	return s, err
}

func (x *indexer) try(ctx context.Context, most int, row func(*journaled) (foundRow, bool)) (s stride, err error) {
	err = x.all.tryWrite(ctx, func(t *tx) error {
		s = stride{}
		var at position
		mine := false
		p := t.pipe()
		p.one(nil, `SELECT pg_try_advisory_xact_lock($1::int, $2::int)`, []any{indexLockClass, indexLockKey}, &mine)
		p.mark(&at)
		if err := p.run(); err != nil || !mine {
			s.busy = true
			return err
		}
		rows, end, waiting, _, err := t.journal(bookmark{position: at}, journalRows)
		if s.waiting = waiting; err != nil || len(rows) == 0 {
			return err
		}
		page, all, err := t.eventsOf(rows, most, feedBytes)
		if err != nil {
			return err
		}
		s.fed, s.more = len(page), !all || len(rows) == journalRows
		if !all && len(page) > 0 {
			end = page[len(page)-1].position
		} else if !all {
			end = through(rows, most)
		}
		p = t.pipe()
		p.exec(`SELECT set_config('work_mem', $1, true)`, sortMemory)
		p.putFound(page, row)
		p.exec(`UPDATE indexed SET xid = $1, ordinal = $2, seq = $3`, end.xid, end.ordinal, end.seq)
		return p.run()
	})
	return s, err
}

// mark adds a look for the spot up to which the index was fed.
func (p *pipe) mark(at *position) {
	p.one(nil, `SELECT xid, ordinal, seq FROM indexed`, nil, &at.xid, &at.ordinal, &at.seq)
}

// A foundRow is what a row of found has of an event's text.
type foundRow struct {
	role        skein.Role
	failed, odd bool
	text, words string
}

// row returns the row for an event, and false if there is nothing to find.
func (x *indexer) row(e *journaled) (r foundRow, ok bool) {
	f, ok := textOf(e.Event, e.aimed)
	if !ok {
		return r, false
	}
	return foundRow{role: f.Role, failed: f.Failed, odd: isOdd(f.Text), text: f.Text, words: x.lexer.tsvector(f.Text)}, true
}

// bare returns a row that has to be looked at by every search.
func (x *indexer) bare(e *journaled) (r foundRow, ok bool) {
	f, ok := textOf(e.Event, e.aimed)
	return foundRow{role: f.Role, failed: f.Failed, odd: true, text: f.Text, words: quote(hugeMark)}, ok
}

// textOf returns the facts of what search finds in an event: of an amended one,
// which is about one of the kind aimed, those of what stands there now. Their
// text is as a text column has it. It is false if there is nothing.
func textOf(e skein.Event, aimed skein.Kind) (f skein.Facts, ok bool) {
	f, err := skein.FactsOf(e)
	if err != nil {
		return f, false
	}
	now, err := ledger.Now(&f, ledger.Target{Kind: aimed})
	if err != nil {
		return f, false
	}
	f = *now
	f.Text = plain(f.Text)
	return f, f.Text != "" || f.Failed
}

// isOdd reports whether the words of text cannot tell that a piece is not in it:
// it has one of the two characters beyond ASCII that are the same as one of ASCII,
// K and S, if the case is ignored.
func isOdd(text string) bool { return strings.ContainsAny(text, "\u212a\u017f") }

// putFound adds the rows of events to the index.
func (p *pipe) putFound(page []journaled, row func(*journaled) (foundRow, bool)) {
	var users, roles, texts, words []string
	var sessions, seqs, ats []int64
	var amends []*int64
	var failed, odd []bool
	for i := range page {
		e := &page[i]
		if !e.kept {
			continue
		}
		r, ok := row(e)
		if !ok {
			continue
		}
		users, roles, texts, words = append(users, e.user), append(roles, plain(string(r.role))), append(texts, r.text), append(words, r.words)
		sessions, seqs, ats, amends = append(sessions, e.session), append(seqs, int64(e.Seq)), append(ats, int64(e.Time)), append(amends, e.amends)
		failed, odd = append(failed, r.failed), append(odd, r.odd)
	}
	if len(users) == 0 {
		return
	}
	p.exec(`INSERT INTO found (user_id, n, seq, at, amends, role, failed, odd, text, words)
		SELECT w.user_id, w.n, w.seq, w.at, w.amends, w.role, w.failed, w.odd, w.text, w.words::tsvector
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[], $8::boolean[], $9::text[], $10::text[])
			w (user_id, n, seq, at, amends, role, failed, odd, text, words)
		ON CONFLICT (user_id, n, seq) DO UPDATE SET at = excluded.at, amends = excluded.amends, role = excluded.role, failed = excluded.failed,
			odd = excluded.odd, text = excluded.text, words = excluded.words`,
		users, sessions, seqs, ats, amends, roles, failed, odd, texts, words)
}

// reindex makes the rows of found anew for events of a session number that were
// changed in this transaction, which has the lock.
func (t *tx) reindex(user skein.User, n int64, seqs []skein.Seq) error {
	at := make([]int64, 0, len(seqs))
	rows := make([]journalRow, 0, len(seqs))
	for _, seq := range seqs {
		at = append(at, int64(seq))
		rows = append(rows, journalRow{user: string(user), session: n, from: seq - 1, to: seq})
	}
	if _, err := t.exec(`DELETE FROM found WHERE user_id = $1 AND n = $2 AND seq = ANY ($3)`, string(user), n, at); err != nil {
		return err
	}
	var x indexer
	for len(rows) > 0 {
		page, _, err := t.eventsOf(rows, feedRows, feedBytes)
		if err != nil || len(page) == 0 {
			return err
		}
		p := t.pipe()
		p.putFound(page, x.row)
		if err := p.run(); err != nil {
			return err
		}
		last := page[len(page)-1].Seq
		for len(rows) > 0 && rows[0].from < last {
			rows = rows[1:]
		}
	}
	return nil
}

// catchUp feeds the index until nothing of the view's waits, but no longer than
// most; what is left the search scans. Whether that went well is not the
// reader's business.
func (s *Store) catchUp(ctx context.Context, most time.Duration) {
	if !s.behind(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan struct{})
	s.index.catching.Go(func() {
		defer close(done)
		for ctx.Err() == nil {
			st, err := s.index.step(s.life)
			if err != nil || !st.more && !st.busy {
				return
			}
			if st.busy && (!s.rest(ctx, nil, 10*time.Millisecond) || !s.behind(ctx)) {
				return
			}
		}
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// behind reports whether events of the view wait for the index that it can be
// fed with.
func (s *Store) behind(ctx context.Context) (is bool) {
	err := s.with(ctx, "", func(q *conn) error {
		mine, args := q.mine(nil)
		_, err := q.one(`SELECT `+behindMark+` FROM journal j WHERE j.xid < `+journalEdge+mine+` ORDER BY j.xid DESC, j.ordinal DESC LIMIT 1`, args, &is)
		return err
	})
	return is && err == nil
}

// behindMark says of rows of the journal j that not all of them is indexed.
const behindMark = `(j.xid, j.ordinal) >= ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed))
	AND ((j.xid, j.ordinal) > ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed)) OR j.upto > (SELECT seq FROM indexed))`
