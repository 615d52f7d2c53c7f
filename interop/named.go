package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		if k := im.known.files[p]; len(barren) > 0 && inUnit(im.known.formats.format(k.Format), barren[0]) {
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
		f, m, g := placedFile(im.known.formats, headAt(path))
		switch {
		case c.size == 0:
			return errEmpty, nil
		case f != nil:
			return errors.New(says(m, f, g)), nil
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
