package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

type readIn struct {
	Session  string    `json:"session" jsonschema:"its ID, the beginning or end of it, its key, or a part of its title"`
	Cursor   string    `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
	From     skein.Seq `json:"from,omitempty" jsonschema:"begin with the message at this seq and read on, not back"`
	Limit    int       `json:"limit,omitempty" jsonschema:"at most this many messages, up to 200; 20 if not given"`
	Seq      skein.Seq `json:"seq,omitempty" jsonschema:"only the message at this seq"`
	Offset   int       `json:"offset,omitempty" jsonschema:"with seq: leave out so many bytes of each text"`
	Rewound  bool      `json:"rewound,omitempty" jsonschema:"also what was taken back, marked so"`
	Thinking bool      `json:"thinking,omitempty" jsonschema:"the models' reasoning too"`
}

// A messageLine is a message in an answer.
type messageLine struct {
	Seq         skein.Seq  `json:"seq"`
	Turn        int        `json:"turn,omitempty"`
	Role        skein.Role `json:"role"`
	Time        skein.Time `json:"time,omitzero"`
	Model       string     `json:"model,omitempty"`
	Parts       []partLine `json:"parts"`
	Error       string     `json:"error,omitempty"`
	Rewound     bool       `json:"rewound,omitempty"`     // a rewind took it back
	Interrupted bool       `json:"interrupted,omitempty"` // it was cut off
	Compacted   bool       `json:"compacted,omitempty"`   // a summary replaces it
}

// A partLine is a part of a message.
type partLine struct {
	Kind   skein.PartKind `json:"kind"`
	Text   string         `json:"text,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Call   string         `json:"call_id,omitempty"`
	File   string         `json:"file,omitempty"`
	Failed bool           `json:"failed,omitempty"`
	Rest   int            `json:"rest,omitempty"` // bytes after which the text goes on: read it with seq and offset
}

func (s *service) read(ctx context.Context, in readIn) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	way, at, err := place(in)
	if err != nil {
		return nil, err
	}
	n := bound(in.Limit, 20, 200)
	p := &page{service: s}
	switch {
	case in.Seq > 0:
		return s.one(ctx, p, x.ID, in)
	case way == "after":
		return s.onward(ctx, p, x, at, n, in)
	}
	found, err := s.store.Newest(ctx, x.ID, n, at)
	if err != nil {
		return nil, err
	}
	kept := s.fitting(found, in)
	for i := range found[kept:] {
		if e := &found[kept+i]; !e.Rewound || in.Rewound {
			p.add(s.message(e, in))
		}
	}
	if kept == 0 && len(found) < n {
		return p.answer(end), nil
	}
	return p.answer(fmt.Sprintf("next_cursor: before.%d", found[kept].Seq)), nil
}

// place parses the cursor: the direction, and the seq to begin at.
func place(in readIn) (way string, at skein.Seq, err error) {
	if in.Cursor == "" {
		if in.From > 0 {
			return "after", in.From - 1, nil
		}
		return "before", 0, nil
	}
	way, seq, _ := strings.Cut(in.Cursor, ".")
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || n < 1 || way != "before" && way != "after" {
		return "", 0, fmt.Errorf("cursor %q: %w: it is none that came from here", in.Cursor, skein.ErrInvalid)
	}
	return way, skein.Seq(n), nil
}

// fitting returns the index from which on the newest messages of found fit into
// an answer; at least the newest does.
func (s *service) fitting(found []skein.Entry, in readIn) int {
	size := 0
	for i := range slices.Backward(found) {
		if size += len(skein.MustJSON(s.message(&found[i], in))) + 1; size > maxAnswer && i < len(found)-1 {
			return i + 1
		}
	}
	return 0
}

// onward answers with the messages that begin after a seq.
func (s *service) onward(ctx context.Context, p *page, x skein.Session, after skein.Seq, n int, in readIn) (*sdk.CallToolResult, error) {
	const window = 200
	count := 0
	for from := after; from < x.Last; from += window {
		found, err := s.store.Newest(ctx, x.ID, window, from+window+1)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Seq <= from || found[i].Rewound && !in.Rewound {
				continue
			}
			if count++; count > n || !p.add(s.message(&found[i], in)) {
				return p.answer(fmt.Sprintf("next_cursor: after.%d", max(after, 1))), nil
			}
			after = found[i].Seq
		}
	}
	return p.answer(end), nil
}

// one answers with the message at in.Seq.
func (s *service) one(ctx context.Context, p *page, id skein.SessionID, in readIn) (*sdk.CallToolResult, error) {
	found, err := s.store.Newest(ctx, id, 1, in.Seq+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Seq > in.Seq || found[0].End < in.Seq {
		return nil, fmt.Errorf("seq %d: %w: no message stands there", in.Seq, skein.ErrInvalid)
	}
	p.add(s.message(&found[0], in))
	return p.answer(), nil
}

// message returns e as it is in an answer.
func (s *service) message(e *skein.Entry, in readIn) messageLine {
	m := &e.Message
	l := messageLine{Seq: e.Seq, Turn: e.Turn, Role: m.Role, Time: e.Time, Model: m.Model, Rewound: e.Rewound, Interrupted: m.Interrupted, Compacted: e.Compacted, Parts: []partLine{}}
	if m.Error != nil {
		l.Error, _ = s.cut(m.Error.Message, 0)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == skein.PartReasoning && !in.Thinking {
			continue
		}
		l.Parts = append(l.Parts, s.part(p, in.Offset))
	}
	return l
}

func (s *service) part(p *skein.Part, offset int) partLine {
	l, text := partLine{Kind: p.Kind}, p.Text.UTF8()
	switch {
	case p.Call != nil:
		l.Tool, l.Call, text = p.Call.Name, p.Call.ID, string(s.redactor().JSON(p.Call.Input))
	case p.Result != nil:
		l.Tool, l.Call, l.Failed, text = p.Result.Name, p.Result.CallID, p.Result.Failed, p.Result.Text.UTF8()
		if text == "" {
			text = string(s.redactor().JSON(p.Result.Raw))
		}
	case p.File != nil:
		l.File = p.File.Name
	}
	l.Text, l.Rest = s.cut(text, offset)
	return l
}
