package llm

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// An Answer is built by a Provider from the pieces that it receives.
type Answer struct {
	Message skein.Message // everything known of it except its parts
	Cut     bool          // the model reached a limit: the last call may be incomplete
	Ended   bool          // the model has said why it ended, so nothing is missing
	pieces  []*Piece
}

// A Piece is a part of an Answer that may still grow.
type Piece struct {
	Part  skein.Part // the Raw of reasoning is used only if it is whole
	Whole bool       // it is complete
	grown strings.Builder
}

// Add returns a new piece, after all others, that begins as p. A call without
// an ID gets one.
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

// Grown returns the text that was added to the piece.
func (p *Piece) Grown() string { return p.grown.String() }

// Last returns the last piece if it is of that kind and not whole, else a new
// one.
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

// whole returns the message of a complete answer.
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
// not even its cost.
func (a *Answer) broken() *skein.Message {
	a.pieces = slices.DeleteFunc(a.pieces, func(p *Piece) bool { return p.Part.Kind == skein.PartCall && !p.Whole })
	m := a.message()
	if len(m.Parts) == 0 && m.Usage == nil {
		return nil
	}
	m.Interrupted = true
	return m
}

// message returns what has come, without empty parts and calls without a name.
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

// part returns the piece as a part.
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

// input returns a model's input for a call: unchanged if it is valid JSON, else
// as a JSON string; an empty one becomes an empty object.
func input(s string) json.RawMessage {
	switch s = strings.TrimSpace(s); {
	case s == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return skein.AppendQuoted(nil, s)
}
