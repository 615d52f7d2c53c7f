package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/skein-dev/skein"
)

// intent returns what a sync was about to write to the source when it was interrupted;
// nil if the store knows what was written.
func (y *syncer) intent() *intent { return decodeState(y.from.file.State).Intent }

// saveIntent stores what is about to be written, or with nil that nothing is.
func (y *syncer) saveIntent(ctx context.Context, in *intent) error {
	f, err := skein.SourcesOf(y.store.Store).File(ctx, y.format.Name, y.from.file.Path)
	if err != nil {
		return err
	}
	s := decodeState(f.State)
	if y.from.file = f; s.Intent.same(in) {
		return nil
	}
	if s.Intent = in; in != nil && !y.format.inUnit(f) {
		info, err := os.Stat(y.unit)
		if err != nil {
			return err
		}
		in.Size = info.Size()
	}
	f.State = s.encode()
	if _, err := y.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}}); err != nil {
		return err
	}
	y.from.file = f
	return nil
}

// forget forgets what was about to be written, if nothing of it was written.
func (y *syncer) forget(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if same, err := y.stands(ctx); !same || err != nil {
		return nil //nolint:nilerr // the next sync looks again
	}
	return y.saveIntent(ctx, nil)
}

// An adoption is what is known about a source whose writing has just ended.
type adoption struct {
	echoes echoes
	intent *intent // what is left of the intent
}

// adopt reads what was written again, as records of events that the session has.
func (y *syncer) adopt(ctx context.Context) error {
	in := y.intent()
	if in == nil || in.There {
		return nil
	}
	f, err := y.looks(ctx, in)
	if err != nil {
		return err
	}
	has, err := y.hasSide()
	if err != nil {
		return err
	}
	a := adoption{echoes: f.echoes.upTo(in.Last)}
	if has {
		a.intent = in.there()
	}
	return y.adoptAs(ctx, a)
}

// there returns what is left of an intent when the store knows its lines.
func (in *intent) there() *intent {
	return &intent{Last: in.Last, Events: in.Events, Losses: in.Losses, There: true, Texts: in.Texts, bytes: in.bytes}
}

// looks looks for what was written in the source.
func (y *syncer) looks(ctx context.Context, in *intent) (found, error) {
	unit := y.format.inUnit(y.from.file)
	st := newStream(y.format, File{Path: y.unit, Name: y.name, Unit: unit, Beside: func(string) ([]byte, bool) { return nil, false }})
	return findWritten(ctx, y.store, y.from.file, unit, y.from.echoes, in, func(take func(read) error) error {
		return y.lines(ctx, func(r io.Reader) error { return st.run(r, take) })
	})
}

// adoptAs imports the source, given what is known about it.
func (y *syncer) adoptAs(ctx context.Context, a adoption) error {
	_, err := y.read(ctx, &Report{}, &a)
	return err
}

// goOn completes what a sync that was killed has begun. What it had not begun to
// write is forgotten: it is written as if for the first time.
func (y *syncer) goOn(ctx context.Context, done *Synced) error {
	in := y.intent()
	if !in.There {
		f, err := y.looks(ctx, in)
		if err != nil {
			return err
		}
		if !f.some && !y.begun(in) {
			return errors.Join(y.saveIntent(ctx, nil), y.again(ctx))
		}
	}
	err := y.locked(ctx, func() error { return y.ends(ctx, in, done) })
	return errors.Join(err, y.again(ctx))
}

// ends writes what is missing of what was to be written.
func (y *syncer) ends(ctx context.Context, in *intent, done *Synced) error {
	x := &exporter{store: y.store, format: y.format, home: y.home, spots: map[skein.SessionID]Spot{}}
	texts := in.texts()
	if !in.There {
		var err error
		if !y.format.inUnit(y.from.file) {
			err = y.appendRest(in, texts)
		} else if len(texts) > 0 {
			err = y.putUnit(ctx, x, texts)
		}
		if err != nil && !errors.Is(err, ErrChanged) { // its program went on meanwhile: its content counts
			return err
		}
	}
	f, err := y.looks(ctx, in)
	if err != nil {
		return err
	}
	if in.There || f.whole {
		done.Events, done.Losses = in.Events, in.Losses
		return y.end(ctx, x, texts)
	}
	if err := y.adoptAs(ctx, adoption{echoes: f.echoes}); err != nil {
		return err
	}
	return y.saveIntent(ctx, nil)
}

// begun reports whether a file of lines ends in a part of the first line that
// was to be written.
func (y *syncer) begun(in *intent) bool {
	if y.format.inUnit(y.from.file) {
		return false
	}
	there, err := y.behind(in)
	return err == nil && len(there) > 0 && bytes.HasPrefix(y.own(in.texts()), bytes.TrimPrefix(there, []byte("\n")))
}

// behind returns what follows the earlier content in a file of lines.
func (y *syncer) behind(in *intent) (_ []byte, err error) {
	f, _, err := open(y.unit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(in.Size, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxState))
}

// own returns the lines of the source itself.
func (y *syncer) own(texts []Text) (b []byte) {
	for _, t := range texts {
		if t.Path == y.below && t.Name == y.name {
			b = t.bytes()
		}
	}
	return b
}

// appendRest completes a line of which a file has only the beginning.
func (y *syncer) appendRest(in *intent, texts []Text) error {
	there, err := y.behind(in)
	if err != nil {
		return err
	}
	whole := y.own(texts)
	if len(there) > 0 && there[0] == '\n' { // the line before had no end
		in.Size++
		there = there[1:]
	}
	if len(there) >= len(whole) || !bytes.HasPrefix(whole, there) {
		return nil
	}
	return appendFile(y.unit, in.Size+int64(len(there)), whole[len(there):])
}
