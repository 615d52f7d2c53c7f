package sessionlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// A lineKeeper makes the lines of a session's events, one after the other. From the first
// event that is damaged in the store on, it keeps the lines that the log has: the log may
// be the only place that still has the text, and later lines repeat some of it.
type lineKeeper struct {
	*Encoder
	old  *oldLines
	hurt bool // an event was damaged
}

// newKeeper returns a lineKeeper of the lines of s. old is the log, or the end of it.
func newKeeper(s skein.Session, old io.Reader) *lineKeeper {
	return &lineKeeper{Encoder: NewLines(s.ID, s.Revision), old: &oldLines{in: bufio.NewReader(old), of: s}}
}

// add appends the lines of e to b. The error is that of reading the log.
func (k *lineKeeper) add(b []byte, e skein.Event) ([]byte, error) {
	damaged := e.IsPlaceholder()
	k.hurt = k.hurt || damaged
	if !k.hurt {
		return k.Append(b, e), nil
	}
	old, err := k.old.at(e.Seq)
	if err != nil {
		return nil, err
	}
	if damaged && (len(old) > 0 || k.old.line != nil) { // without lines before those of a later event, it made none
		k.follow(old)
		return append(b, old...), nil
	}
	if made := k.Append(nil, e); bytes.HasPrefix(made, old) { // the log may end in the middle of its lines
		return append(b, made...), nil
	}
	return append(b, old...), nil
}

// follow makes l continue after lines that it did not make.
func (l *Encoder) follow(old []byte) {
	for line := range bytes.Lines(old) {
		var is prompt
		if json.Unmarshal(line, &is) != nil {
			continue // what else it may say is of no use for other lines
		}
		switch is.Event {
		case "execution:start":
			l.busy = true
		case "execution:end":
			l.busy = false
		case "session:start", "session:fork", "session:config", "prompt:submit":
			l.agent = cmp.Or(is.Data.Agent, l.agent)
		}
	}
}

// oldLines are the lines of a log, which are in the order of their events.
type oldLines struct {
	in   *bufio.Reader
	of   skein.Session
	line []byte    // read, but not yet asked for
	seq  skein.Seq // its event
}

// at returns the complete lines of the event at seq, which must be later than the one
// before. The error is that of reading.
func (o *oldLines) at(seq skein.Seq) (all []byte, err error) {
	for {
		if o.line == nil {
			if err := o.next(); errors.Is(err, io.EOF) {
				return all, nil
			} else if err != nil {
				return nil, err
			}
		}
		if o.seq > seq {
			return all, nil
		}
		if o.seq == seq {
			all = append(all, o.line...)
		}
		o.line = nil
	}
}

// next reads the next complete line of the session. The error is that of reading, or
// [io.EOF] after the last.
func (o *oldLines) next() error {
	for {
		line, err := lines.Append(nil, o.in, math.MaxInt)
		if err != nil {
			return err
		}
		var head struct {
			Session  skein.SessionID `json:"session_id"`
			Seq      skein.Seq       `json:"seq"`
			Revision int             `json:"revision"`
		}
		if json.Unmarshal(line, &head) == nil && head.Session == o.of.ID && head.Revision == o.of.Revision {
			o.line, o.seq = line, head.Seq
			return nil
		}
	}
}
