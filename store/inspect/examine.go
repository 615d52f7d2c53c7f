package inspect

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
)

// An Examiner is a Store that can look for damage in itself.
type Examiner interface {
	// Examine yields what it finds, area by area; an area without damage has
	// one finding that says so. With x.Repair it repairs what can be repaired
	// without losing anything. It continues after damage; the one error it may
	// yield, last, says why it could not.
	Examine(ctx context.Context, x Examination) iter.Seq2[Finding, error]
}

// A Salvager is the error of opening a store that is too damaged to be opened.
type Salvager interface {
	error

	// Salvage replaces the store by a new one with everything that can be read,
	// keeps the damaged one beside it, and yields what is lost. The one error it
	// may yield, last, says why nothing was done.
	Salvage(ctx context.Context) iter.Seq2[Finding, error]
}

// An Examination says how to examine. Its zero value changes nothing.
type Examination struct {
	Repair bool
	Quick  bool   // only what takes little time however large the store is, and the newest events; not with Repair
	Folder string // a folder of the program's own, whose permissions Repair may change; "" for none
}

// A Level says how much a finding matters.
type Level string

// The levels of a finding.
const (
	Fine    Level = "ok"
	Warning Level = "warning" // nothing is lost, but a person should know
	Damaged Level = "damaged"
)

// A Finding is one thing that an examination found.
type Finding struct {
	Area     string          `json:"area"` // such as file, index, blobs
	Level    Level           `json:"level"`
	Text     string          `json:"text"` // for people
	Session  skein.SessionID `json:"session,omitempty"`
	Mendable bool            `json:"mendable,omitempty"` // Repair would repair it
	Mended   bool            `json:"mended,omitempty"`
}

// A Backups is a Store in one file that can be backed up and restored while others
// write.
type Backups interface {
	// Backup writes a complete copy of the store, as it is at one moment, to a
	// new file. The error wraps [ErrExists] if the file exists.
	Backup(ctx context.Context, path string) error

	// RestoreBackup copies the store to the file kept and then restores what
	// Backup wrote to path. Other processes that use the store continue with
	// the restored one. The error wraps [ErrNotFound], [ErrCorrupt], [ErrNewer]
	// or [ErrInvalid] if path is not a complete backup; then nothing changed.
	RestoreBackup(ctx context.Context, path, kept string) error

	// Copies returns all copies that were ever made of the store, the newest
	// first, and other files in the folders of copies.
	Copies(ctx context.Context) ([]Copy, error)

	// Due reports whether Roll would make a copy now. The error says why a copy
	// that is due cannot be made; it wraps [ErrFull] if there is no room for it.
	Due(ctx context.Context, keep int) (bool, error)

	// Roll makes a copy if the newest one is a day old and the store has
	// changed since, in small steps with pauses, so that writers are not
	// disturbed, and returns its path; "" if none was due or another process is
	// making one. It keeps the newest keep of the copies that it made; if keep
	// is below 1, it does nothing. The error wraps [ErrFull] if there is no room,
	// and [ErrCorrupt] if the copy is not complete; then the older copies stay.
	Roll(ctx context.Context, keep int) (path string, err error)
}

// A Copy is a file that a store was copied to.
type Copy struct {
	Path string     `json:"path"`
	Kind CopyKind   `json:"kind"`
	Made skein.Time `json:"made"`            // when it was begun
	Size int64      `json:"bytes,omitempty"` // 0 if it is gone
	Gone bool       `json:"gone,omitempty"`  // it is not where it was written: removed, moved, or on a disk that is not mounted
}

// A CopyKind says why a store was copied.
type CopyKind string

// The kinds of copies.
const (
	BackupCopy    CopyKind = "backup"         // a user asked for it
	RollingCopy   CopyKind = "daily"          // [Backups.Roll] made it
	RestoredCopy  CopyKind = "before-restore" // the store before a backup was restored
	MigrationCopy CopyKind = "migration"      // the store before a migration
	DamagedCopy   CopyKind = "damaged"        // the damaged store that was salvaged
	UnknownCopy   CopyKind = "unknown"        // another file in a folder of copies
)

// An IndexLag is a Store whose search index is updated after the append, and that can
// report how far behind the index is. Search also finds events that are not indexed
// yet, by scanning them.
type IndexLag interface {
	// Lag returns how far the index is behind what is stored, for all users. Its
	// time does not depend on how much that is. Errors are the disk's.
	Lag(ctx context.Context) (Lag, error)
}

// A Lag is what a search index does not have yet. Its zero value says that the
// index has everything.
type Lag struct {
	Events int        // how many wait; approximate above 10,000
	Since  skein.Time // when the oldest of them was stored, as far as the store knows, by its clock; 0 if none waits
}
