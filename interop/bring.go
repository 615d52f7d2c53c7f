package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// A sideLine is a line of a side file's section of source records. A side file of a
// session that was read from another program's files has their records too, so that
// it can be written there again unchanged: between the head, which announces them,
// and the log, one record a line, and a line at the end.
type sideLine struct {
	File   *sideSource `json:"file,omitempty"`
	Record *sideRecord `json:"record,omitempty"`
	End    bool        `json:"end,omitempty"`
}

type sideSource struct {
	Format  string          `json:"format"`
	Path    string          `json:"path"`
	Session skein.SessionID `json:"session,omitempty"`
	ID      string          `json:"id,omitempty"`
	CopyOf  skein.SessionID `json:"copy_of,omitempty"`
	State   []byte          `json:"state,omitempty"`
}

type sideRecord struct {
	Raw    []byte         `json:"raw"`
	Key    skein.ClientID `json:"key,omitempty"`
	Events int            `json:"events,omitempty"`
	Copy   bool           `json:"copy,omitempty"`
	Damage string         `json:"damage,omitempty"`
}

// A bringer imports the files in a side file.
type bringer struct {
	ctx     context.Context
	store   skein.Store
	session skein.SessionID // the session whose files these are; others' are skipped
	file    skein.SourceFile
	known   bool // the store knows the file: no more of it is needed
	records []skein.Record
	bytes   int
}

// maxSideLine is the longest line of a record in a side file, in bytes.
const maxSideLine = MaxRecord*4/3 + 2<<20

// eachSideLine calls f with the lines up to the end of the records.
func eachSideLine(in *bufio.Reader, f func(sideLine) error) error {
	for {
		text, err := lines.Append(nil, in, maxSideLine)
		if err != nil {
			return err
		}
		var l sideLine
		if err := json.Unmarshal(text, &l); err != nil {
			return err
		}
		if l.End {
			return nil
		}
		if err := f(l); err != nil {
			return err
		}
	}
}

// take handles one line.
func (b *bringer) take(l sideLine) error {
	switch {
	case l.File != nil:
		if err := b.flush(); err != nil {
			return err
		}
		f := l.File
		b.file = skein.SourceFile{Format: f.Format, Path: f.Path, Session: f.Session, ID: f.ID, CopyOf: f.CopyOf, State: f.State}
		_, err := skein.SourcesOf(b.store).File(b.ctx, f.Format, f.Path)
		b.known = err == nil || f.Session != "" && f.Session != b.session
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
	case l.Record != nil && !b.known:
		r := skein.Record{
			N: b.file.Records, Offset: b.file.Offset, Raw: l.Record.Raw,
			Key: l.Record.Key, Events: l.Record.Events, Copy: l.Record.Copy, Damage: l.Record.Damage,
		}
		b.file.Records++
		b.file.Offset += int64(len(r.Raw))
		if r.Damage != "" {
			b.file.Damaged++
		}
		b.records = append(b.records, r)
		if b.bytes += len(r.Raw); b.bytes > chunkBytes || len(b.records) >= chunkRecords {
			return b.flush()
		}
	}
	return nil
}

// flush stores the records taken so far. The file's size and time stay unknown, so
// that if the file exists, it is looked at.
func (b *bringer) flush() error {
	if len(b.records) == 0 {
		return nil
	}
	_, err := b.store.Append(b.ctx, skein.Batch{Session: b.file.Session, Import: &skein.Import{File: b.file, Records: b.records}})
	b.records, b.bytes = nil, 0
	return err
}
