package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// name notes which of the paths are files. A path that cannot be examined has failed
// already. A unit that yielded nothing is read again, though it has not changed: why
// it did not is nowhere else.
//
// The error is the store's.
func (im *Pipeline) name(ctx context.Context, paths []string) error {
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err == nil {
			p, err = filepath.EvalSymlinks(p)
		}
		if err != nil {
			continue
		}
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() && !im.rep.IsNamed(p) {
			im.rep.Named = append(im.rep.Named, p)
		}
	}
	for _, p := range im.rep.Named {
		p = im.unitOrFile(p)
		barren, err := im.Known.Barren(ctx, p)
		if err != nil {
			return err
		}
		if k := im.Known.Files[p]; len(barren) > 0 && records.InUnit(im.Known.Formats.Format(k.Format), barren[0]) {
			k.Size = -1
			im.Known.Files[p] = k
		}
	}
	return nil
}

// unitOrFile returns the unit that a file belongs to by its path, or else its path.
func (im *Pipeline) unitOrFile(path string) string {
	if _, unit := im.Known.Formats.UnitOf(path); unit != "" {
		return unit
	}
	return path
}

// barren reports the files that yielded nothing, now or before, although they were
// named, unless they are reported already.
//
// The error is the store's.
func (im *Pipeline) barren(ctx context.Context) error {
	for _, path := range im.rep.Named {
		if slices.ContainsFunc(im.rep.Skips, func(s interop.Skip) bool { return s.Path == path }) {
			continue
		}
		why, err := im.barrenness(ctx, path)
		if err != nil {
			return err
		}
		if why != nil {
			im.rep.AddFailure(path, why)
		}
	}
	return nil
}

// barrenness returns why a file yielded no session, nil if it did.
func (im *Pipeline) barrenness(ctx context.Context, path string) (why, err error) {
	if c, strange := im.Planner.Strange[path]; strange {
		im.rep.Unmatched--
		f, m, g := records.FindPlaced(im.Known.Formats, disk.HeadAt(path))
		switch {
		case c.Size == 0:
			return discover.ErrEmpty, nil
		case f != nil:
			return errors.New(discover.Says(m, f, g)), nil
		case len(im.Known.Formats) == 1:
			why := im.Known.Formats[0].Name + " does not recognize it"
			if whose, sign := im.Planner.Looks(path, interop.No); whose != "" {
				why += fmt.Sprintf("; it looks like one of %s (%s)", whose, sign)
			}
			return errors.New(why), nil
		}
		return discover.ErrUnknown, nil
	}
	barren, err := im.Known.Barren(ctx, im.unitOrFile(path))
	if len(barren) == 0 || err != nil {
		return nil, err
	}
	return im.Known.WithoutSession(ctx, barren)
}
