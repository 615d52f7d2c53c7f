package upload

import (
	"context"
	"io"

	"github.com/skein-dev/skein/internal/room"
)

// Passing returns a body that goes straight to the disk: nothing of it is kept in memory.
// ctx is that of its request.
func Passing(ctx context.Context, body io.Reader) io.Reader { return passing{body, room.Of(ctx)} }

type passing struct {
	io.Reader
	share *room.Share
}

// Read implements [io.Reader].
func (p passing) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.share.LetGo()
	return n, err
}
