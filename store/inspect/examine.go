package inspect

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
)

// An Examiner is a Store that can look for damage in itself.
type Examiner interface {
	// Examine yields what it finds, area by area; an area without damage has
	// one finding that says so. With x.Repair it mends what can be mended
	// without losing anything. It goes on after damage; the one error it may
	// yield, last, says why it could not.
	Examine(ctx context.Context, x Examination) iter.Seq2[Finding, error]
}

// A Salvager is the error of opening a store whose data is too damaged for that.
type Salvager interface {
	error

	// Salvage puts in its place a new store with all that can be read, keeps
	// the damaged one beside it, and yields what is lost. The one error it may
	// yield, last, says why nothing was done.
	Salvage(ctx context.Context) iter.Seq2[Finding, error]
}

// An Examination says how to look. Its zero value only looks.
type Examination struct {
	Repair bool
	Folder string // a folder of the program's own, whose rights Repair may change; "" for none
}

// A Level says how much a finding matters.
type Level string

// The levels of a finding.
const (
	Fine    Level = "ok"
	Warning Level = "warning" // nothing is lost, but somebody should know
	Damaged Level = "damaged"
)

// A Finding is one thing that an examination found.
type Finding struct {
	Area     string          `json:"area"` // such as file, index, blobs
	Level    Level           `json:"level"`
	Text     string          `json:"text"` // for people
	Session  skein.SessionID `json:"session,omitempty"`
	Mendable bool            `json:"mendable,omitempty"` // Repair would mend it
	Mended   bool            `json:"mended,omitempty"`
}

// A Backups is a Store of one file that can be copied and brought back while
// others write.
type Backups interface {
	// Backup writes a whole copy of the store, as it is at one moment, to a
	// new file. The error wraps [ErrExists] if there is one of that name.
	Backup(ctx context.Context, path string) error

	// RestoreBackup puts the store back to what Backup wrote, after it was
	// copied to the file kept. Other processes that use the store go on with
	// it. The error wraps [ErrNotFound], [ErrCorrupt], [ErrNewer] or
	// [ErrInvalid] if path is no whole backup; then nothing was changed.
	RestoreBackup(ctx context.Context, path, kept string) error

	// Copies returns all copies that were ever made of the store, the newest
	// first, and what else lies where copies are made.
	Copies(ctx context.Context) ([]Copy, error)

	// Due reports whether Roll would make a copy now. The error says why one
	// that is due cannot be made; it wraps [ErrFull] if there is no room for it.
	Due(ctx context.Context, keep int) (bool, error)

	// Roll makes a copy if the newest one is a day old and the store has
	// changed since, in small steps with pauses, so that writers notice
	// nothing, and returns its path; "" if none was due or another process is
	// making one. Of the copies that it made it leaves the newest keep; with
	// keep below 1 it does nothing. The error wraps [ErrFull] if there is no
	// room, and [ErrCorrupt] if the copy is not whole; then the older ones stay.
	Roll(ctx context.Context, keep int) (path string, err error)
}

// A Copy is a file that a store was copied to.
type Copy struct {
	Path string     `json:"path"`
	Kind CopyKind   `json:"kind"`
	Made skein.Time `json:"made"`            // when it was begun
	Size int64      `json:"bytes,omitempty"` // 0 if it is gone
	Gone bool       `json:"gone,omitempty"`  // it is not where it was written: removed, moved, or on a disk that is not here
}

// A CopyKind says why a store was copied.
type CopyKind string

// The kinds of copies.
const (
	BackupCopy    CopyKind = "backup"         // somebody asked for it
	RollingCopy   CopyKind = "daily"          // [Backups.Roll] made it
	RestoredCopy  CopyKind = "before-restore" // what a backup was put in place of
	MigrationCopy CopyKind = "migration"      // the store before a migration
	DamagedCopy   CopyKind = "damaged"        // what a salvage was made from
	UnknownCopy   CopyKind = "unknown"        // it lies where copies are made
)

// An IndexLag is a Store whose search index is fed after the append, and that can
// say how far behind it is. Search finds what waits all the same, by looking
// through it.
type IndexLag interface {
	// Lag returns how far the index is behind what is stored, whoever's it is.
	// It takes no time by how much that is. Errors are the disk's.
	Lag(ctx context.Context) (Lag, error)
}

// A Lag is what a search index does not have yet. Its zero value says that the
// index has everything.
type Lag struct {
	Events int        // that wait; roughly, where they are more than 10,000
	Since  skein.Time // when the oldest of them was stored, as far as the store knows, on its clock; 0 if none waits
}
