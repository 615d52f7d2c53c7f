package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
)

// A Reporting adds to a Report what happened to each file. A file that the user named and
// that yields nothing has failed.
type Reporting struct {
	*interop.Report
	Store skein.Store // to see whether it still works
	Named []string    // the files that the user named
	Own   *Syncing    // of a sync; nil for other imports
}

// A Syncing is the source that a sync is writing to, in the import that the sync makes.
type Syncing struct {
	Path   string            // in the store
	Adopts *records.Adoption // what it was just given; nil if its content is the program's
	Err    error             // why it could not be imported
}

// Why a file that the user named yielded nothing.
var (
	ErrEmpty     = errors.New("the file is empty")
	ErrUnknown   = errors.New("no format recognizes it")
	errNoSession = errors.New("it contains no session")
	ErrDestroyed = errors.New("its session was destroyed here; to import it again, use --again")
	ErrAwaited   = errors.New("it does not exist yet; it will be imported when it does")
	ErrLocked    = errors.New("its session is locked by another program; import it again later")
)

// IsNamed reports whether the user named this file.
func (r *Reporting) IsNamed(path string) bool { return slices.Contains(r.Named, path) }

// Leaves counts a file that is left out in n, or reports it as failed if the user
// named it.
func (r *Reporting) Leaves(path string, n *int, why error) {
	if r.IsNamed(path) {
		r.AddFailure(path, why)
		return
	}
	*n++
}

// AddSkips reports what was left out of sources that were read; if the user named it, it
// has failed.
func (r *Reporting) AddSkips(all []interop.Skip, fail func(path string, err error)) {
	for _, s := range all {
		if r.IsNamed(s.Path) {
			fail(s.Path, errors.New(s.Why))
			continue
		}
		r.AddSkip(s.Path, s.Why)
	}
}

// other reports another program's file; it has failed if the user named it.
func (r *Reporting) other(o interop.Other) {
	if r.IsNamed(o.Path) {
		r.AddFailure(o.Path, errors.New(o.String()))
		return
	}
	r.AddOther(o)
}

// AddTook adds to the report what was imported.
func (r *Reporting) AddTook(t interop.Took) {
	for _, n := range t.News {
		r.AddGrowth(n)
	}
	r.Removed += t.Removed
	r.AddSkips(t.Skips, r.AddPartial)
	for _, d := range t.Damage {
		r.AddDamage(d.Path, d.Line, d.What)
	}
	r.Damaged += t.Damaged - len(t.Damage)
}

// Fails reports a source that an error kept from being imported, so that the
// others are still imported. It returns only an error that would affect them too:
// ctx's, or that of a store which no longer even grants a lease.
func (r *Reporting) Fails(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !r.storeWorks(ctx) {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.AddFailure(path, err)
	if r.Own != nil && (r.Own.Path == path || strings.HasPrefix(r.Own.Path, path+"#")) {
		r.Own.Err = err
	}
	return nil
}

// tryID is the ID whose lease is requested to see whether a store works.
const tryID skein.SessionID = "writing~try"

func (r *Reporting) storeWorks(ctx context.Context) bool {
	l, err := skein.LeasesOf(r.Store).Acquire(ctx, tryID, skein.LeaseRequest{Program: "skein import"})
	if err != nil {
		return errors.Is(err, skein.ErrLocked) // another import tries the same
	}
	return skein.LeasesOf(r.Store).Release(context.WithoutCancel(ctx), l) == nil
}
