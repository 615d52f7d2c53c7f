package postgres

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/hits"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// The search index, the table found, is built after an append, not in it: that
// would make the append many times as expensive. It is built from the journal:
// indexAfter after this process's last append; at close; before a search; when
// indexRows events wait, if appends go on without a pause; and every indexLook, for
// what a process that died left. One process builds at a time, in short steps.
const (
	indexRows  = 4000
	indexAfter = 200 * time.Millisecond
	indexFirst = time.Second
	indexLook  = 5 * time.Second
	indexClose = 2 * time.Second
	indexAgain = 20 * time.Millisecond

	feedRows  = 500       // at most, in one step
	feedBytes = 512 << 10 // of payload

	// sortMemory is work_mem for the step in which the server merges the pending list
	// into the GIN index of words. With less memory, it merges piece by piece, and
	// rewrites the posting lists of common words for each piece.
	sortMemory = "64MB"

	// indexLockClass and indexLockKey are the advisory lock for changing found.
	indexLockClass = 0x736b6569
	indexLockKey   = 2
)

// lockIndex waits for an indexing step under way and keeps out others until the
// transaction ends. A transaction that changes or deletes events, or rows of found,
// must take this lock first: otherwise a step that has read the old events would
// write their text back.
func (t *tx) lockIndex() error {
	_, err := t.Exec(`SELECT pg_advisory_xact_lock($1::int, $2::int)`, indexLockClass, indexLockKey)
	return err
}

// An indexer builds the search index in the background. An append only counts its
// events, and wakes the indexer if it is asleep.
type indexer struct {
	all      *view
	waiting  atomic.Int64 // roughly, the events stored by this process and not yet indexed
	last     atomic.Int64 // when the last was stored, nanoseconds since 1970
	awake    atomic.Bool  // it has a timer for new events
	wake     chan struct{}
	done     chan struct{}
	catching sync.WaitGroup

	stepping sync.Mutex // held during a step
	lexer    lexemes.Lexer
}

func newIndexer(c *core) *indexer {
	return &indexer{all: &view{core: c}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// add notes that n events were stored. It never blocks.
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

// feed indexes until nothing waits, or, while appends go on, until fewer than
// indexRows events wait. It returns how long to wait before the next call.
func (x *indexer) feed() time.Duration {
	for {
		s, err := x.step(x.all.life)
		x.waiting.Store(max(0, x.waiting.Load()-int64(s.fed)))
		switch {
		case err != nil:
			return indexAfter // the index is only late; nothing is lost
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

// finish indexes what waits, if this process has stored something, for at most
// indexClose: other processes continue. It may have to wait for older transactions,
// or for a canceled step of its own that the server has not ended yet.
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

// A stride is what an indexing step did.
type stride struct {
	fed     int
	more    bool // more can be indexed now
	waiting bool // more can be indexed soon
	busy    bool // another process is indexing
}

// step indexes the next events. The rows and the watermark are committed together.
func (x *indexer) step(ctx context.Context) (s stride, err error) {
	x.stepping.Lock()
	defer x.stepping.Unlock()
	s, err = x.try(ctx, feedRows, x.row)
	if bad := sqlstate.Of(err); strings.HasPrefix(bad, "22") || strings.HasPrefix(bad, "54") {
		// The server refuses one of the events. It must not block the others.
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
		p.One(nil, `SELECT pg_try_advisory_xact_lock($1::int, $2::int)`, []any{indexLockClass, indexLockKey}, &mine)
		p.mark(&at)
		if err := p.Run(); err != nil || !mine {
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
		p.Exec(`SELECT set_config('work_mem', $1, true)`, sortMemory)
		p.putFound(page, row)
		p.Exec(`UPDATE indexed SET xid = $1, ordinal = $2, seq = $3`, end.xid, end.ordinal, end.seq)
		return p.Run()
	})
	return s, err
}

// mark adds the query for the watermark: the position up to which events are indexed.
func (p *pipe) mark(at *position) {
	p.One(nil, `SELECT xid, ordinal, seq FROM indexed`, nil, &at.xid, &at.ordinal, &at.seq)
}

// A foundRow is the part of a row of found that is made from an event's text.
type foundRow struct {
	role        skein.Role
	failed, odd bool
	text        string
	words       pgtype.TSVector
	edits       []int32
}

// row returns the row for an event; ok is false if there is nothing to find in it.
func (x *indexer) row(e *journaled) (r foundRow, ok bool) {
	f, ok := hits.TextOf(e.Event, e.aimed)
	if !ok {
		return r, false
	}
	return foundRow{role: f.Role, failed: f.Failed, odd: lexemes.IsOdd(f.Text), text: f.Text, words: x.lexer.Vector(f.Text), edits: hits.EditsOf(&f)}, true
}

// bare returns a row for an event without its words, which every search has to check.
func (x *indexer) bare(e *journaled) (r foundRow, ok bool) {
	f, ok := hits.TextOf(e.Event, e.aimed)
	return foundRow{role: f.Role, failed: f.Failed, odd: true, text: f.Text, words: lexemes.Bare(), edits: hits.EditsOf(&f)}, ok
}

// putFound adds the rows of events to the index.
func (p *pipe) putFound(page []journaled, row func(*journaled) (foundRow, bool)) {
	var users, roles, texts []string
	var words []pgtype.TSVector
	var sessions, seqs, ats []int64
	var amends []*int64
	var failed, odd []bool
	var edits []*string
	for i := range page {
		e := &page[i]
		if !e.kept {
			continue
		}
		r, ok := row(e)
		if !ok {
			continue
		}
		users, roles, texts, words = append(users, e.user), append(roles, columns.Plain(string(r.role))), append(texts, r.text), append(words, r.words)
		sessions, seqs, ats, amends = append(sessions, e.session), append(seqs, int64(e.Seq)), append(ats, int64(e.Time)), append(amends, e.amends)
		failed, odd, edits = append(failed, r.failed), append(odd, r.odd), append(edits, arrayOf(r.edits))
	}
	if len(users) == 0 {
		return
	}
	p.Exec(`INSERT INTO found (user_id, n, seq, at, amends, role, failed, odd, text, words, edits)
		SELECT w.user_id, w.n, w.seq, w.at, w.amends, w.role, w.failed, w.odd, w.text, w.words, w.edits::integer[]
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[], $8::boolean[], $9::text[], $10::tsvector[], $11::text[])
			w (user_id, n, seq, at, amends, role, failed, odd, text, words, edits)
		ON CONFLICT (user_id, n, seq) DO UPDATE SET at = excluded.at, amends = excluded.amends, role = excluded.role, failed = excluded.failed,
			odd = excluded.odd, text = excluded.text, words = excluded.words, edits = excluded.edits`,
		users, sessions, seqs, ats, amends, roles, failed, odd, texts, words, edits)
}

// arrayOf returns numbers as the text of an array of PostgreSQL; nil if there are none.
func arrayOf(numbers []int32) *string {
	if len(numbers) == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	text := string(append(b, '}'))
	return &text
}

// reindex rebuilds the rows of found for events of session number n that were changed
// in this transaction, which holds the index lock.
func (t *tx) reindex(user skein.User, n int64, seqs []skein.Seq) error {
	at := make([]int64, 0, len(seqs))
	rows := make([]journalRow, 0, len(seqs))
	for _, seq := range seqs {
		at = append(at, int64(seq))
		rows = append(rows, journalRow{user: string(user), session: n, from: seq - 1, to: seq})
	}
	if _, err := t.Exec(`DELETE FROM found WHERE user_id = $1 AND n = $2 AND seq = ANY ($3)`, string(user), n, at); err != nil {
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
		if err := p.Run(); err != nil {
			return err
		}
		last := page[len(page)-1].Seq
		for len(rows) > 0 && rows[0].from < last {
			rows = rows[1:]
		}
	}
	return nil
}

var _ inspect.IndexLag = (*Store)(nil)

// countUpTo is the most appends that Lag counts.
const countUpTo = 10_000

// Lag implements [inspect.IndexLag].
func (s inspection) Lag(ctx context.Context) (l inspect.Lag, err error) {
	defer skein.Wrapf(&err, "postgres: lag of the index")
	all := &view{core: s.core}
	var since *time.Time
	err = all.ask(ctx, `SELECT coalesce(sum(w.events), 0), min(w.stored) FROM (
			SELECT j.upto - CASE WHEN (j.xid, j.ordinal) = ((SELECT xid FROM indexed), (SELECT ordinal FROM indexed)) THEN greatest(j.after, (SELECT seq FROM indexed)) ELSE j.after END AS events, j.stored
			FROM journal j WHERE `+hits.Waiting+` ORDER BY j.xid, j.ordinal LIMIT `+strconv.Itoa(countUpTo)+`) w`, nil, func(r wire.Row) error {
		return r.Scan(&l.Events, &since)
	})
	if l.Events > 0 && since != nil {
		l.Since = skein.At(*since)
	}
	return l, err
}
