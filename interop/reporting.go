package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// A reporting adds to a Report what happened to each file. A file that the user named and
// that yields nothing has failed.
type reporting struct {
	*Report
	store skein.Store // to see whether it still works
	named []string    // the files that the user named
	own   *syncing    // of a sync; nil for other imports
}

// A syncing is the source that a sync is writing to, in the import that the sync makes.
type syncing struct {
	path   string    // in the store
	adopts *adoption // what it was just given; nil if its content is the program's
	err    error     // why it could not be imported
}

// Why a file that the user named yielded nothing.
var (
	errEmpty     = errors.New("the file is empty")
	errUnknown   = errors.New("no format recognizes it")
	errNoSession = errors.New("it contains no session")
	errDestroyed = errors.New("its session was destroyed here; to import it again, use --again")
	errAwaited   = errors.New("it does not exist yet; it will be imported when it does")
	errLocked    = errors.New("its session is locked by another program; import it again later")
)

func (r *reporting) isNamed(path string) bool { return slices.Contains(r.named, path) }

// leaves counts a file that is left out in n, or reports it as failed if the user
// named it.
func (r *reporting) leaves(path string, n *int, why error) {
	if r.isNamed(path) {
		r.fail(path, why)
		return
	}
	*n++
}

// skips reports what was left out of sources that were read; if the user named it, it
// has failed.
func (r *reporting) skips(all []Skip, fail func(path string, err error)) {
	for _, s := range all {
		if r.isNamed(s.Path) {
			fail(s.Path, errors.New(s.Why))
			continue
		}
		r.skip(s.Path, s.Why)
	}
}

// other reports another program's file; it has failed if the user named it.
func (r *reporting) other(o Other) {
	if r.isNamed(o.Path) {
		r.fail(o.Path, errors.New(o.String()))
		return
	}
	r.addOther(o)
}

// took adds to the report what was imported.
func (r *reporting) took(t Took) {
	for _, n := range t.News {
		r.news(n)
	}
	r.Removed += t.Removed
	r.skips(t.Skips, r.partly)
	for _, d := range t.Damage {
		r.damage(d.Path, d.Line, d.What)
	}
	r.Damaged += t.Damaged - len(t.Damage)
}

// fails reports a source that an error kept from being imported, so that the
// others are still imported. It returns only an error that would affect them too:
// ctx's, or that of a store which no longer even grants a lease.
func (r *reporting) fails(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !r.storeWorks(ctx) {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.fail(path, err)
	if r.own != nil && (r.own.path == path || strings.HasPrefix(r.own.path, path+"#")) {
		r.own.err = err
	}
	return nil
}

// tryID is the ID whose lease is requested to see whether a store works.
const tryID skein.SessionID = "writing~try"

func (r *reporting) storeWorks(ctx context.Context) bool {
	l, err := skein.LeasesOf(r.store).Acquire(ctx, tryID, skein.LeaseRequest{Program: "skein import"})
	if err != nil {
		return errors.Is(err, skein.ErrLocked) // another import tries the same
	}
	return skein.LeasesOf(r.store).Release(context.WithoutCancel(ctx), l) == nil
}
