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

// A heldBody holds what is read of it.
type heldBody struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // of the request whose body it is
}

// Read implements [io.Reader].
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := room.Of(b.ctx).Take(b.ctx, int64(n)); errors.Is(full, room.ErrFull) {
		return 0, ErrBusy
	} else if full != nil {
		return 0, full
	}
	return n, err
}
