package inspect

import (
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// Records reads the source records of each of views, one file after the other,
// yields which are damaged or missing, and returns how many it read. Errors are the
// store's.
func (ex *Exam) Records(area string, views []skein.Store) (n int, err error) {
	for _, view := range views {
		for f, err := range skein.SourcesOf(view).Files(ex.ctx, "") {
			if err != nil || ex.Over() {
				return n, err
			}
			read, err := ex.source(area, view, f)
			if n += read; err != nil && !errors.Is(err, skein.ErrNotFound) { // it was deleted meanwhile
				return n, err
			}
		}
	}
	return n, nil
}

// source reads the records of a file.
func (ex *Exam) source(area string, view skein.Store, f skein.SourceFile) (n int, err error) {
	next := 0
	for r, err := range lenient.Records(ex.ctx, view, f.Format, f.Path, func(bad *skein.DamagedRecordsError) {
		ex.gap(area, f, bad.First, bad.Last, bad.Err)
		next = bad.Last + 1
	}) {
		if err != nil || ex.Over() {
			return n, err
		}
		next = r.N + 1
		n++
	}
	is, err := skein.SourcesOf(view).File(ex.ctx, f.Format, f.Path)
	if want := min(f.Records, is.Records); err == nil && next < want { // it may have been imported again meanwhile
		ex.gap(area, f, next, want-1, errors.New("missing"))
	}
	return n, err
}

// gap yields that records are damaged. For people, the first one is number 1.
func (ex *Exam) gap(area string, f skein.SourceFile, first, last int, why error) {
	what := fmt.Sprintf("record %d is", first+1)
	if last > first {
		what = fmt.Sprintf("records %d to %d are", first+1, last+1)
	}
	ex.Damage(area, f.Session, fmt.Sprintf("file %s: %s damaged: %v", f.Path, what, why))
}
