package interop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Why a file that the user named yielded nothing.
var (
	errEmpty     = errors.New("it is empty")
	errUnknown   = errors.New("no format knows it")
	errNoSession = errors.New("it contains no session")
	errDestroyed = errors.New("its session was destroyed here; to bring it back, import it again with --again")
	errAwaited   = errors.New("it is not there yet; it will be taken in when it is")
	errLocked    = errors.New("its session is locked by another program; import it again later")
)

// name notes which of the paths are files. A path that cannot be examined has failed
// already.
func (im *importer) name(paths []string) {
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err == nil {
			p, err = filepath.EvalSymlinks(p)
		}
		if err != nil {
			continue
		}
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() && !slices.Contains(im.named, p) {
			im.named = append(im.named, p)
		}
	}
}

// leaves counts a file that is left out in n, or reports it as failed if the user
// named it.
func (im *importer) leaves(path string, n *int, why error) {
	if slices.Contains(im.named, path) {
		im.rep.fail(path, why)
		return
	}
	*n++
}

// skips reports what was left out of sources that were read; if the user named it, it
// has failed.
func (im *importer) skips(all []Skip, fail func(path string, err error)) {
	for _, s := range all {
		if slices.Contains(im.named, s.Path) {
			fail(s.Path, errors.New(s.Why))
			continue
		}
		im.rep.skip(s.Path, s.Why)
	}
}

// barren reports the files that yielded nothing, now or before, although they were
// named, unless they are reported already.
//
// The error is the store's.
func (im *importer) barren(ctx context.Context) error {
	for _, path := range im.named {
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
		switch {
		case c.size == 0:
			return errEmpty, nil
		case len(im.formats) == 1:
			return errors.New(im.formats[0].Name + " does not know it"), nil
		}
		return errUnknown, nil
	}
	if _, unit := im.formats.unitOf(path); unit != "" {
		path = unit
	}
	known, ok := im.known.files[path]
	f := im.formats.format(known.Format)
	if !ok || known.Session != "" || f == nil || f.Load != nil {
		return nil, nil
	}
	for other := range im.known.files {
		if strings.HasPrefix(other, path+"#") {
			return nil, nil
		}
	}
	stored, err := im.known.stored(ctx, f.Name, path)
	if err != nil || stored.CopyOf != "" {
		return nil, err
	}
	return errNoSession, nil
}
