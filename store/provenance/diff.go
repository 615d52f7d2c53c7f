package provenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
)

// A FileDiff is what a session did to a file.
type FileDiff struct {
	Path    string // relative to the root
	Was, Is edits.File
	Left    int  // edits that are left out, because what they replace was not there
	Whole   bool // the session wrote it as a whole: lines that others had not committed may have been there before
}

// A TakenBack says that what a session did to files was taken back: from a turn on, up to
// the event that was its last one then.
type TakenBack struct {
	Turn int       `json:"turn"`
	Last skein.Seq `json:"last"`
}

func (b TakenBack) has(w *Write) bool { return w.Turn >= b.Turn && w.Seq <= b.Last }

// Diff returns what session x did to the files of the repository, as its calls tell: in
// the turns from first to last; 0 is no bound. A file begins as it was in the commit that
// was checked out when the session began, or, if that is not known, in the newest one
// then. If others changed a file in between, it is there twice: up to then, and after
// that, from the newest commit on. What was taken back does not count. The error is Git's
// or the store's.
func (t *Tracer) Diff(ctx context.Context, x *skein.Session, first, last int, back ...TakenBack) ([]FileDiff, error) {
	base := x.Checkout.Commit
	if whole, _, err := t.ancestry.Find(base); err != nil || whole == "" {
		if err != nil {
			return nil, err
		}
		if base, err = t.Tree.At(ctx, x.Created); err != nil {
			return nil, err
		}
	}
	writes, err := t.writes(ctx, skein.Query{Session: x.ID, Role: skein.RoleAssistant})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(writes, func(a, b Write) int { return int(a.Seq - b.Seq) })
	d := differ{Tracer: t, base: base, first: first, last: last, at: map[string]int{}}
	for i := range writes {
		if slices.ContainsFunc(back, func(b TakenBack) bool { return b.has(&writes[i]) }) {
			continue
		}
		if err := d.add(ctx, x, &writes[i]); err != nil {
			return nil, err
		}
	}
	d.all = slices.DeleteFunc(d.all, func(f FileDiff) bool { return f.Was == f.Is && f.Left == 0 })
	return d.all, nil
}

// A differ applies the edits of a session, one after the other.
type differ struct {
	*Tracer
	base        string // commit that files begin as
	first, last int
	at          map[string]int // indexes of all, by path
	all         []FileDiff
}

// add applies one edit.
func (d *differ) add(ctx context.Context, x *skein.Session, w *Write) error {
	name := d.inside(x, &w.Edit, w.Edit.Path)
	if name == "" || d.last > 0 && w.Turn > d.last {
		return nil
	}
	if ok, err := d.succeeded(ctx, w); err != nil || !ok {
		return err
	}
	f, err := d.file(ctx, name)
	if err != nil {
		return err
	}
	if from := d.inside(x, &w.Edit, w.Edit.From); from != "" {
		if _, err := d.file(ctx, from); err != nil {
			return err
		}
		f = &d.all[d.at[name]] // all may have grown
		old := &d.all[d.at[from]]
		d.write(f, w, old.Is)
		if !w.Edit.Copied {
			d.write(old, w, edits.File{})
		}
	}
	if w.Edit.Whole && w.Turn >= d.first {
		f.Whole = true
	}
	is, ok := applied(w, f.Is)
	if !ok {
		if f, is, ok, err = d.again(ctx, name, w); err != nil {
			return err
		}
	}
	switch {
	case ok:
		d.write(f, w, is)
	case w.Turn >= d.first:
		f.Left++
	}
	return nil
}

// again begins a file anew as it is in the newest commit before a write that does not
// fit: others have changed it since the session began. It reports whether the write fits
// then, and returns what it makes of the file.
func (d *differ) again(ctx context.Context, name string, w *Write) (f *FileDiff, is edits.File, ok bool, err error) {
	f = &d.all[d.at[name]]
	hash, err := d.Tree.At(ctx, w.Time)
	if err != nil {
		return f, is, false, err
	}
	was, err := d.content(ctx, hash, name)
	if err != nil || was.Mode == "" {
		return f, is, false, err
	}
	if is, ok = applied(w, was); !ok {
		return f, is, false, nil
	}
	d.at[name], d.all = len(d.all), append(d.all, FileDiff{Path: name, Was: was, Is: was})
	return &d.all[d.at[name]], is, true, nil
}

// applied returns what a write makes of a file, and reports whether it fits.
func applied(w *Write, f edits.File) (edits.File, bool) {
	text, ok := w.Edit.Apply(f.Text)
	if w.Edit.Deleted {
		return edits.File{}, ok
	}
	return edits.File{Mode: cmp.Or(f.Mode, edits.NewFileMode), Text: text}, ok
}

// content returns a file as it is in a commit.
func (d *differ) content(ctx context.Context, hash, name string) (edits.File, error) {
	mode, text, err := d.Tree.Content(ctx, hash, name)
	return edits.File{Mode: mode, Text: text}, err
}

// write makes a file another. What was done before the turn in question is not a
// change.
func (d *differ) write(f *FileDiff, w *Write, is edits.File) {
	f.Is = is
	if w.Turn < d.first {
		f.Was = is
	}
}

// file returns a file as it is by now.
func (d *differ) file(ctx context.Context, name string) (*FileDiff, error) {
	i, known := d.at[name]
	if !known {
		f, err := d.content(ctx, d.base, name)
		if err != nil {
			return nil, err
		}
		i = len(d.all)
		d.at[name], d.all = i, append(d.all, FileDiff{Path: name, Was: f, Is: f})
	}
	return &d.all[i], nil
}

// Patch returns the difference as git diff prints it; "" if there is none.
func (f *FileDiff) Patch() string { return edits.Unified(f.Path, f.Was, f.Is) }

// ErrUnclear says that changes cannot be taken back for certain.
var ErrUnclear = errors.New("what to take back is not clear")

// Backward returns the patch that takes the changes back; "" if there are none. It
// changes nothing, but makes sure that the patch applies. The error is Git's, and says
// what does not fit because it has changed since, or wraps [ErrUnclear] if edits
// were left out, or if it is not clear which lines of a file to take back.
func (t *Tracer) Backward(ctx context.Context, changes []FileDiff) (patch string, err error) {
	var b strings.Builder
	now := map[string]string{} // texts, as far as they are taken back
	for _, f := range slices.Backward(changes) {
		if f.Left > 0 {
			return "", fmt.Errorf("%s: %w: %d of its edits cannot be worked out", f.Path, ErrUnclear, f.Left)
		}
		back := edits.Unified(f.Path, f.Is, f.Was)
		b.WriteString(back)
		text, known := now[f.Path]
		if !known {
			file, err := os.ReadFile(filepath.Join(t.Tree.Root, filepath.FromSlash(f.Path)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
			text = string(file)
		}
		for _, e := range edits.Patch(back) {
			is, fits, sure := e.ApplyPatch(text)
			if fits && !sure {
				return "", fmt.Errorf("%s: %w: the lines have moved, and are there more than once", f.Path, ErrUnclear)
			}
			now[f.Path] = is
		}
	}
	if patch = b.String(); patch != "" {
		err = t.Tree.Apply(ctx, patch, "--check")
	}
	return patch, err
}

// Undo takes back what applying a patch did, all or none. The error is Git's, and says
// what does not fit.
func (t *Tracer) Undo(ctx context.Context, patch string) error {
	return t.Tree.Apply(ctx, patch, "--reverse")
}
