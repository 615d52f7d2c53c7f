package sqlite

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A tx is the transaction in which a job runs. If the job fails, its changes
// are undone, but not those of other jobs.
type tx struct {
	*engine.Conn
	now     skein.Time // when the transaction began
	pack    *pack.Packer
	heads   *heads
	changed []skein.SessionID
	after   []func() // run when the job's changes are committed
	undo    []func() // run when they are not, newest first
}

// runJob runs j. err is j's own error; a fatal error undoes the whole transaction.
func (t *tx) runJob(j *job, alone bool) (err, fatal error) {
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
func (t *tx) rolledBack(error) {
	t.heads.clear()
	t.runUndo(0)
}

func (t *tx) runUndo(from int) {
	for i := len(t.undo) - 1; i >= from; i-- {
		t.undo[i]()
	}
	t.undo = t.undo[:from]
}
