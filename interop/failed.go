package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// fails names a source that an error kept from being taken in, so that the
// others are. Only an error that they would meet too is returned: ctx's, or that
// of a store which does not even grant a lease any more.
func (im *importer) fails(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !im.storeWorks(ctx) {
		return fmt.Errorf("%s: %w", path, err)
	}
	im.rep.fail(path, err)
	if im.ours == path || strings.HasPrefix(im.ours, path+"#") {
		im.oursErr = err
	}
	return nil
}

// tryID is the ID whose lease is asked for to see whether a store works.
const tryID skein.SessionID = "writing~try"

func (im *importer) storeWorks(ctx context.Context) bool {
	l, err := skein.LeasesOf(im.store).Acquire(ctx, tryID, skein.LeaseRequest{Program: "skein import"})
	if err != nil {
		return errors.Is(err, skein.ErrLocked) // another import tries the same
	}
	return skein.LeasesOf(im.store).Release(context.WithoutCancel(ctx), l) == nil
}

// errPanic says that a reader met what its format does not know of, in a way
// that nobody thought of.
var errPanic = errors.New("reading it met a bug in skein")

// guard makes a panic of a format's code the error of the source that it was
// reading. Defer it.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errPanic, p)
	}
}
