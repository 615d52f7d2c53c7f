package cline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A task is a folder whose documents are split into their messages.
type task struct {
	tree  *folder.Tree
	path  string
	lines []byte
}

// look opens the folder of a task. The error wraps [interop.ErrTorn] while it is
// being written, and the file that identifies it is still missing.
func look(ctx context.Context, at string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "folder %s", at)
	unit := filepath.ToSlash(at)
	t, err := folder.Open(ctx, at, func(name string) bool { return !part(unit, name) })
	if err != nil {
		return nil, err
	}
	for _, name := range heads(unit) {
		if err := interop.Await(t.Files, name); err != nil {
			return nil, closed(t, err)
		}
	}
	u := &task{tree: t, path: at}
	if err := u.read(); err != nil {
		return nil, closed(t, err)
	}
	return u, nil
}

// heads returns the files that every folder of this program eventually has and that
// describe the session: a task's folder is in its messages to the model.
func heads(unit string) []string {
	switch {
	case path.Base(path.Dir(unit)) == "sessions":
		return []string{path.Base(unit) + ".json"}
	case agentOf(unit) == rooCode:
		return []string{itemName, apiName}
	}
	return []string{apiName}
}

func closed(t *folder.Tree, err error) error {
	if cerr := t.Close(); cerr != nil {
		return fmt.Errorf("%w; %w", err, cerr)
	}
	return err
}

// A document is a file that is split into pieces.
type document struct {
	file   folder.File
	pieces [][]byte
	next   int // piece that has no line yet
}

// read makes the lines: small files first, then the messages in the order in which
// they were made, so that what is new comes last, then the rest of the files.
func (u *task) read() error {
	var docs []*document
	for _, f := range u.tree.Files {
		line, err := io.ReadAll(u.tree.Lines([]folder.File{f}, nil))
		if err != nil {
			return err
		}
		l, err := folder.Parse(line)
		if err != nil || l.Damage != "" || !cutUp(f.Name) {
			u.lines = append(u.lines, line...) // a file that is gone has no lines
			continue
		}
		data := l.Data()
		pieces, whole := loose.Cut(data, arrayOf(data))
		if !whole && interop.IsFresh(f.Mtime) {
			return interop.ErrTorn
		}
		docs = append(docs, &document{file: f, pieces: pieces})
	}
	u.merge(docs)
	for _, d := range docs {
		u.lines = folder.End(d.file, d.next).Append(u.lines)
	}
	dirs, err := io.ReadAll(u.tree.Dirs())
	u.lines = append(u.lines, dirs...)
	return err
}

// cutUp reports whether a file is a list of messages.
func cutUp(name string) bool {
	return name == apiName || name == uiName || name == oldName || strings.HasSuffix(name, messagesEnd)
}

// arrayOf returns the member that has the messages, "" if the document is
// their array.
func arrayOf(data []byte) string {
	if data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); len(data) > 0 && data[0] == '{' {
		return "messages"
	}
	return ""
}

// merge appends the pieces: each one that is shown comes after the message to the
// model that it names as the last, or that has the same time.
func (u *task) merge(docs []*document) {
	api := slices.IndexFunc(docs, func(d *document) bool { return d.file.Name == apiName })
	ui := slices.IndexFunc(docs, func(d *document) bool { return d.file.Name == uiName || d.file.Name == oldName })
	if api >= 0 && ui >= 0 {
		u.weave(docs[api], docs[ui])
	}
	for _, d := range docs {
		for d.next < len(d.pieces) {
			u.line(d)
		}
	}
}

// line appends the line of a document's next piece.
func (u *task) line(d *document) {
	u.lines = folder.Piece(d.file.Name, d.next, d.pieces[d.next]).Append(u.lines)
	d.next++
}

// weave appends what is shown after what the model was sent.
func (u *task) weave(api, ui *document) {
	for range 2 { // what is before the first message, and that message
		if api.next < len(api.pieces) {
			u.line(api)
		}
	}
	told := 0 // index of the last message to the model that has a line
	for ui.next < len(ui.pieces) {
		o, err := loose.Parse(loose.Element(ui.pieces[ui.next]))
		if err == nil {
			ts := loose.Millis(o.Get("ts"))
			index, known := loose.Number(o.Get("conversationHistoryIndex"))
			for api.next < len(api.pieces) && (known && float64(told) < index || !known && ts != 0 && older(api.pieces[api.next], ts)) {
				u.line(api)
				told++
			}
		}
		u.line(ui)
	}
}

// older reports whether a message to the model came before a time.
func older(piece []byte, ts skein.Time) bool {
	o, err := loose.Parse(loose.Element(piece))
	at := loose.Millis(o.Get("ts"))
	return err == nil && at != 0 && at < ts
}

// Sources implements [interop.Unit]; there are no errors.
func (u *task) Sources(context.Context) ([]interop.Source, error) {
	return []interop.Source{{Size: int64(len(u.lines))}}, nil
}

// Open implements [interop.Unit]; the error says that there is no such source.
func (u *task) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != "" {
		return nil, fmt.Errorf("folder %s has no source %q", u.path, name)
	}
	return io.NopCloser(bytes.NewReader(u.lines)), nil
}

// Skips implements [interop.Unit].
func (u *task) Skips() (all []interop.Skip) {
	for _, s := range u.tree.Skips {
		all = append(all, interop.Skip{Path: filepath.Join(u.path, filepath.FromSlash(s.Name)), Why: s.Why})
	}
	return all
}

// Close implements [interop.Unit]; errors are the system's.
func (u *task) Close() error { return u.tree.Close() }
