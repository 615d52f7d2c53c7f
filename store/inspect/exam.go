package inspect

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

// An Exam is one call of [Examiner.Examine]. It is used by one goroutine.
type Exam struct {
	ctx     context.Context //nolint:containedctx // it ends with the examination, which is one call
	repair  bool
	quick   bool
	yield   func(Finding, error) bool
	stopped bool  // the caller wants no more
	failed  error // why it could not continue
	bad     int   // findings in this area that are not Fine
}

// Run yields the findings of areas, which calls [Exam.Area] for each area. If an
// error ends the examination, it comes last, prefixed with what.
func Run(ctx context.Context, x Examination, what string, areas func(*Exam)) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		ex := &Exam{ctx: ctx, repair: x.Repair, quick: x.Quick, yield: yield}
		areas(ex)
		err := ex.failed
		skein.Wrapf(&err, "%s", what)
		if err != nil && !ex.stopped {
			yield(Finding{}, err)
		}
	}
}

// Area calls look for an area, unless the examination is over. An error of look is
// damage of that area; only the end of the context ends the examination.
func (ex *Exam) Area(name string, look func(area string) error) {
	if ex.Over() {
		return
	}
	ex.bad = 0
	err := look(name)
	if ex.stopped {
		return
	}
	if ex.failed = ex.ctx.Err(); ex.failed == nil && err != nil {
		ex.Damage(name, "", "cannot be read: "+err.Error())
	}
}

// Whole is [Exam.Area] for an area that reads everything of its kind: a quick
// examination leaves it out.
func (ex *Exam) Whole(name string, look func(area string) error) {
	if !ex.quick {
		ex.Area(name, look)
	}
}

// Quick is [Exam.Area] for what only a quick examination looks at, in place of the whole.
func (ex *Exam) Quick(name string, look func(area string) error) {
	if ex.quick {
		ex.Area(name, look)
	}
}

// Over reports whether the examination is over.
func (ex *Exam) Over() bool { return ex.stopped || ex.failed != nil }

// Find yields a finding.
func (ex *Exam) Find(f Finding) {
	if f.Level != Fine {
		ex.bad++
	}
	if !ex.stopped && !ex.yield(f, nil) {
		ex.stopped = true
	}
}

// Fine yields that an area is undamaged, unless something else was found in it.
func (ex *Exam) Fine(area, format string, args ...any) {
	if ex.bad == 0 {
		ex.Find(Finding{Area: area, Level: Fine, Text: fmt.Sprintf(format, args...)})
	}
}

// Damage yields damage; id is "" if it does not belong to one session.
func (ex *Exam) Damage(area string, id skein.SessionID, text string) {
	ex.Find(Finding{Area: area, Level: Damaged, Session: id, Text: text})
}

// Mend yields what is wrong and, if it was asked to repair, calls fix. The error is
// that of fix.
func (ex *Exam) Mend(f Finding, fix func() error) error {
	f.Mendable = true
	if ex.repair {
		if err := fix(); err != nil {
			return err
		}
		f.Mended = true
	}
	ex.Find(f)
	return nil
}

// Altered yields that what lists say of a session is not what was stored. fix writes
// what its events say; it is not called if some of these are damaged too. The error is
// that of fix.
func (ex *Exam) Altered(area string, s *skein.Session, fix func() error) error {
	const text = "its row (its title, for example) was altered"
	if s.Damaged {
		ex.Damage(area, s.ID, text+", and some of its events are damaged too")
		return nil
	}
	return ex.Mend(Finding{Area: area, Level: Damaged, Session: s.ID, Text: text + "; it can be restored from its events"}, fix)
}

// Event yields damage if an event of a session could not be read, for the reason err, or
// says nothing that is valid.
func (ex *Exam) Event(area string, id skein.SessionID, e skein.Event, err error) {
	if err == nil {
		_, err = skein.FactsOf(e)
		skein.Wrapf(&err, "event %d", e.Seq)
	}
	if err != nil {
		ex.Damage(area, id, err.Error())
	}
}

// Rows are the rows of a session's own events.
type Rows struct{ Count, First, Last int64 }

// Seqs yields damage if rows are not one for each seq after base, up to last.
func (ex *Exam) Seqs(area string, id skein.SessionID, rows Rows, base, last int64) {
	if rows.Count != last-base || rows.Count > 0 && (rows.First != base+1 || rows.Last != last) {
		ex.Damage(area, id, fmt.Sprintf("%d events from %d to %d, want %d to %d without gaps", rows.Count, rows.First, rows.Last, base+1, last))
	}
}

// Blob yields damage if the blob h could not be read, for the reason err.
func (ex *Exam) Blob(area string, h skein.Hash, err error) {
	if err != nil {
		ex.Damage(area, "", fmt.Sprintf("blob %s: %v", h, err))
	}
}

// Refs yields how many references name a missing blob, and how many blobs nothing
// refers to, which drop deletes. The error is that of drop.
func (ex *Exam) Refs(area string, missing, orphans int64, drop func() error) error {
	if missing > 0 {
		ex.Find(Finding{Area: area, Level: Warning, Text: Count(missing, "reference") + " to missing blobs"})
	}
	if orphans == 0 {
		return nil
	}
	return ex.Mend(Finding{Area: area, Level: Warning, Text: Count(orphans, "blob") + " that nothing refers to"}, drop)
}

// Lag yields how many events wait to be indexed. The error is that of l.
func (ex *Exam) Lag(area string, l IndexLag, now time.Time) error {
	lag, err := l.Lag(ex.ctx)
	ex.Fine(area, "%s", Waits(lag, now))
	return err
}

// Leases yields which of sessions are in use. The error is what sessions yields.
func (ex *Exam) Leases(area string, sessions iter.Seq2[skein.Session, error]) error {
	held := 0
	for sess, err := range sessions {
		if err != nil {
			return err
		}
		if sess.LockedBy != "" {
			held++
			ex.Find(Finding{Area: area, Level: Fine, Session: sess.ID, Text: "in use by " + sess.LockedBy})
		}
	}
	if held == 0 {
		ex.Fine(area, "no session is in use")
	}
	return nil
}

// Count returns n and the noun: 1 blob, 2 blobs.
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Waits describes in words what an index does not have yet.
func Waits(l Lag, now time.Time) string {
	if l.Events == 0 {
		return "no events wait to be indexed"
	}
	age := max(0, now.Sub(l.Since.Std())).Round(time.Second)
	return fmt.Sprintf("%d events wait to be indexed, the oldest for %v", l.Events, age)
}
