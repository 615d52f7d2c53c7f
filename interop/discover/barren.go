package discover

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/records"
)

// Barren returns what a store knows of a file or unit, and of the sources in it, if
// it has been read and none of this is a session or a copy of one; otherwise nothing.
//
// The error is the store's.
func (kf *KnownFiles) Barren(ctx context.Context, path string) (all []skein.SourceFile, err error) {
	known, ok := kf.Files[path]
	f := kf.Formats.Format(known.Format)
	if !ok || f == nil || f.Load != nil {
		return nil, nil
	}
	for at, k := range kf.Files {
		if at != path && !strings.HasPrefix(at, path+"#") {
			continue
		}
		if k.Session != "" {
			return nil, nil
		}
		stored, err := kf.Stored(ctx, f.Name, at)
		if err != nil || stored.CopyOf != "" {
			return nil, err
		}
		all = append(all, stored)
	}
	return all, nil
}

// WithoutSession says why files yielded no session, with their first damaged record.
//
// The other error is the store's.
func (kf *KnownFiles) WithoutSession(ctx context.Context, all []skein.SourceFile) (why, err error) {
	slices.SortFunc(all, func(a, b skein.SourceFile) int { return cmp.Compare(a.Path, b.Path) })
	damaged, what, first := 0, "", 0
	for _, f := range all {
		if damaged += f.Damaged; what != "" || f.Damaged == 0 {
			continue
		}
		if first, what, err = kf.firstDamage(ctx, f); err != nil {
			return nil, err
		}
	}
	line := ""
	if first > 0 {
		line = fmt.Sprintf("line %d", first)
	}
	switch {
	case what == "":
		return errNoSession, nil
	case damaged == 1:
		return fmt.Errorf("%w: %s is damaged (%s)", errNoSession, cmp.Or(line, "its record"), what), nil
	case line != "":
		line = ", the first in " + line
	}
	return fmt.Errorf("%w: %d records are damaged%s (%s)", errNoSession, damaged, line, what), nil
}

// firstDamage returns the line of the first damaged record of a file, 0 for a source
// of a unit, which has no lines that a person could look at, and what is wrong with it.
//
// The error is the store's.
func (kf *KnownFiles) firstDamage(ctx context.Context, f skein.SourceFile) (line int, what string, err error) {
	line = 1
	for r, err := range skein.SourcesOf(kf.store).Records(ctx, f.Format, f.Path, 0) {
		if err != nil {
			return 0, "", err
		}
		if r.Damage != "" {
			what = r.Damage
			break
		}
		line += bytes.Count(r.Raw, []byte("\n"))
	}
	if of := kf.Formats.Format(f.Format); of == nil || records.InUnit(of, f) {
		line = 0
	}
	return line, what, nil
}
