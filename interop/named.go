package interop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// name notes which of the paths are files. A path that cannot be examined has failed
// already. A unit that yielded nothing is read again, though it has not changed: why
// it did not is nowhere else.
//
// The error is the store's.
func (im *importer) name(ctx context.Context, paths []string) error {
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err == nil {
			p, err = filepath.EvalSymlinks(p)
		}
		if err != nil {
			continue
		}
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() && !im.rep.isNamed(p) {
			im.rep.named = append(im.rep.named, p)
		}
	}
	for _, p := range im.rep.named {
		p = im.unitOrFile(p)
		barren, err := im.known.barren(ctx, p)
		if err != nil {
			return err
		}
		if k := im.known.files[p]; len(barren) > 0 && im.known.formats.format(k.Format).inUnit(barren[0]) {
			k.Size = -1
			im.known.files[p] = k
		}
	}
	return nil
}

// unitOrFile returns the unit that a file belongs to by its path, or else its path.
func (im *importer) unitOrFile(path string) string {
	if _, unit := im.known.formats.unitOf(path); unit != "" {
		return unit
	}
	return path
}

// barren reports the files that yielded nothing, now or before, although they were
// named, unless they are reported already.
//
// The error is the store's.
func (im *importer) barren(ctx context.Context) error {
	for _, path := range im.rep.named {
		if slices.ContainsFunc(im.rep.Skips, func(s Skip) bool { return s.Path == path }) {
			continue
		}
		why, err := im.barrenness(ctx, path)
		if err != nil {
			return err
		}
		if why != nil {
			im.rep.fail(path, why)
		}
	}
	return nil
}

// barrenness returns why a file yielded no session, nil if it did.
func (im *importer) barrenness(ctx context.Context, path string) (why, err error) {
	if c, strange := im.planner.strange[path]; strange {
		im.rep.Unmatched--
		f, m, g := im.known.formats.placedFile(headAt(path))
		switch {
		case c.size == 0:
			return errEmpty, nil
		case f != nil:
			return errors.New(m.says(f, g)), nil
		case len(im.known.formats) == 1:
			why := im.known.formats[0].Name + " does not recognize it"
			if whose, sign := im.planner.looks(path, No); whose != "" {
				why += fmt.Sprintf("; it looks like one of %s (%s)", whose, sign)
			}
			return errors.New(why), nil
		}
		return errUnknown, nil
	}
	barren, err := im.known.barren(ctx, im.unitOrFile(path))
	if len(barren) == 0 || err != nil {
		return nil, err
	}
	return im.known.withoutSession(ctx, barren)
}

// barren returns what a store knows of a file or unit, and of the sources in it, if
// it has been read and none of this is a session or a copy of one; otherwise nothing.
//
// The error is the store's.
func (kf *knownFiles) barren(ctx context.Context, path string) (all []skein.SourceFile, err error) {
	known, ok := kf.files[path]
	f := kf.formats.format(known.Format)
	if !ok || f == nil || f.Load != nil {
		return nil, nil
	}
	for at, k := range kf.files {
		if at != path && !strings.HasPrefix(at, path+"#") {
			continue
		}
		if k.Session != "" {
			return nil, nil
		}
		stored, err := kf.stored(ctx, f.Name, at)
		if err != nil || stored.CopyOf != "" {
			return nil, err
		}
		all = append(all, stored)
	}
	return all, nil
}

// withoutSession says why files yielded no session, with their first damaged record.
//
// The other error is the store's.
func (kf *knownFiles) withoutSession(ctx context.Context, all []skein.SourceFile) (why, err error) {
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
func (kf *knownFiles) firstDamage(ctx context.Context, f skein.SourceFile) (line int, what string, err error) {
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
	if of := kf.formats.format(f.Format); of == nil || of.inUnit(f) {
		line = 0
	}
	return line, what, nil
}
