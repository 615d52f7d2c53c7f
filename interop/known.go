package interop

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
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
	apart   bool // it has events that wait for another file
	reread  bool // others are to be read again after it
}

// unchanged reports whether a file is as it was when it was last read whole.
func (k knownFile) unchanged(c candidate) bool {
	return c.size == k.Size && c.mtime == k.Mtime && c.inode == k.Inode
}

// keep notes what the store knows about a file now. Equal strings share memory:
// most sessions are named like their file.
func (im *importer) keep(f skein.SourceFile) {
	k := knownFile{Format: f.Format, Size: f.Size, Mtime: f.Mtime, Inode: f.Inode, records: f.Records > 0}
	if known := im.format(f.Format); known != nil {
		k.Format = known.Name
	}
	k.Session = skein.SessionID(sharing(f.Path, string(f.Session)))
	if k.ID = sharing(f.Path, f.ID); f.ID == string(k.Session) {
		k.ID = string(k.Session)
	}
	k.apart = len(f.State) > 0 && bytes.Contains(f.State, []byte(`"apart":[`))
	k.reread = len(f.State) > 0 && bytes.Contains(f.State, []byte(`"yields":{`))
	im.files[f.Path] = k
	if f.Session == "" {
		return
	}
	im.sessions.add(string(k.Session), f.Path)
	if k.ID != "" && k.ID != string(k.Session) {
		im.others.add(f.Format+"\x00"+k.ID, f.Path)
	}
}

// forget forgets a file that the store no longer knows.
func (im *importer) forget(path string) {
	k, ok := im.files[path]
	if !ok {
		return
	}
	im.sessions.remove(string(k.Session), path)
	im.others.remove(k.Format+"\x00"+k.ID, path)
	delete(im.files, path)
}

// sharing returns part as a substring of text if it occurs there, to share its memory.
func sharing(text, part string) string {
	if i := strings.LastIndex(text, part); i >= 0 {
		return text[i : i+len(part)]
	}
	return part
}

// stored returns all that the store knows about a file; zero if it does not know
// the file.
//
// The error is the store's.
func (im *importer) stored(ctx context.Context, format, path string) (f skein.SourceFile, err error) {
	f, err = skein.SourcesOf(im.store).File(ctx, format, path)
	if errors.Is(err, skein.ErrNotFound) {
		return skein.SourceFile{}, nil
	}
	return f, err
}

// pathsOf returns the files that a session is known to have been read from.
func (im *importer) pathsOf(id skein.SessionID) []string { return im.sessions.of(string(id)) }

// pathsOfID returns the files whose session has this ID in its own program.
func (im *importer) pathsOfID(format, id string) (paths []string) {
	for _, all := range [][]string{im.sessions.of(id), im.others.of(format + "\x00" + id)} {
		for _, path := range all {
			if k := im.files[path]; k.Format == format && k.ID == id && k.Session != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths
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
