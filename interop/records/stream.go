package records

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/interop"
)

var limits = jsonl.Limits{Bytes: interop.MaxRecord, Depth: interop.MaxDepth}

// A ReadRecord is a record with what the format's reader made of it.
type ReadRecord struct {
	Rec  skein.Record // without Key, Events and Copy
	Line int
	Torn bool // the file ends in it; it may go on
	Made interop.Made
}

// A RecordStream is one file as it is read: from its start, or from where the last
// look at it ended.
type RecordStream struct {
	reader interop.Reader
	at     jsonl.Place  // of the next piece
	N      int          // its record
	sum    hash.Hash    // SHA-256 of the records that will not change
	Ended  int64        // bytes of these
	tail   []byte       // the last of these bytes, to check that they are still there
	last   []byte       // Body of the last record, if that can still change and was given to reader
	made   interop.Made // what reader made of it
	err    error        // or why it could not
	noted  []byte       // Body of the last record that the reader was given, if that was short and only noted; nil if not
	unread int          // bytes since a record in a run of unknown ones made an event; -1 outside of a run
}

// maxRepeated is how many bytes must pass without an event: a longer record is noted
// again if it is repeated, and in a run of unknown records at most one is noted every so
// many bytes.
const maxRepeated = 1 << 10

// NewStream returns the stream of a file's records, from the first.
func NewStream(f interop.Format, file interop.File) *RecordStream {
	return &RecordStream{reader: f.Open(file), at: jsonl.Place{Line: 1}, sum: sha256.New(), unread: -1}
}

// Run reads r, which begins at s.at, and hands each record to emit.
// The last one may come again, longer, with the next run.
//
// Errors are emit's and r's, and those of the format's reader.
func (s *RecordStream) Run(r io.Reader, emit func(ReadRecord) error) error {
	in := jsonl.Resume(r, limits, s.at)
	for {
		s.at = in.Place()
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s.N >= interop.MaxRecords {
			return fmt.Errorf("it has more than %d records; the rest is not read", interop.MaxRecords)
		}
		rd, err := s.read(in, &p)
		if err != nil {
			return err
		}
		if err := emit(rd); err != nil {
			return err
		}
		if !p.Ended {
			return nil
		}
		s.N++
		s.sum.Write(p.Raw)
		s.Ended += int64(len(p.Raw))
		s.tail = append(s.tail[:0], p.Raw[max(0, len(p.Raw)-maxTail):]...)
	}
}

// maxTail is how many bytes are checked before a file is read on.
const maxTail = 512

// read makes a record of a piece. The error ends the reading.
func (s *RecordStream) read(in *jsonl.Reader, p *jsonl.Piece) (_ ReadRecord, err error) {
	made, err := s.give(p)
	if errors.Is(err, errPanic) {
		return ReadRecord{}, err
	}
	if err != nil {
		*p = in.Reject(*p, err.Error())
		made = interop.Made{}
	}
	damage := p.Damage
	if damage == "" {
		damage = made.Damage
	}
	return ReadRecord{
		Rec:  skein.Record{N: s.N, Offset: p.Offset, Raw: p.Raw, Damage: damage},
		Line: p.Line, Torn: p.Torn, Made: made,
	}, nil
}

// give gives the reader a piece, unless the reader was given it already when the file
// ended just after it.
func (s *RecordStream) give(p *jsonl.Piece) (made interop.Made, err error) {
	defer Guard(&err)
	last := s.last
	made, err = s.made, s.err
	s.last, s.made, s.err = nil, interop.Made{}, nil
	if p.Body == nil {
		return interop.Made{}, nil
	}
	repeats := s.noted != nil && bytes.Equal(s.noted, p.Body)
	switch {
	case last != nil && bytes.Equal(last, p.Body):
	case repeats: // the event is stored already: junk by the thousand takes no more room than its bytes
		made, err = interop.Made{}, nil
	default:
		made, err = s.reader.Read(interop.Line{N: s.N, Number: p.Line, Body: p.Body, Run: s.unread >= 0 && s.unread+len(p.Body) <= maxRepeated})
	}
	if made.Unknown && len(made.Items) == 0 {
		made.Key = "" // nothing has this key
	}
	if p.Ended && err == nil && !repeats {
		s.goesOn(&made, len(p.Body))
	}
	if p.Ended && !repeats {
		s.noted = nil
		if err == nil && onlyNoted(&made) && len(p.Body) <= maxRepeated {
			s.noted = p.Body
		}
	}
	if !p.Ended {
		s.last, s.made, s.err = p.Body, made, err
	}
	return made, err
}

// goesOn adds a record of n bytes to the run of unknown records, or ends the run.
func (s *RecordStream) goesOn(m *interop.Made, n int) {
	some := len(m.Items) > 0 || len(m.Begin) > 0 || len(m.Apart) > 0
	switch {
	case m.Unknown && len(m.Items) > 0:
		s.unread = 0
	case m.Unknown && s.unread >= 0:
		s.unread += n
	case some:
		s.unread = -1
	}
}

// onlyNoted reports whether a record is just kept whole.
func onlyNoted(m *interop.Made) bool {
	return len(m.Items) == 1 && m.Items[0].Event.Kind == skein.KindNoted && len(m.Items[0].Blobs) == 0 &&
		len(m.Begin) == 0 && len(m.Apart) == 0 && m.Damage == ""
}

// Scan reads r as a file of format f and hands each record to yield, with what
// the format's reader makes of it and the keys that the reader returned. It does what
// [importer.Import] does before it asks the store.
//
// Errors are r's and yield's.
func Scan(f interop.Format, file interop.File, r io.Reader, yield func(skein.Record, interop.Made) error) error {
	return NewStream(f, file).Run(r, func(rd ReadRecord) error { return yield(rd.Rec, rd.Made) })
}
