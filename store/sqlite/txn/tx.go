package txn

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A Tx is the transaction in which a job runs. If the job fails, its changes
// are undone, but not those of other jobs.
type Tx struct {
	*engine.Conn
	Now     skein.Time // when the transaction began
	pack    *pack.Packer
	heads   *heads
	changed []skein.SessionID
	after   []func() // run when the job's changes are committed
	undo    []func() // run when they are not, newest first
}

// Touch reports that the job changed a session, whose watchers are woken.
func (t *Tx) Touch(id skein.SessionID) { t.changed = append(t.changed, id) }

// OnCommit calls f once the job's changes are committed.
func (t *Tx) OnCommit(f func()) { t.after = append(t.after, f) }

// OnRollback calls f if the job's changes are undone, the newest f first.
func (t *Tx) OnRollback(f func()) { t.undo = append(t.undo, f) }

// Forget makes the transaction read the rows of sessions again: a trigger, or a
// statement that is not one of [Tx.PutHead], changes them.
func (t *Tx) Forget() { t.heads.clear() }

// runJob runs j. err is j's own error; a fatal error undoes the whole transaction.
func (t *Tx) runJob(j *job, alone bool) (err, fatal error) {
	if err := j.ctx.Err(); err != nil {
		return err, nil
	}
	if alone {
		return j.run(t), nil
	}
	if _, _, err := t.Exec("SAVEPOINT job"); err != nil {
		return nil, err
	}
	changed, after, undo := len(t.changed), len(t.after), len(t.undo)
	if err := j.run(t); err != nil {
		if _, _, rerr := t.Exec("ROLLBACK TO job"); rerr != nil {
			return nil, fmt.Errorf("%w (then %w)", err, rerr)
		}
		t.heads.drop()
		t.runUndo(undo)
		t.changed, t.after = t.changed[:changed], t.after[:after]
		if _, _, rerr := t.Exec("RELEASE job"); rerr != nil {
			return nil, rerr
		}
		return engine.Classify(err), nil
	}
	t.heads.hold()
	_, _, err = t.Exec("RELEASE job")
	return nil, err
}

// rolledBack undoes in memory what the rollback undid on disk.
func (t *Tx) rolledBack(error) {
	t.heads.clear()
	t.runUndo(0)
}

func (t *Tx) runUndo(from int) {
	for i := len(t.undo) - 1; i >= from; i-- {
		t.undo[i]()
	}
	t.undo = t.undo[:from]
}

// NextID returns the ID of the next event. It is greater than the indexes'
// watermarks, so that a new event never counts as indexed, and greater than any
// deleted ID: all that AUTOINCREMENT would give, without writing a page for it. The error
// is the driver's.
func (t *Tx) NextID() (int64, error) {
	if t.heads.lastID == 0 {
		if _, err := t.One(`SELECT max((SELECT coalesce(max(id), 0) FROM events), i.upto, i.gone, d.upto) FROM indexed i, edits_fed d`, nil, &t.heads.lastID); err != nil {
			return 0, err
		}
	}
	t.heads.lastID++
	return t.heads.lastID, nil
}
