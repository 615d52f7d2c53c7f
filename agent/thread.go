package agent

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// A Thread is a session that this process works on. Its methods are for one
// goroutine, except Interrupt.
type Thread struct{}

var errNotYet = errors.New("not there yet")

// Open takes the lease of the session and returns its thread. Calls that were
// running when their program died are marked as uncertain. A new session has
// its ID from now on, and is not stored before its first message.
//
// The error wraps [skein.ErrLocked] (as a *[skein.LockedError]),
// [skein.ErrNotFound], or is one of the Store's.
func Open(ctx context.Context, o Options) (*Thread, error) { return nil, errNotYet }

// ID returns the session's ID, also before it has begun.
func (t *Thread) ID() skein.SessionID { return "" }

// Begun reports whether the session is stored.
func (t *Thread) Begun() bool { return false }

// Session returns the session as it is stored.
// The error wraps [skein.ErrNotFound] before the first message.
func (t *Thread) Session(ctx context.Context) (skein.Session, error) {
	return skein.Session{}, errNotYet
}

// Agent returns what answers now.
func (t *Thread) Agent() Agent { return Agent{} }

// Turn appends m, a user message, and what the model and its tools answer. The
// Outcome is what there is, also with an error. When ctx ends, what was
// complete is kept, the rest marked, and Outcome.Stop is [Interrupted] with a
// nil error.
//
// The error wraps [skein.ErrFenced] if the session was taken over, one of the
// Store's, or one of package llm's, after all attempts.
func (t *Thread) Turn(ctx context.Context, m skein.Message, blobs ...skein.Blob) (Outcome, error) {
	return Outcome{}, errNotYet
}

// Pending reports whether the last user message has no answer that is whole.
// Errors are the Store's.
func (t *Thread) Pending(ctx context.Context) (bool, error) { return false, errNotYet }

// Retry takes up the last user message, if it has no whole answer, without
// saying it again. It wraps [skein.ErrInvalid] if there is nothing to take up;
// other errors as Turn.
func (t *Thread) Retry(ctx context.Context) (Outcome, error) { return Outcome{}, errNotYet }

// Compact sums up the older part now. Errors as Turn; [skein.ErrInvalid] if
// there is too little to sum up.
func (t *Thread) Compact(ctx context.Context) error { return errNotYet }

// Undo goes back to before the n-th last user message in the context (1 is
// the last), and returns its text. The error wraps [skein.ErrInvalid] if there
// are fewer, or is the Store's.
func (t *Thread) Undo(ctx context.Context, n int) (string, error) { return "", errNotYet }

// Redo takes back the newest Undo or Clear that nothing was said after. The
// error wraps [skein.ErrInvalid] if there is none, or is the Store's.
func (t *Thread) Redo(ctx context.Context) error { return errNotYet }

// Clear makes the context empty; a rewind, so that nothing is lost. Errors are
// the Store's.
func (t *Thread) Clear(ctx context.Context) error { return errNotYet }

// Rename gives the session a title by a person. Errors are the Store's.
func (t *Thread) Rename(ctx context.Context, title string) error { return errNotYet }

// Suggest asks the model for a title and gives it to the session, if nobody
// has; errors as Turn.
func (t *Thread) Suggest(ctx context.Context) error { return errNotYet }

// SetAgent lets a answer from now on; the thread goes on. Errors are the
// Store's.
func (t *Thread) SetAgent(ctx context.Context, a Agent) error { return errNotYet }

// Close appends how the work ended (done, interrupted, error), if the session
// has begun, and gives the lease back. Errors are the Store's.
func (t *Thread) Close(ctx context.Context, how string) error { return errNotYet }
