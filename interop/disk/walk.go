package disk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/skein-dev/skein/internal/fileid"
	"github.com/skein-dev/skein/internal/folder"
)

// A File is a regular file that may be a session file.
type File struct {
	Path  string
	Size  int64
	Mtime int64 // nanoseconds since 1970
	Inode uint64
}

// A walker finds the regular files under some paths.
type walker struct {
	found []File
	seen  map[string]bool
	rep   pathNotes
}

// pathNotes are told which paths were left out, and which an error kept from being read.
type pathNotes interface {
	AddSkip(path, why string)
	AddFailure(path string, err error)
}

// Walk returns the files at and under paths, the oldest first: an original is
// older than its copies. A path itself may be a symbolic link; links found on
// the way are not followed. A path that is neither file nor folder has failed. So
// has one that does not exist, if another does; if none does, that is the error.
func Walk(ctx context.Context, paths []string, rep pathNotes) ([]File, error) {
	w := walker{seen: map[string]bool{}, rep: rep}
	missing := map[string]error{}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		err = w.root(ctx, abs)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, err
		case IsMissing(err) && len(missing) == len(paths)-1:
			return nil, err
		case IsMissing(err):
			missing[abs] = err
		default:
			w.rep.AddFailure(abs, err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		w.rep.AddFailure(p, missing[p])
	}
	ByAge(w.found, fileid.Born)
	return w.found, nil
}

func (w *walker) root(ctx context.Context, path string) error {
	there, err := filepath.EvalSymlinks(path)
	if at := (*fs.PathError)(nil); err != nil && !errors.As(err, &at) {
		err = &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if err != nil {
		return err
	}
	path = there
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return irregular(mode)
	}
	return w.entry(ctx, path, info, MaxFolders)
}

// ByAge sorts files, the oldest first, by when they were created, for an original may
// have continued after its copy was made. A file that was put there later than its last
// change counts from that change. Those in the folder x come after the file x.jsonl
// beside it: what a session started comes after the session.
func ByAge(cs []File, born func(path string) int64) {
	of := ages{make(map[string]int64, len(cs)), map[folderOf]int64{}}
	for _, c := range cs {
		of.file[c.Path] = c.Age(born)
	}
	age := make(map[string]int64, len(cs))
	for _, c := range cs {
		age[c.Path] = max(of.file[c.Path], of.owners(folderOf{filepath.Dir(c.Path), filepath.Ext(PlainPath(c.Path))}))
	}
	slices.SortFunc(cs, func(a, b File) int {
		return cmp.Or(cmp.Compare(age[a.Path], age[b.Path]), cmp.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path)))
	})
}

// ages are the ages of files by themselves, and those of the files that folders belong
// to: thousands of files are in one folder.
type ages struct {
	file   map[string]int64
	folder map[folderOf]int64
}

// A folderOf is a folder as the place of files with an extension.
type folderOf struct{ path, ext string }

// owners returns the age of the youngest file that a folder, or one around it, is named
// after; the least age if there is none.
func (a ages) owners(f folderOf) int64 {
	age, ok := a.folder[f]
	if ok {
		return age
	}
	age = math.MinInt64
	if up := filepath.Dir(f.path); len(f.path) > 1 {
		if own, ok := a.file[f.path+f.ext]; ok {
			age = own
		}
		if up != f.path {
			age = max(age, a.owners(folderOf{up, f.ext}))
		}
	}
	a.folder[f] = age
	return age
}

// Age returns when a file was created, or last changed if that was earlier: then it
// was copied or restored since.
func (c File) Age(born func(path string) int64) int64 {
	if at := born(c.Path); at != 0 {
		return min(c.Mtime, at)
	}
	return c.Mtime
}

// Older compares files by the time of their last change, then by their paths.
func Older(a, b File) int {
	return cmp.Or(cmp.Compare(a.Mtime, b.Mtime), cmp.Compare(a.Path, b.Path))
}

// MaxFolders is how many folders deep a tree is walked.
const MaxFolders = 64

func (w *walker) entry(ctx context.Context, path string, info fs.FileInfo, deeper int) error {
	switch mode := info.Mode(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.seen[path]:
	case mode.IsRegular():
		w.seen[path] = true
		w.found = append(w.found, File{path, info.Size(), info.ModTime().UnixNano(), inode(info)})
	case mode.IsDir() && deeper == 0:
		w.rep.AddSkip(path, "folders nested too deep")
	case mode.IsDir():
		w.seen[path] = true
		return w.folder(ctx, path, deeper-1)
	case mode&fs.ModeSymlink != 0:
		w.rep.AddSkip(path, "symbolic link")
	default:
		w.rep.AddSkip(path, irregular(mode).Error())
	}
	return nil
}

// irregular says what is in the place of a file or folder: something that could not be
// read to its end.
func irregular(mode fs.FileMode) error {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a named pipe, not a file")
	case mode&fs.ModeSocket != 0:
		return errors.New("it is a socket, not a file")
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device, not a file")
	}
	return ErrIrregular
}

func (w *walker) folder(ctx context.Context, path string, deeper int) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		w.rep.AddFailure(path, err)
	}
	dir := strings.TrimSuffix(path, string(os.PathSeparator)) + string(os.PathSeparator)
	for _, e := range entries {
		at := dir + e.Name()
		if folder.IsTemp(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was removed or renamed meanwhile
			continue
		}
		if err != nil {
			w.rep.AddFailure(at, err)
			continue
		}
		if err := w.entry(ctx, at, info, deeper); err != nil {
			return err
		}
	}
	return nil
}

// Why returns the cause in err without the path that it repeats.
func Why(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Look returns the current state of a path, and false if it is not a regular file.
func Look(path string) (File, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return File{}, false
	}
	return File{path, info.Size(), info.ModTime().UnixNano(), inode(info)}, true
}

// IsMissing reports whether an error says that a path does not exist, also if a file
// is in the place of a folder.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
