package interop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A PlacedFile is a kind of file that a format knows by its place: one of the files of a
// session's folder, a database, a log beside one. If the user names such a file where
// the program would not keep it, its content decides: it is read alone, as if it were
// in its place and nothing beside it.
type PlacedFile struct {
	Name string // what its program calls it, for people: transcript.jsonl

	// Path is where the file would be if it were the only one of a new session, with
	// slashes; each * stands for the name that the file has. Unit must know it. "" says
	// that the file holds no conversation, or is of the program that Is names: it is
	// named, and never read alone.
	Path string

	// Is says by the file's first bytes, as for Match, how sure the format is: a file
	// that is Known is read, one that is Alike is read only if the user names the format.
	Is func(head []byte) Guess
}

// placedFile returns the first format that has a placed file like this one, and the format's
// guess; nil if there is none. Known ones come before those that are only alike.
func (list formatList) placedFile(head []byte) (of *Format, m PlacedFile, g Guess) {
	if len(head) == 0 {
		return nil, m, g
	}
	for i := range list {
		for _, other := range list[i].PlacedFiles {
			if is := other.Is(head); is.Sure > g.Sure {
				of, m, g = &list[i], other, is
			}
		}
	}
	return of, m, g
}

// says returns what a file is that looks like a placed file, and how to import it.
func (m PlacedFile) says(f *Format, g Guess) string {
	text := fmt.Sprintf("it looks like %s of %s (%s)", m.Name, cmp.Or(g.Of, f.Name), g.Why)
	switch {
	case g.Of != "":
		return text + ", which no format reads"
	case m.Path == "":
		return text + ", which holds no conversation by itself: import the folder that it comes from"
	}
	return text + fmt.Sprintf("; to import it as that, name the format: --format %s", f.Name)
}

// alone returns how to read a file that the user named, and that no format knows: as a
// placed file of the formats given, and else as m. With a single format, also what is only
// alike is read, and JSON that is like nothing of that format as its first placed file.
func (pl *planner) alone(head []byte, m match) match {
	f, as, g := pl.formats.placedFile(head)
	only := len(pl.formats) == 1 && pl.opts.Named
	forced := false
	if f == nil && only && isDocument(head) {
		f = &pl.formats[0]
		_, forced = f.anyPlaced()
	}
	if !forced && (f == nil || as.Path == "" || g.Sure != Known && !only) {
		return m
	}
	g.Sure = Placed
	return match{guess: g, format: f, documents: append([]*Format{f}, m.documents...)}
}

// lone returns the placed file as which the file at path is to be read, if it is not in the
// place of one.
func (f *Format) lone(at string) (m PlacedFile, ok bool) {
	if len(f.PlacedFiles) == 0 || f.Unit != nil && f.Unit(filepath.ToSlash(plain(at))) != "" {
		return m, false
	}
	head := headAt(at)
	if len(head) == 0 || f.Document != nil && f.Document(filepath.ToSlash(at), head).Sure > No {
		return m, false
	}
	if _, m, g := (formatList{*f}).placedFile(head); g.Sure > No {
		return m, m.Path != ""
	}
	return f.anyPlaced()
}

// anyPlaced returns the placed file that a file is taken for because the user says that it
// is the format's: the first one, if the format has no other way to read a file.
func (f *Format) anyPlaced() (m PlacedFile, ok bool) {
	if len(f.PlacedFiles) == 0 || f.Match != nil || f.Document != nil {
		return m, false
	}
	return f.PlacedFiles[0], f.PlacedFiles[0].Path != ""
}

// lookLone opens the file at path as a unit of which it is the only file: a copy of it,
// in its place in a folder of its own.
func (f *Format) lookLone(ctx context.Context, at string, m PlacedFile) (Unit, error) {
	name := strings.TrimSuffix(filepath.Base(plain(at)), filepath.Ext(plain(at)))
	inside := filepath.FromSlash(strings.ReplaceAll(m.Path, "*", name))
	u, err := f.lookCopy(ctx, at, inside, func(to string) (damage, err error) {
		if _, packed := PlainName(at); packed {
			damage, err = unpackTo(ctx, to, at)
		} else {
			err = copyTo(ctx, to, at)
		}
		if err == nil {
			err = aged(to)
		}
		return damage, err
	})
	if err != nil {
		return nil, err
	}
	u.lone = true
	return u, nil
}

func isLone(u Unit) bool {
	c, ok := u.(*copiedUnit)
	return ok && c.lone
}

// copyTo copies a file, and the log of a database.
func copyTo(ctx context.Context, to, at string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		from, is, err := open(at + suffix)
		if suffix != "" && errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		out, err := os.OpenFile(to+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.Copy(out, ctxReader{ctx, from})
			err = errors.Join(err, out.Close())
		}
		when := time.Unix(0, is.mtime)
		if err = errors.Join(err, from.Close()); err == nil {
			err = os.Chtimes(to+suffix, when, when)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// aged makes a copy look as if its program were done with it: what its folder lacks
// will not come.
func aged(at string) error {
	info, err := os.Lstat(at)
	if err != nil || !IsFresh(info.ModTime().UnixNano()) {
		return err
	}
	before := info.ModTime().Add(-TornFor)
	return os.Chtimes(at, before, before)
}

// StartsWith is a PlacedFile.Is for JSON documents: it knows those that have all these texts
// near their beginning, and that begin with start.
func StartsWith(start, why string, signs ...string) func(head []byte) Guess {
	return func(head []byte) Guess {
		text, ok := bytes.CutPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte(start))
		for _, sign := range signs {
			ok = ok && bytes.Contains(text, []byte(sign))
		}
		if !ok {
			return Guess{}
		}
		return KnownBy(why)
	}
}
