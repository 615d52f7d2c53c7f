package mcp

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

type readIn struct {
	Session  string    `json:"session" jsonschema:"the session's ID, the beginning or end of the ID, its key, or a part of its title"`
	Cursor   string    `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page"`
	From     skein.Seq `json:"from,omitempty" jsonschema:"begin with the message at this seq and read on, not back"`
	Limit    int       `json:"limit,omitempty" jsonschema:"at most this many messages, up to 200; 20 if not given"`
	Seq      skein.Seq `json:"seq,omitempty" jsonschema:"only the message at this seq"`
	Offset   int       `json:"offset,omitempty" jsonschema:"with seq: skip this many bytes of each text"`
	Rewound  bool      `json:"rewound,omitempty" jsonschema:"include messages that were taken back, marked"`
	Thinking bool      `json:"thinking,omitempty" jsonschema:"include the models' reasoning"`
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
	Kind   skein.PartKind  `json:"kind"`
	Text   string          `json:"text,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Call   string          `json:"call_id,omitempty"`
	File   string          `json:"file,omitempty"`
	Failed bool            `json:"failed,omitempty"`
	State  skein.CallState `json:"state,omitempty"`  // of a call, as in [render.CallProgress]
	Result skein.Seq       `json:"result,omitempty"` // seq of the message with its result
	Rest   int             `json:"rest,omitempty"`   // bytes after which the text goes on: read it with seq and offset
}

func (s *toolset) read(ctx context.Context, in readIn) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	way, at, err := place(in)
	if err != nil {
		return nil, err
	}
	n := bound(in.Limit, 20, 200)
	p := &answerLines{toolset: s}
	switch {
	case in.Seq > 0:
		return s.one(ctx, p, x, in)
	case way == "after":
		return s.onward(ctx, p, x, at, n, in)
	}
	found, err := s.store.Newest(ctx, x.ID, n, at)
	if err != nil {
		return nil, err
	}
	lines, err := s.messages(ctx, x, found, in)
	if err != nil {
		return nil, err
	}
	kept := fitting(lines)
	for i := range lines[kept:] {
		if l := &lines[kept+i]; !l.Rewound || in.Rewound {
			p.add(l)
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
		return "", 0, fmt.Errorf("cursor %q: %w: not a cursor of this server", in.Cursor, skein.ErrInvalid)
	}
	return way, skein.Seq(n), nil
}

// fitting returns the index from which on the newest of lines fit into an answer;
// at least the newest does.
func fitting(lines []messageLine) int {
	size := 0
	for i := range slices.Backward(lines) {
		if size += len(skein.MustJSON(lines[i])) + 1; size > maxAnswer && i < len(lines)-1 {
			return i + 1
		}
	}
	return 0
}

// onward answers with the messages that begin after a seq.
func (s *toolset) onward(ctx context.Context, p *answerLines, x skein.Session, after skein.Seq, n int, in readIn) (*sdk.CallToolResult, error) {
	const window = 200
	count := 0
	for from := after; from < x.Last; from += window {
		found, err := s.store.Newest(ctx, x.ID, window, from+window+1)
		if err != nil {
			return nil, err
		}
		lines, err := s.messages(ctx, x, found, in)
		if err != nil {
			return nil, err
		}
		for i := range lines {
			if lines[i].Seq <= from || lines[i].Rewound && !in.Rewound {
				continue
			}
			if count++; count > n || !p.add(&lines[i]) {
				return p.answer(fmt.Sprintf("next_cursor: after.%d", max(after, 1))), nil
			}
			after = lines[i].Seq
		}
	}
	return p.answer(end), nil
}

// one answers with the message at in.Seq.
func (s *toolset) one(ctx context.Context, p *answerLines, x skein.Session, in readIn) (*sdk.CallToolResult, error) {
	found, err := s.store.Newest(ctx, x.ID, 1, in.Seq+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].Seq > in.Seq || found[0].End < in.Seq {
		return nil, fmt.Errorf("seq %d: %w: no message there", in.Seq, skein.ErrInvalid)
	}
	lines, err := s.messages(ctx, x, found, in)
	if err != nil {
		return nil, err
	}
	p.add(&lines[0])
	return p.answer(), nil
}

// messages returns consecutive messages of x as they are in an answer.
func (s *toolset) messages(ctx context.Context, x skein.Session, found []skein.Entry, in readIn) ([]messageLine, error) {
	entries, err := render.EntriesOf(&x, found, func(after skein.Seq) iter.Seq2[skein.Event, error] {
		return s.whole.Events(ctx, x.ID, after)
	})
	lines := make([]messageLine, len(entries))
	for i := range entries {
		lines[i] = s.message(&entries[i], in)
	}
	return lines, err
}

// message returns e as it is in an answer.
func (s *toolset) message(e *render.Entry, in readIn) messageLine {
	m, calls := &e.Message, e.Calls
	l := messageLine{Seq: e.Seq, Turn: e.Turn, Role: m.Role, Time: e.Time, Model: m.Model, Rewound: e.Rewound, Interrupted: m.Interrupted, Compacted: e.Compacted, Parts: []partLine{}}
	if m.Error != nil {
		l.Error, _ = s.cut(m.Error.Message, 0)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == skein.PartReasoning && !in.Thinking {
			continue
		}
		part := s.part(p, in.Offset)
		if p.Call != nil && len(calls) > 0 {
			part.State, part.Result, calls = calls[0].State, calls[0].Result, calls[1:]
		}
		l.Parts = append(l.Parts, part)
	}
	return l
}

func (s *toolset) part(p *skein.Part, offset int) partLine {
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
