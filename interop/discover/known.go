package discover

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/lenient"
)

// A knownFile is what is held in memory about a file that the store knows: there
// may be hundreds of thousands. The rest is read from the store when it is
// needed.
type knownFile struct {
	Format  string
	Session skein.SessionID
	ID      string
	Size    int64
	Mtime   int64
	Inode   uint64
	records bool // some are stored
	Reread  bool // others are to be read again after it
	gone    bool // it was gone when it was last looked for
}

// Unchanged reports whether a file is as it was when it was last read whole.
func (k knownFile) Unchanged(c disk.File) bool {
	return c.Size == k.Size && c.Mtime == k.Mtime && c.Inode == k.Inode
}

// KnownFiles are the files that the store knows, of all formats.
type KnownFiles struct {
	store   skein.Store
	Formats formatList
	Files   map[string]knownFile // by path
	// The paths of the files that have a session: by its ID here, and by its ID in
	// its own program if that differs.
	sessions, others pathsBy
	copies           pathsBy                     // the paths of files that only repeat a session's, by its ID
	takenOut         map[string][]records.Ended  // see reread, by path; few files have any
	Apart            map[string][]skein.ClientID // by path, of files with events that wait for another file: the keys of the records that these are about
}

// Known reads what the store knows about files. The error is the store's.
func Known(ctx context.Context, s skein.Store, formats formatList) (*KnownFiles, error) {
	kf := &KnownFiles{store: s, Formats: formats, Files: map[string]knownFile{}, sessions: newPathsBy(), others: newPathsBy(), copies: newPathsBy(), takenOut: map[string][]records.Ended{}, Apart: map[string][]skein.ClientID{}}
	for f, err := range skein.SourcesOf(s).Files(ctx, "") {
		if err != nil {
			return nil, err
		}
		kf.Keep(f)
	}
	return kf, nil
}

// Keep notes what the store knows about a file now. Equal strings share memory:
// most sessions are named like their file.
func (kf *KnownFiles) Keep(f skein.SourceFile) {
	k := knownFile{Format: f.Format, Size: f.Size, Mtime: f.Mtime, Inode: f.Inode, records: f.Records > 0}
	if known := kf.Formats.Format(f.Format); known != nil {
		k.Format = known.Name
	}
	k.Session = skein.SessionID(sharing(f.Path, string(f.Session)))
	if k.ID = sharing(f.Path, f.ID); f.ID == string(k.Session) {
		k.ID = string(k.Session)
	}
	k.gone = bytes.Contains(f.State, []byte(`"gone":true`))
	k.Reread = len(f.State) > 0 && bytes.Contains(f.State, []byte(`"yields":{`))
	kf.Files[f.Path] = k
	delete(kf.takenOut, f.Path)
	delete(kf.Apart, f.Path)
	if bytes.Contains(f.State, []byte(`"apart":[`)) {
		for _, a := range records.DecodeState(f.State).Apart {
			kf.Apart[f.Path] = append(kf.Apart[f.Path], a.Of)
		}
	}
	if k.Reread {
		if y := records.DecodeState(f.State).Reread; y != nil {
			kf.takenOut[f.Path] = slices.Concat(y.Sessions, y.Kids)
		}
	}
	if f.CopyOf != "" {
		kf.copies.add(string(f.CopyOf), f.Path)
	}
	if f.Session == "" {
		return
	}
	kf.sessions.add(string(k.Session), f.Path)
	if k.ID != "" && k.ID != string(k.Session) {
		kf.others.add(f.Format+"\x00"+k.ID, f.Path)
	}
}

// TookOut reports whether an import took out a session, to read its file again, and
// it has not begun again.
func (kf *KnownFiles) TookOut(id skein.SessionID) bool {
	for _, all := range kf.takenOut {
		if slices.ContainsFunc(all, func(x records.Ended) bool { return x.ID == id }) {
			return true
		}
	}
	return false
}

// Forget forgets a file that the store no longer knows.
func (kf *KnownFiles) Forget(path string) {
	k, ok := kf.Files[path]
	if !ok {
		return
	}
	kf.sessions.remove(string(k.Session), path)
	kf.others.remove(k.Format+"\x00"+k.ID, path)
	delete(kf.Files, path)
	delete(kf.takenOut, path)
	delete(kf.Apart, path)
}

// sharing returns part as a substring of text if it occurs there, to share its memory.
func sharing(text, part string) string {
	if i := strings.LastIndex(text, part); i >= 0 {
		return text[i : i+len(part)]
	}
	return part
}

// Stored returns all that the store knows about a file; zero if it does not know
// the file.
//
// The error is the store's.
func (kf *KnownFiles) Stored(ctx context.Context, format, path string) (f skein.SourceFile, err error) {
	f, err = skein.SourcesOf(kf.store).File(ctx, format, path)
	if errors.Is(err, skein.ErrNotFound) {
		return skein.SourceFile{}, nil
	}
	return f, err
}

// PathsOf returns the files that a session is known to have been read from.
func (kf *KnownFiles) PathsOf(id skein.SessionID) []string { return kf.sessions.of(string(id)) }

// PathsOfID returns the files whose session has this ID in its own program.
func (kf *KnownFiles) PathsOfID(format, id string) (paths []string) {
	for _, all := range [][]string{kf.sessions.of(id), kf.others.of(format + "\x00" + id)} {
		for _, path := range all {
			if k := kf.Files[path]; k.Format == format && k.ID == id && k.Session != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// HasOf is has for a session with this name in its file. keys are those of a record,
// empty if there is no record. A session that came from another store, without a
// file, is recognized by its events.
//
// The error is the store's.
func (kf *KnownFiles) HasOf(ctx context.Context, id skein.SessionID, name string, keys []skein.ClientID) (bool, error) {
	if name != "" {
		if theirs, err := kf.has(ctx, id, keys); theirs || err != nil {
			return theirs, err
		}
	}
	if len(keys) == 0 || len(kf.PathsOf(id)) > 0 {
		return false, nil
	}
	for e, err := range lenient.Store(kf.store, nil).Events(ctx, id, 0) {
		if err != nil || slices.Contains(keys, e.ClientID) {
			return err == nil, err
		}
	}
	return false, nil
}

// has reports whether session id has one of the events with these client IDs.
func (kf *KnownFiles) has(ctx context.Context, id skein.SessionID, keys []skein.ClientID) (bool, error) {
	places, err := skein.SourcesOf(kf.store).Find(ctx, keys)
	for _, p := range places {
		if p.Session == id {
			return true, err
		}
	}
	return false, err
}

// Moved reports whether the file of a session was moved to where f is: f has the same
// session, and the files that it was read from are gone or replaced.
func (kf *KnownFiles) Moved(wanted, id skein.SessionID, f skein.SourceFile) bool {
	if wanted != id {
		return false
	}
	for _, path := range kf.PathsOf(id) {
		if _, err := os.Lstat(kf.onDisk(path)); path == f.Path || !errors.Is(err, fs.ErrNotExist) && !kf.replaced(path, f) {
			return false
		}
	}
	return len(kf.PathsOf(id)) > 0
}

// replaced reports whether f now holds what a store knows by path.
func (kf *KnownFiles) replaced(path string, f skein.SourceFile) bool {
	of := kf.Formats.Format(f.Format)
	return of != nil && of.Replaces != nil && of.Name == kf.Files[path].Format &&
		of.Replaces(filepath.ToSlash(kf.onDisk(f.Path)), filepath.ToSlash(kf.onDisk(path)))
}

// ByProgramID returns the session with this ID in its own program. If several files
// have one, the file nearest to from counts: the others are copies that may have gone
// another way.
func (kf *KnownFiles) ByProgramID(format, id, from string) skein.SessionID {
	session, most := skein.SessionID(id), -1
	for _, path := range kf.PathsOfID(format, id) {
		if n := inCommon(path, from); n > most {
			session, most = kf.Files[path].Session, n
		}
	}
	return session
}

// inCommon returns how many bytes of two paths are the same folders.
func inCommon(a, b string) (n int) {
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if os.IsPathSeparator(a[i]) || a[i] == '#' {
			n = i + 1
		}
	}
	return n
}

// onDisk returns the path on disk of what a store knows by path.
func (kf *KnownFiles) onDisk(path string) string {
	f := kf.Formats.Format(kf.Files[path].Format)
	if at := strings.LastIndexByte(path, '#'); at > 0 && f != nil && f.Look != nil {
		if _, err := os.Lstat(path); err != nil {
			return path[:at]
		}
	}
	return path
}

// pathsBy is paths by a name. Most names have one.
type pathsBy struct {
	first map[string]string
	more  map[string][]string // all but the first
}

func newPathsBy() pathsBy { return pathsBy{map[string]string{}, map[string][]string{}} }

func (b pathsBy) add(name, path string) {
	first, ok := b.first[name]
	if !ok {
		b.first[name] = path
		return
	}
	if first == path {
		return
	}
	for _, p := range b.more[name] {
		if p == path {
			return
		}
	}
	b.more[name] = append(b.more[name], path)
}

func (b pathsBy) remove(name, path string) {
	left := slices.DeleteFunc(b.of(name), func(p string) bool { return p == path })
	delete(b.first, name)
	delete(b.more, name)
	for _, p := range left {
		b.add(name, p)
	}
}

func (b pathsBy) of(name string) []string {
	first, ok := b.first[name]
	if !ok {
		return nil
	}
	return append([]string{first}, b.more[name]...)
}

// Newest returns the paths of the files that changed last, the newest first.
func (kf *KnownFiles) Newest(n int) []string {
	var paths []string
	for path := range kf.Files {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return -disk.Older(kf.candidate(a), kf.candidate(b)) })
	return paths[:min(n, len(paths))]
}

func (kf *KnownFiles) candidate(path string) disk.File {
	return disk.File{Path: path, Mtime: kf.Files[path].Mtime}
}

// WorkOf returns the work that is to be done on a file or unit, with what the
// store knows about it. The error is the store's.
func (kf *KnownFiles) WorkOf(ctx context.Context, p Planned) (w *records.FileJob, err error) {
	w = &records.FileJob{Format: *p.Format, Now: p.Now, Unit: p.unit, Patient: p.Patient}
	if p.Was == nil {
		return w, nil
	}
	w.Known, err = kf.Stored(ctx, p.Format.Name, p.Now.Path)
	w.Known.Size, w.Known.Mtime, w.Known.Inode = p.Was.Size, p.Was.Mtime, p.Was.Inode
	return w, err
}
