package sqlite

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A leaseRow is a row of leases.
type leaseRow struct {
	epoch   skein.Fence
	held    bool
	expires skein.Time // 0: held by a process through a lock
	holder  holderJSON
}

// holderJSON is leases.holder: who holds the lease, and what distinguishes the
// process from another with the same number.
type holderJSON struct {
	skein.Holder
	Started string `json:"started,omitempty"` // when the process was started, in its system's form
	Boot    string `json:"boot,omitempty"`    // ID of the boot that it runs in
}

const selectLease = `SELECT epoch, held, expires, holder FROM leases WHERE session = ?`

// leaseOf returns the row of a session's newest lease; its epoch is 0 if there
// was none.
func leaseOf(c *engine.Conn, id skein.SessionID) (l leaseRow, err error) {
	var epoch, held, expires int64
	var holder string
	found, err := c.One(selectLease, []any{string(id)}, &epoch, &held, &expires, &holder)
	if err != nil || !found {
		return l, err
	}
	l.epoch, l.held, l.expires = skein.Fence(epoch), held != 0, skein.Time(expires)
	if err := json.Unmarshal([]byte(holder), &l.holder); err != nil {
		return l, fmt.Errorf("lease of %s: holder %q: %w", id, holder, skein.ErrCorrupt)
	}
	return l, nil
}

// holds reports whether the lease is held now.
func (s *core) holds(id skein.SessionID, l leaseRow) (bool, error) {
	switch {
	case !l.held:
		return false, nil
	case l.expires != 0:
		return l.expires > skein.At(s.clock()), nil
	}
	return s.locks.Alive(id, l.epoch)
}

// nextFence returns the number that follows the session's last one and those of
// all deleted sessions, which may have had the same ID.
func nextFence(t *txn.Tx, last skein.Fence) (skein.Fence, error) {
	var floor int64
	_, err := t.One(`SELECT floor FROM fences`, nil, &floor)
	return max(last, skein.Fence(floor)) + 1, err
}

func putLease(t *txn.Tx, id skein.SessionID, l leaseRow) error {
	holder := string(skein.MustJSON(l.holder))
	if _, _, err := t.Exec(`INSERT INTO leases (session, epoch, held, expires, holder) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (session) DO UPDATE SET epoch = excluded.epoch, held = excluded.held, expires = excluded.expires, holder = excluded.holder`,
		string(id), int64(l.epoch), l.held, int64(l.expires), holder); err != nil {
		return err
	}
	who := ""
	if l.held {
		who = l.holder.String()
	}
	_, _, err := t.Exec(`UPDATE sessions SET locked_by = ? WHERE id = ?`, who, string(id))
	return err
}

// holder describes this process.
func holder(program string, now skein.Time) skein.Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return skein.Holder{Program: program, PID: os.Getpid(), Host: host, Since: now}
}

func processOf(h skein.Holder, expires skein.Time) holderJSON {
	if expires != 0 {
		return holderJSON{Holder: h}
	}
	return holderJSON{h, host.ProcessStart(), host.BootID()}
}

// lockedBy returns the holder of the session's lease, "" if it is not held now. who
// is the holder that was recorded last; if it is "", the lease is not looked up.
func (s *view) lockedBy(c *engine.Conn, id skein.SessionID, who string) (string, error) {
	if who == "" {
		return "", nil
	}
	row, err := leaseOf(c, id)
	if err != nil {
		return "", err
	}
	if held, err := s.holds(id, row); err != nil || !held {
		return "", err
	}
	return row.holder.String(), nil
}
