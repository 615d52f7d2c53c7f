package engine

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// Result codes of SQLite, https://sqlite.org/rescode.html. The low byte of an
// extended code is the primary one.
const (
	CodeError      = 1 // of a ROLLBACK: SQLite has already rolled back
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIOErr      = 10
	CodeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	CodeConstraint = 19
	CodeNotADB     = 26

	codeIOErrWrite    = codeIOErr | 3<<8
	codeIOErrFsync    = codeIOErr | 4<<8
	codeIOErrDirFsync = codeIOErr | 5<<8
	codeIOErrTruncate = codeIOErr | 6<<8
	codeIOErrShmSize  = codeIOErr | 19<<8
	codeIOErrCorrupt  = codeIOErr | 33<<8
	codeReadOnlyDir   = codeReadOnly | 6<<8
	codeUnique        = CodeConstraint | 8<<8
	codeBusySnapshot  = codeBusy | 2<<8
)

// Busy reports whether err says that another connection holds a lock.
func Busy(err error) bool {
	c := Code(err) & 0xff
	return c == codeBusy || c == codeLocked
}

// Classify wraps an error from SQLite in the error of the root package that
// callers can test for: [skein.ErrLocked], [skein.ErrFull], [skein.ErrReadOnly] or
// [skein.ErrCorrupt].
func Classify(err error) error {
	if err == nil {
		return nil
	}
	code := Code(err)
	switch code & 0xff {
	case codeBusy, codeLocked:
		return fmt.Errorf("%w: another process has locked the whole file: %w", skein.ErrLocked, err)
	case codeFull:
		return fmt.Errorf("%w: %w", skein.ErrFull, err)
	case codeReadOnly, codePerm:
		return fmt.Errorf("%w: %w", skein.ErrReadOnly, err)
	case CodeCorrupt, CodeNotADB:
		return fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	case codeIOErr:
		if code == codeIOErrWrite || code == codeIOErrShmSize {
			// The file may not grow, because of a quota or RLIMIT_FSIZE; or,
			// for the shared memory, the disk is full.
			return fmt.Errorf("%w: %w", skein.ErrFull, err)
		}
	}
	return err
}

// ClassifyCommit is [Classify] for the error of a COMMIT, which may have come
// after everything was already on its way to the disk: then it wraps
// [skein.ErrUnknown].
func ClassifyCommit(err error) error {
	switch code := Code(err); {
	case code == codeIOErrFsync, code == codeIOErrDirFsync:
		return fmt.Errorf("%w: %w", skein.ErrUnknown, err)
	default:
		return Classify(err)
	}
}

// ClassifyOpen is [Classify] for errors while the file is being opened, when a
// folder that cannot be written to is reported as a file that cannot be opened: that
// is [skein.ErrReadOnly], too.
func ClassifyOpen(err error) error {
	if err != nil && Code(err)&0xff == codeCantOpen {
		return fmt.Errorf("%w: %w", skein.ErrReadOnly, err)
	}
	return Classify(err)
}
