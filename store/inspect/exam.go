package inspect

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/skein-dev/skein"
)

// An Exam is one call of [Examiner.Examine]. It is one goroutine's.
type Exam struct {
	ctx     context.Context //nolint:containedctx // it ends with the examination, which is one call
	repair  bool
	yield   func(Finding, error) bool
	stopped bool  // the caller wants no more
	failed  error // why it could not go on
	bad     int   // findings that are not fine in this area
}

// Run yields what areas finds, which calls [Exam.Area] for each. An error ends
// what is yielded, under the name what.
func Run(ctx context.Context, x Examination, what string, areas func(*Exam)) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		ex := &Exam{ctx: ctx, repair: x.Repair, yield: yield}
		areas(ex)
		err := ex.failed
		skein.Wrapf(&err, "%s", what)
		if err != nil && !ex.stopped {
			yield(Finding{}, err)
		}
	}
}

// Area lets look look at an area, unless the caller wants no more. Its error is
// damage of that area; only the end of the context ends all.
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

// Over reports whether nothing more is to be looked at.
func (ex *Exam) Over() bool { return ex.stopped || ex.failed != nil }

// Find tells of a finding.
func (ex *Exam) Find(f Finding) {
	if f.Level != Fine {
		ex.bad++
	}
	if !ex.stopped && !ex.yield(f, nil) {
		ex.stopped = true
	}
}

// Fine says that an area is whole, unless something else was said of it.
func (ex *Exam) Fine(area, format string, args ...any) {
	if ex.bad == 0 {
		ex.Find(Finding{Area: area, Level: Fine, Text: fmt.Sprintf(format, args...)})
	}
}

// Damage tells of damage; id is "" where it is no one session's.
func (ex *Exam) Damage(area string, id skein.SessionID, text string) {
	ex.Find(Finding{Area: area, Level: Damaged, Session: id, Text: text})
}

// Mend says what is wrong and, if asked to repair, does fix. The error is that
// of fix.
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

// Leases looks which of sessions are in use. The error is what they yield.
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

// Waits says in words what an index does not have yet.
func Waits(l Lag, now time.Time) string {
	if l.Events == 0 {
		return "0 events wait for it"
	}
	age := max(0, now.Sub(l.Since.Std())).Round(time.Second)
	return fmt.Sprintf("%d events wait for it, for %v", l.Events, age)
}
