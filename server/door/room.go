package door

import (
	"context"
	"errors"
	"io"

	"github.com/skein-dev/skein/internal/room"
)

// maxHeld is how many bytes requests may hold of bodies and of what they read,
// all together. What is made of these takes three times as much again.
const maxHeld = 96 << 20

// ErrBusy says that what other requests hold takes all the room there is. It is
// 503: nothing was done.
var ErrBusy = errors.New("other requests take all the room there is: send it again later, or in smaller pieces")

// A heldBody holds what is read of it. Its first error is its last: a decoder that
// looks for more and passes over the error (json.Decoder.More does) would else go
// on behind the piece that found no room, and take a body without it for whole.
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
