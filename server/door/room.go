package door

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/skein-dev/skein/internal/room"
)

// maxHeld is how many bytes of bodies, and of what they read, all requests
// together may hold. The values made from these take three times as much again.
const maxHeld = 96 << 20

// maxAnswer is about how many bytes a request holds at once of what it reads: a page,
// and what the store has read ahead.
const maxAnswer = 16 << 20

// maxWait is how long a request without a body waits for room at a time: others may
// hold it for clients that take nothing of their answers.
const maxWait = 10 * time.Second

// ErrBusy says that other requests hold all the memory there is. The status is
// 503: nothing was done.
var ErrBusy = errors.New("other requests are using all the memory for requests: send it again later, or in smaller pieces")

// A heldBody counts what is read of it as held. Its first error is final: a
// decoder that reads on after an error (json.Decoder.More does) would otherwise
// skip the piece that found no room, and accept the body without it.
type heldBody struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // of the request whose body it is
	err error
}

// Read implements [io.Reader].
func (b *heldBody) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	n, b.err = b.ReadCloser.Read(p)
	if full := room.Of(b.ctx).Take(b.ctx, int64(n)); errors.Is(full, room.ErrFull) {
		n, b.err = 0, ErrBusy
	} else if full != nil {
		n, b.err = 0, full
	}
	return n, b.err
}
