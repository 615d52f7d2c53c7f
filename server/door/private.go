package door

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// private is a file that only its owner may read, and that other processes also
// change, by replacing it.
type private struct {
	path string
	seen fileVersion
}

// fileVersion identifies the version of a file that was read.
type fileVersion struct {
	info fs.FileInfo // nil: it was never read
	size int64
	time int64
}

// read returns the text of the file, and what to put into seen once the text
// turned out to be valid; nil if the file has not changed.
func (p *private) read() (text []byte, now fileVersion, err error) {
	for {
		info, err := os.Lstat(p.path)
		if err != nil {
			return nil, now, err
		}
		now = fileVersion{info, info.Size(), info.ModTime().UnixNano()}
		if p.seen.info != nil && now.size == p.seen.size && now.time == p.seen.time && os.SameFile(info, p.seen.info) {
			return nil, now, nil
		}
		if err := p.check(info); err != nil {
			return nil, now, err
		}
		text, same, err := p.readSame(info)
		if err != nil || same {
			return text, now, err
		}
		// Another process has replaced it since: it got on, so this is no endless loop.
	}
}

// check refuses what others may read or change.
func (p *private) check(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("a symbolic link, whose target others may change: put the file itself there")
	case !info.Mode().IsRegular():
		return fmt.Errorf("not a regular file (mode %v): move it away", info.Mode())
	case os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can read it (mode %v): chmod 600 %s", info.Mode().Perm(), p.path)
	}
	return nil
}

// readSame reads the file if it is still the one that was checked.
func (p *private) readSame(checked fs.FileInfo) (text []byte, same bool, err error) {
	f, err := os.Open(p.path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, err := f.Stat()
	if err != nil || !os.SameFile(opened, checked) {
		return nil, false, err
	}
	text, err = io.ReadAll(f)
	return append([]byte{}, text...), true, err
}

// writeNew writes a new file beside it, and returns the path.
func (p *private) writeNew(text []byte) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(p.path), "."+filepath.Base(p.path)+"-*") // 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// replace replaces the file with one that has that text.
func (p *private) replace(text []byte) error {
	temp, err := p.writeNew(text)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, p.path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	p.seen = fileVersion{} // two files of one size, written in one tick of the clock, may look alike
	return nil
}
