package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A lineMark is in the config of a fork that Send made of a session's line.
type lineMark struct {
	Line *struct {
		Of    skein.SessionID `json:"of"`    // whose line it is, in the store that it came from
		After skein.Seq       `json:"after"` // where the lines diverge
	} `json:"skein_line,omitempty"`
}

// marked reports whether config has a mark of Send's.
func marked(config []byte) bool {
	var m lineMark
	return json.Unmarshal(config, &m) == nil && m.Line != nil
}

// A relocation is where a line goes while it is sent: its events after seq from go to
// session to, at their seq plus shift.
type relocation struct {
	to    skein.SessionID
	from  skein.Seq
	shift skein.Seq
	first *skein.Event    // if the session is new, the event that begins it; nil: the event after from does
	own   skein.SessionID // the session that to is a name of, if that is a whole one's; see name
}

// line sends what x has of its own, under its own ID or one that is not taken.
func (s *sender) line(ctx context.Context, x skein.Session, out *Sent) error {
	for {
		err := s.lineOnce(ctx, x, out)
		if !errors.Is(err, errTaken) || s.taken[out.To] {
			return err
		}
		s.taken[out.To] = true
	}
}

func (s *sender) lineOnce(ctx context.Context, x skein.Session, out *Sent) error {
	*out = Sent{Session: x.ID, To: x.ID, What: Same, Events: out.Events, Damaged: out.Damaged}
	r, b, after := eventMap(nil), relocation{to: x.ID}, x.Base
	if x.Base > 0 {
		parent, err := s.parentOf(ctx, x)
		if err != nil {
			return err
		}
		p, _ := parent.at(x.Base)
		r, b.from, b.shift = parent.upto(x.Base), x.Base, p.Seq-x.Base
		own, ok, err := s.ownLine(ctx, x, p)
		if err != nil {
			return err
		}
		if ok {
			b = own
		} else if b.own, b.to, err = s.name(ctx, x, r, b); err != nil {
			return err
		}
	} else {
		var err error
		if b.own, b.to, err = s.name(ctx, x, nil, b); err != nil {
			return err
		}
	}
	for {
		r = append(r, stretch{after: after, to: b.to, shift: b.shift})
		s.routes[x.ID] = r // sessions that it started are sent before its end
		out.To = b.to
		next, err := s.stretch(ctx, x, r, b, out)
		if err != nil {
			return err
		}
		if next == nil {
			if out.What == Forked && out.Events == 0 {
				out.What = Same // the fork has all of it
			}
			return nil
		}
		b, after = *next, next.from
	}
}

// parentOf returns where the events that the fork x shows of its parent are. A parent
// that was deleted may still exist in the second store.
func (s *sender) parentOf(ctx context.Context, x skein.Session) (eventMap, error) {
	id := x.Parent.Session
	if r := s.routes[id]; r != nil {
		return r, nil
	}
	s.routes[id] = eventMap{{to: id}}
	if is, there, err := s.at(ctx, x.ID); err != nil {
		return nil, err
	} else if there && is.Parent != nil && is.Base > 0 {
		return eventMap{{to: is.Parent.Session, shift: is.Base - x.Base}}, nil
	}
	is, there, err := s.at(ctx, id)
	if err == nil && there && is.Last >= x.Base {
		like, err := s.like(ctx, x, s.routes[id], relocation{to: id}, x.Base)
		if err != nil || like != unlike {
			return s.routes[id], err
		}
	}
	if err == nil {
		delete(s.routes, id)
		if why := s.failed[id]; why != nil {
			return nil, fmt.Errorf("session %s: its parent %s was not sent: %w", x.ID, id, why)
		}
		why := skein.ErrNotFound
		if s.gone[id] {
			why = skein.ErrDeleted
		}
		err = fmt.Errorf("session %s: its parent %s no longer exists: %w", x.ID, id, why)
	}
	return nil, err
}

// ownLine determines whether x is a fork that Send made of the line that the second
// store's session has, which diverges at p; then it continues there.
func (s *sender) ownLine(ctx context.Context, x skein.Session, p skein.Place) (b relocation, ok bool, err error) {
	e, err := at(ctx, s.from, x.ID, x.Base+1)
	if err != nil {
		return b, false, err
	}
	c, err := skein.Decode[skein.Created](e)
	if err != nil {
		return b, false, err
	}
	if !marked(c.Config) || x.Last < x.Base+2 {
		return b, false, nil
	}
	is, there, err := s.at(ctx, p.Session)
	if err != nil || !there || is.Last <= p.Seq {
		return b, false, err
	}
	b = relocation{to: p.Session, from: x.Base + 1, shift: p.Seq - x.Base - 1}
	parent, err := s.parentOf(ctx, x)
	if err != nil {
		return b, false, err
	}
	r := append(parent.upto(x.Base), stretch{after: x.Base, to: b.to, shift: b.shift})
	like, err := s.like(ctx, x, r, b, x.Base+2)
	return b, like != unlike, err
}

// stretch sends the events of x that b covers. If the second store's session
// went on by itself, it returns where they go instead.
func (s *sender) stretch(ctx context.Context, x skein.Session, r eventMap, b relocation, out *Sent) (*relocation, error) {
	is, there, err := s.at(ctx, b.to)
	if err != nil {
		return nil, err
	}
	if !there {
		if out.What != Forked {
			out.What = New
		}
		return nil, s.put(ctx, x, r, b, b.from, skein.Fresh, out)
	}
	if s.unchanged(x, is, b) {
		return nil, nil
	}
	b.first = nil // the fork of this name was made of the same line, from the same place on
	common, err := s.common(ctx, x, r, b, is, out)
	if err != nil {
		return nil, err
	}
	switch {
	case common+b.shift == is.Last && common == x.Last:
		return nil, nil
	case common+b.shift == is.Last:
		if out.What != Forked {
			out.What = Grown
		}
		return nil, s.put(ctx, x, r, b, common, is.Last, out)
	case common == x.Last:
		if out.What != Forked {
			out.What = Newer
		}
		return nil, nil
	}
	return s.part(ctx, x, r, b, common, out)
}

// unchanged reports whether two sessions are so much alike that their events
// need not be compared.
func (s *sender) unchanged(x, is skein.Session, b relocation) bool {
	return b.shift == 0 && b.own != "" && alikeRows(x, is)
}

// alikeRows reports whether two sessions are the same by everything that is known about
// them without their events.
func alikeRows(x, is skein.Session) bool {
	return x.Last == is.Last && x.Base == is.Base && x.Updated == is.Updated && x.Created == is.Created &&
		x.Usage == is.Usage && x.LastPrompt == is.LastPrompt && x.First == is.First && x.Title == is.Title && x.Revision == is.Revision
}

// like compares the event of x at seq with the one at its place in the second store.
func (s *sender) like(ctx context.Context, x skein.Session, r eventMap, b relocation, seq skein.Seq) (likeness, error) {
	mine, err := at(ctx, s.from, x.ID, seq)
	if err != nil {
		return unlike, err
	}
	if mine, err = s.translate(mine, r); err != nil {
		return unlike, err
	}
	theirs, err := at(ctx, s.to, b.to, seq+b.shift)
	if err != nil {
		return unlike, err
	}
	return compareEvents(mine, theirs), nil
}

// common returns the last seq of x up to which the second store's session is the same,
// by binary search, for two lines that have diverged never meet again.
func (s *sender) common(ctx context.Context, x skein.Session, r eventMap, b relocation, is skein.Session, out *Sent) (skein.Seq, error) {
	low, high := b.from, min(x.Last, is.Last-b.shift)
	for probe := high; low < high; probe = (low + high + 1) / 2 {
		like, err := s.like(ctx, x, r, b, probe)
		if err != nil {
			return 0, err
		}
		out.Blotted = out.Blotted || like == blotted
		if like == unlike {
			high = probe - 1
		} else {
			low = probe
		}
	}
	return low, nil
}

// part returns the fork that the events of x after seq go to: a fork of the second
// store's session, whose name is derived from the events.
func (s *sender) part(ctx context.Context, x skein.Session, r eventMap, b relocation, seq skein.Seq, out *Sent) (*relocation, error) {
	if seq == x.Base {
		return nil, fmt.Errorf("session %s: %w with other content: one of them must be given another ID", b.to, skein.ErrExists)
	}
	seq, err := s.before(ctx, x, seq)
	if err != nil {
		return nil, err
	}
	first, err := at(ctx, s.from, x.ID, seq+1)
	if err != nil {
		return nil, err
	}
	out.What = Forked
	p := skein.Place{Session: b.to, Seq: seq + b.shift}
	var m lineMark
	m.Line = &struct {
		Of    skein.SessionID `json:"of"`
		After skein.Seq       `json:"after"`
	}{x.ID, seq}
	e := skein.NewEvent(skein.KindCreated, first.Time, skein.Created{
		Title: x.Title, Surface: x.Surface, Project: x.Project, Cwd: x.Cwd, Checkout: x.Checkout.Known(), Agent: x.Agent, Profile: x.Profile, Provider: x.Provider, Model: x.Model,
		Parent: &skein.Parent{Session: p.Session, Seq: p.Seq, Why: skein.Fork}, Config: skein.MustJSON(m), Program: s.o.Program,
	})
	return &relocation{to: lineID(p, first), from: seq, shift: b.shift + 1, first: &e}, nil
}

// before returns the place at or before seq where a fork can begin so that it owns
// everything after it: what is amended must be the fork's own.
func (s *sender) before(ctx context.Context, x skein.Session, seq skein.Seq) (skein.Seq, error) {
	for e, err := range s.from.Events(ctx, x.ID, seq) {
		if err != nil {
			return 0, err
		}
		if e.Kind != skein.KindAmended {
			continue
		}
		a, err := skein.Decode[skein.Amended](e)
		if err != nil {
			return 0, err
		}
		if a.Seq <= seq {
			if seq = a.Seq - 1; seq <= x.Base {
				return 0, fmt.Errorf("session %s: event %d amends an event that both lines share", x.ID, e.Seq)
			}
			return s.before(ctx, x, seq)
		}
	}
	return seq, nil
}

// lineID names the fork for a line that diverges at p and continues with first.
func lineID(p skein.Place, first skein.Event) skein.SessionID {
	first.Seq = 0
	sum := sha256.Sum256(slices.Concat(fmt.Appendf(nil, "%s\x00%d\x00", p.Session, p.Seq), skein.MustJSON(first)))
	h := hex.EncodeToString(sum[:16])
	// As a UUID of version 8, which is for custom formats.
	return skein.SessionID(h[:8] + "-" + h[8:12] + "-8" + h[13:16] + "-a" + h[17:20] + "-" + h[20:32])
}

// put appends the events of x after seq to a session that ends at after there.
func (s *sender) put(ctx context.Context, x skein.Session, r eventMap, b relocation, seq, after skein.Seq, out *Sent) error {
	var wait []skein.Event
	size := 0
	var blobs []skein.Blob
	if b.first != nil {
		wait = append(wait, *b.first)
	}
	flush := func() error {
		if len(wait) == 0 {
			return nil
		}
		if !s.o.Dry {
			r, err := s.append(ctx, skein.Batch{Session: b.to, After: after, Events: wait, Blobs: blobs}, out)
			if err != nil {
				return err
			}
			after = r[0].Last
		}
		out.Events += len(wait)
		wait, blobs, size = nil, nil, 0
		return nil
	}
	for e, err := range s.from.Events(ctx, x.ID, seq) {
		if err != nil {
			return err
		}
		if e.Seq > x.Last {
			break // said since
		}
		f, err := skein.FactsOf(e)
		if err != nil {
			return err
		}
		if e.IsPlaceholder() {
			out.Damaged = append(out.Damaged, fmt.Sprintf("event %d", e.Seq))
			e = begun(e, &x)
		}
		for _, h := range f.Blobs {
			data, err := s.from.Blob(ctx, x.ID, h)
			if errors.Is(err, skein.ErrCorrupt) {
				out.Damaged = append(out.Damaged, fmt.Sprintf("blob %s of event %d", h, e.Seq))
				continue
			}
			if err != nil {
				return err
			}
			blobs = append(blobs, skein.Blob{Hash: h, Data: data})
			size += len(data)
		}
		out.Blotted = out.Blotted || e.Scrubbed()
		if child := s.startedBy(e); child != "" { // its ID there is known when it was sent
			if err := flush(); err != nil {
				return err
			}
			if err := s.session(ctx, child); err != nil {
				return err
			}
			if e, err = translateTool(e, s.routes); err != nil {
				return err
			}
		}
		if e, err = s.translate(e, r); err != nil {
			return err
		}
		if e.Seq == x.Base+1 && b.own != "" {
			if e, err = mark(e, b.own, b.to); err != nil {
				return err
			}
		}
		wait = append(wait, e)
		if size += len(e.Payload); size >= maxBytes || len(wait) >= maxEvents {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || s.o.Dry {
		return err
	}
	return s.refresh(ctx, b.to)
}

// startedBy returns the session that a call of e's started, if that is among those to
// send and was not tried yet.
func (s *sender) startedBy(e skein.Event) skein.SessionID {
	if e.Kind != skein.KindTool {
		return ""
	}
	t, err := skein.Decode[skein.ToolState](e)
	if _, ok := s.sessions[t.Child]; err != nil || !ok {
		return ""
	}
	return t.Child
}

// begun returns e or, if e is a placeholder of the event that began x, an event that
// describes x.
func begun(e skein.Event, x *skein.Session) skein.Event {
	if !e.IsPlaceholder() || e.Kind != skein.KindCreated || e.Seq != x.Base+1 {
		return e
	}
	e.Payload = skein.MustJSON(skein.Created{
		Title: x.Title, Surface: x.Surface, Project: x.Project, Cwd: x.Cwd, Checkout: x.Checkout.Known(), Agent: x.Agent, Profile: x.Profile, Provider: x.Provider, Model: x.Model,
		Parent: x.Parent, Origin: x.Origin,
	})
	return e
}

// append stores a batch; without its keys if other sessions have them.
func (s *sender) append(ctx context.Context, b skein.Batch, out *Sent) ([]skein.Receipt, error) {
	r, left, err := withoutTakenKeys(ctx, s.to, b)
	if errors.Is(err, skein.ErrExists) && b.After == skein.Fresh {
		if _, ferr := s.to.Session(ctx, b.Session); errors.Is(ferr, skein.ErrNotFound) {
			err = errTaken
		}
	}
	out.Keyless = out.Keyless || left && err == nil
	return r, err
}
