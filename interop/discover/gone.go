package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// UnitListing are the sources of the units that were read whole, by the units' paths.
type UnitListing map[string]map[string]bool

// Add notes the sources of a unit.
func (l UnitListing) Add(unit string, sources []interop.Source) {
	l[unit] = make(map[string]bool, len(sources))
	for _, s := range sources {
		l[unit][records.SourcePath(unit, s.Name)] = true
	}
}

// A presence says whether what the store knows by a path is still there.
type presence int

const (
	unknown presence = iota
	there
	gone
)

// Turned returns the sessions whose sources are all gone now, and those of which one is
// there again. found are the files below roots, which may be nil.
func (kf *KnownFiles) Turned(found []disk.File, roots []string, units UnitListing) (away, back []skein.SessionID) {
	look := looker{kf, map[string]bool{}, nil, units}
	for _, c := range found {
		look.found[c.Path] = true
	}
	for _, root := range roots {
		abs, err := filepath.Abs(root)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err == nil { // what does not exist may not be mounted
			look.roots = append(look.roots, abs)
		}
	}
	seen := map[skein.SessionID]bool{}
	for path, k := range kf.Files {
		if k.Session == "" || seen[k.Session] {
			continue
		}
		if is := look.at(path, &k); is == unknown || (is == gone) == k.gone {
			continue
		}
		seen[k.Session] = true
		paths := kf.PathsOf(k.Session)
		was := slices.ContainsFunc(paths, func(p string) bool { return kf.Files[p].gone })
		isThere := func(p string) bool { return !look.isGone(p) }
		is := !slices.ContainsFunc(paths, isThere) && !slices.ContainsFunc(kf.copies.of(string(k.Session)), isThere)
		switch {
		case is && !was:
			away = append(away, k.Session)
		case was && !is:
			back = append(back, k.Session)
		}
	}
	slices.Sort(away)
	slices.Sort(back)
	return away, back
}

// A looker is one call of Turned.
type looker struct {
	known *KnownFiles
	found map[string]bool
	roots []string // those that exist, without links
	units UnitListing
}

// isGone reports whether what the store knows by path is gone, or was when that could
// last be seen.
func (l *looker) isGone(path string) bool {
	k := l.known.Files[path]
	is := l.at(path, &k)
	return is == gone || is == unknown && k.gone
}

// at looks for what the store knows by path.
func (l *looker) at(path string, k *knownFile) presence {
	if l.found[path] {
		return there
	}
	unit := path
	if f := l.known.Formats.Format(k.Format); f != nil && f.Look != nil {
		if i := strings.LastIndexByte(path, '#'); i > 0 {
			unit = path[:i]
		}
	}
	if sources, ok := l.units[unit]; ok && unit != path && !sources[path] {
		return gone
	} else if ok {
		return there
	}
	if l.found[unit] {
		return unknown // its unit was not read this time
	}
	i := slices.IndexFunc(l.roots, func(root string) bool { return disk.Within(root, unit) })
	if i < 0 {
		return unknown // and no system call for each file that was ever imported
	}
	if _, err := os.Lstat(path); err == nil {
		return there
	}
	if disk.IsGone(l.roots[i], unit, l.known.Files[unit].Mtime) {
		return gone
	}
	return unknown
}

// WasGone reports whether one of the files was gone when it was last looked for.
func (kf *KnownFiles) WasGone(found []disk.File) bool {
	return slices.ContainsFunc(found, func(c disk.File) bool { return kf.Files[c.Path].gone })
}
