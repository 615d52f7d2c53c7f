package llm

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// An Answer is put together by a Provider while it comes.
type Answer struct {
	Message skein.Message // what is known of it besides its parts
	Cut     bool          // the model came to a limit: the last call may be torn
	Ended   bool          // the model has said why it ended, so that nothing is missing
	pieces  []*Piece
}

// A Piece is a part of an Answer that still grows.
type Piece struct {
	Part  skein.Part // Raw of reasoning counts only when it is whole
	Whole bool       // it has come to its end
	grown strings.Builder
}

// Add returns a new piece, after all others, that begins as p. A call that has
// no ID gets one.
func (a *Answer) Add(p skein.Part) *Piece {
	if p.Call != nil && p.Call.ID == "" {
		p.Call.ID = "call_" + rand.Text()
	}
	piece := &Piece{Part: p}
	a.pieces = append(a.pieces, piece)
	return piece
}

// Grow adds s to the piece: to the input of a call, else to its text.
func (p *Piece) Grow(s string) { p.grown.WriteString(s) }

// Grown returns what the piece has grown by.
func (p *Piece) Grown() string { return p.grown.String() }

// Last returns the newest piece, if it is of that kind and not whole, else a
// new one.
func (a *Answer) Last(k skein.PartKind) *Piece {
	if n := len(a.pieces); n > 0 && a.pieces[n-1].Part.Kind == k && !a.pieces[n-1].Whole {
		return a.pieces[n-1]
	}
	return a.Add(skein.Part{Kind: k})
}

// Close makes every piece whole.
func (a *Answer) Close() {
	for _, p := range a.pieces {
		p.Whole = true
	}
}

// whole returns the message of an answer that has ended.
func (a *Answer) whole() *skein.Message {
	a.Close()
	m := a.message()
	if a.Cut {
		m.Parts = slices.DeleteFunc(m.Parts, func(p skein.Part) bool {
			return p.Call != nil && len(p.Call.Input) > 0 && p.Call.Input[0] == '"'
		})
	}
	return m
}

// broken returns the message of an answer that broke off; nil if nothing came,
// not even what it cost.
func (a *Answer) broken() *skein.Message {
	a.pieces = slices.DeleteFunc(a.pieces, func(p *Piece) bool { return p.Part.Kind == skein.PartCall && !p.Whole })
	m := a.message()
	if len(m.Parts) == 0 && m.Usage == nil {
		return nil
	}
	m.Interrupted = true
	return m
}

// message returns what there is, without empty parts and calls of nothing.
func (a *Answer) message() *skein.Message {
	m := a.Message
	m.Role = skein.RoleAssistant
	if m.Usage != nil {
		u := *m.Usage
		u.Requests = 1
		m.Usage = &u
	}
	for _, piece := range a.pieces {
		if p := piece.part(); p.Call != nil && p.Call.Name != "" || p.Text != "" || len(p.Raw) > 0 {
			m.Parts = append(m.Parts, p)
		}
	}
	return &m
}

// part returns the part that the piece is now.
func (p *Piece) part() skein.Part {
	part := p.Part
	if part.Kind == skein.PartCall {
		c := *part.Call
		c.Input = input(p.grown.String())
		part.Call = &c
		return part
	}
	part.Text += skein.Text(p.grown.String())
	if !p.Whole {
		part.Raw = nil
	}
	return part
}

// input returns what a model wrote as a call's input: as it is if it is JSON,
// else as a JSON string; nothing stands for an empty object.
func input(s string) json.RawMessage {
	switch s = strings.TrimSpace(s); {
	case s == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return skein.AppendQuoted(nil, s)
}
