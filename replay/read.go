package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
)

// A LogItem is what a line of a log holds; exactly one of Header, Event, Blob and
// Damage is set.
type LogItem struct {
	Line    int // 1 for the first
	Session skein.SessionID
	Head    *Header
	Event   *skein.Event
	StandIn string      // Event: why it is a placeholder for a damaged event; "" if it is the event itself
	Blob    *skein.Blob // a whole one, with the right hash
	Damage  string      // why the line could not be read, for people
	Torn    bool        // Damage: the file ends in this line; the rest may still come
}

// Read yields the contents of the log r, in order; what cannot be read is yielded as
// damage, and a piece of a blob yields nothing unless it is the last.
//
// It yields at most one error, last: one wrapping [skein.ErrInvalid] if r is
// not a log, [skein.ErrNewer] if it is one of a newer version, or r's own.
func Read(r io.Reader) iter.Seq2[LogItem, error] {
	return func(yield func(LogItem, error) bool) {
		in := jsonl.NewReader(r, jsonl.Limits{Bytes: maxLine, Depth: maxDepth})
		var p lineParser
		for {
			piece, err := in.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(LogItem{}, fmt.Errorf("replay: read: %w", err))
				return
			}
			it, ok, err := p.piece(in, piece)
			if err != nil {
				yield(LogItem{}, fmt.Errorf("replay: read: line %d: %w", piece.Line, err))
				return
			}
			if ok && !yield(it, nil) {
				return
			}
		}
	}
}

// A lineParser reads lines, in order.
type lineParser struct {
	head *Header
	blob []byte // the pieces so far
	of   skein.Hash
	size int64
}

func (p *lineParser) piece(in *jsonl.Reader, piece jsonl.Piece) (it LogItem, ok bool, err error) {
	switch {
	case piece.Body == nil && piece.Damage == "":
		return it, false, nil
	case piece.Body == nil || piece.Damage == "invalid UTF-8":
		if p.head == nil && !piece.Torn {
			return it, false, notALog(piece.Raw)
		}
		return LogItem{Line: piece.Line, Session: p.session(), Damage: piece.Damage, Torn: piece.Torn}, true, nil
	}
	it, ok, err = p.line(piece.Body)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && p.head != nil {
		rejected := in.Reject(piece, syntax.Error())
		it, ok, err = LogItem{Session: p.session(), Damage: rejected.Damage}, true, nil
	}
	it.Line = piece.Line
	return it, ok, err
}

func notALog(raw []byte) error {
	return fmt.Errorf("%w log: it does not begin with a head: %.40q", skein.ErrInvalid, raw)
}

func (p *lineParser) session() skein.SessionID {
	if p.head == nil {
		return ""
	}
	return p.head.Session
}

// line reads a line; ok is false if there is nothing to yield yet. The error is
// a *json.SyntaxError, ErrNewer, or before the first head ErrInvalid.
func (p *lineParser) line(b []byte) (it LogItem, ok bool, err error) {
	var o anyLine
	if err := json.Unmarshal(b, &o); err != nil {
		var syntax *json.SyntaxError
		switch {
		case p.head == nil:
			return it, false, notALog(b)
		case errors.As(err, &syntax):
			return it, false, err
		}
		return LogItem{Session: p.session(), Damage: err.Error()}, true, nil
	}
	switch {
	case o.Skein != nil:
		return p.begin(&o)
	case p.head == nil:
		return it, false, notALog(b)
	case o.Blob != nil:
		it, ok = p.blobPiece(&o)
	case o.Seq != nil:
		it, ok = event(&o), true
	default:
		it, ok = LogItem{Damage: fmt.Sprintf("neither head, event nor blob: %.40q", b)}, true
	}
	it.Session = p.session()
	return it, ok, nil
}

func (p *lineParser) begin(o *anyLine) (it LogItem, ok bool, err error) {
	if *o.Skein != name {
		return it, false, fmt.Errorf("%w log: a head of %q, want %q", skein.ErrInvalid, *o.Skein, name)
	}
	if o.Version > version {
		return it, false, fmt.Errorf("log of version %d, this program reads up to %d: %w", o.Version, version, skein.ErrNewer)
	}
	h := &Header{Session: o.Session, First: o.First, Last: o.Last, For: o.For}
	p.head, p.blob, p.of = h, nil, ""
	return LogItem{Session: h.Session, Head: h}, true, nil
}

func event(o *anyLine) LogItem {
	e := &skein.Event{Seq: *o.Seq, Time: o.Time, Kind: o.Kind, ClientID: o.ClientID, Payload: o.Payload}
	if o.Payload64 != nil {
		e.Payload = o.Payload64
	}
	if len(e.Payload) == 0 || e.Kind == "" {
		return LogItem{Damage: fmt.Sprintf("event %d has no payload or no kind", e.Seq)}
	}
	return LogItem{Event: e, StandIn: o.Damaged}
}

func (p *lineParser) blobPiece(o *anyLine) (it LogItem, ok bool) {
	if o.At == 0 {
		p.of, p.size, p.blob = *o.Blob, o.Size, nil
	}
	switch {
	case p.of != *o.Blob || p.size != o.Size || o.At != int64(len(p.blob)):
		it.Damage = fmt.Sprintf("blob %.64s: a piece at %d of %d that follows nothing", *o.Blob, o.At, o.Size)
	case o.Size > MaxBlob || o.At+int64(len(o.Data)) > o.Size:
		it.Damage = fmt.Sprintf("blob %.64s: a piece of %d bytes at %d of %d", *o.Blob, len(o.Data), o.At, o.Size)
	default:
		p.blob = append(p.blob, o.Data...)
		if int64(len(p.blob)) < o.Size {
			return it, false
		}
		b := skein.NewBlob(p.blob)
		if b.Hash == p.of {
			it.Blob = &b
		} else {
			it.Damage = fmt.Sprintf("blob %.64s: its bytes have another hash", p.of)
		}
	}
	p.blob, p.of = nil, ""
	return it, true
}
