package imports

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/server/upload"
)

// A SentFile is a file that a browser sends.
type SentFile struct {
	Name string // with its folders, if they were sent
	Body io.Reader
}

// Take stores the files that next returns until it returns [io.EOF], and then imports them
// in the background. A file or archive that cannot be stored because of what it is or is
// called is refused, and the others are imported.
//
// The error wraps [skein.ErrLocked] if an import is running, [skein.ErrClosed], or is that
// of next or of storing a file; then nothing is imported.
func (i *Imports) Take(next func() (SentFile, error)) error {
	dir, err := os.MkdirTemp("", "skein-import-*") // only the owner may read it
	if err != nil {
		return err
	}
	ctx, err := i.claim(RunStatus{Kind: Files, within: dir})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	in := incomingFolder{dir: dir}
	if err := in.receive(next); err != nil {
		i.release(false, interop.Report{}, nil)
		return errors.Join(err, os.RemoveAll(dir))
	}
	i.mu.Lock()
	i.status.Refused = in.refused
	i.mu.Unlock()
	store := upload.Store(i.Store, dir, upload.Name(in.sum()))
	i.run(ctx, store, in.paths(), interop.Options{Named: true}, func() error { return os.RemoveAll(dir) })
	return nil
}

// An incoming folder holds the files that a browser sends.
type incomingFolder struct {
	dir     string
	hashed  []byte
	alone   []string // paths of the files that were sent without a folder
	own     int      // folders of archives, and of files whose name was taken
	refused []RejectedFile
}

// paths returns what to import. A file that was sent by itself was named by the person,
// who wants to know if it yields nothing.
func (in *incomingFolder) paths() []string { return append(in.alone, in.dir) }

func (in *incomingFolder) sum() []byte {
	sum := sha256.Sum256(in.hashed)
	return sum[:]
}

func (in *incomingFolder) receive(next func() (SentFile, error)) error {
	for {
		sent, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = in.put(sent)
		if !errors.Is(err, skein.ErrInvalid) {
			if err != nil {
				return err
			}
			continue
		}
		in.refused = append(in.refused, RejectedFile{sent.Name, err.Error()})
	}
}

// put stores one file. An archive gets a folder of its own, and so does a file whose
// name is taken.
func (in *incomingFolder) put(sent SentFile) error {
	to := in.dir
	_, err := os.Lstat(filepath.Join(in.dir, filepath.Base(sent.Name)))
	if archive := upload.IsArchive(sent.Name); archive || !errors.Is(err, fs.ErrNotExist) {
		in.own++
		to = filepath.Join(in.dir, strconv.Itoa(in.own))
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
	}
	sum := sha256.New()
	err = upload.Unpack(to, sent.Name, io.TeeReader(sent.Body, sum))
	if err != nil {
		if to != in.dir {
			err = errors.Join(err, os.RemoveAll(to))
		}
		return err
	}
	in.hashed = sum.Sum(in.hashed)
	if !strings.ContainsAny(sent.Name, `/\`) && !upload.IsArchive(sent.Name) {
		in.alone = append(in.alone, filepath.Join(to, sent.Name))
	}
	return nil
}

// samplesAre is the name under which the store has the files of the samples.
const samplesAre = "sample:examples"

// Try imports the sample sessions, also if they were removed.
//
// The error wraps [skein.ErrLocked] if an import is running, [skein.ErrNotFound] if there
// are no samples, or says why they cannot be written to a folder.
func (i *Imports) Try() error {
	if i.Samples == nil {
		return skein.ErrNotFound
	}
	dir, err := os.MkdirTemp("", "skein-samples-*")
	if err != nil {
		return err
	}
	ctx, err := i.claim(RunStatus{Kind: Samples, within: dir})
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := os.CopyFS(dir, i.Samples); err != nil {
		i.release(false, interop.Report{}, nil)
		return errors.Join(err, os.RemoveAll(dir))
	}
	i.run(ctx, upload.Store(i.Store, dir, samplesAre), []string{dir}, interop.Options{Again: true}, func() error { return os.RemoveAll(dir) })
	return nil
}

// Tried returns the sample sessions that the store has.
//
// The error is the store's.
func (i *Imports) Tried(ctx context.Context) (all []skein.Session, err error) {
	if i.Samples == nil {
		return nil, nil
	}
	sources := skein.SourcesOf(i.Store)
	err = fs.WalkDir(i.Samples, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, f := range i.Formats {
			file, err := sources.File(ctx, f.Name, samplesAre+"/"+path)
			if errors.Is(err, skein.ErrNotFound) || err == nil && file.Session == "" {
				continue
			}
			if err != nil {
				return err
			}
			one, err := i.Store.Session(ctx, file.Session)
			switch {
			case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrDeleted):
			case err != nil:
				return err
			case one.Origin != nil && strings.HasPrefix(one.Origin.Path, samplesAre+"/"):
				all = append(all, one)
			}
		}
		return nil
	})
	return all, err
}

// Remove destroys the sample sessions, and returns how many there were.
//
// The error is the store's.
func (i *Imports) Remove(ctx context.Context) (n int, err error) {
	all, err := i.Tried(ctx)
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		_, err := skein.LifecycleOf(i.Store).Delete(ctx, one.ID, skein.Deletion{})
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
			continue
		}
		if err == nil && i.Purged != nil {
			err = i.Purged(one)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
