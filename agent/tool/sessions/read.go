package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/render"
)

// Bounds of the output of session_read.
const (
	newestTurns = 5        // if no turn is given
	maxPiece    = 48 << 10 // bytes at once
	maxRead     = 16 << 20 // bytes that offset can reach
)

type reading struct {
	Session string     `json:"session"`
	First   int        `json:"first_turn"`
	Last    int        `json:"last_turn"`
	Message skein.Seq  `json:"message"`
	Rewound bool       `json:"rewound"`
	Full    bool       `json:"full"`
	Blob    skein.Hash `json:"blob"`
	Offset  int        `json:"offset"`
}

func (r reader) readTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "session_read",
			Doc: "Read what was said in a session: its newest turns, the turns from first_turn to last_turn, or one whole message. With blob, read " +
				"more of a tool's long output, of which only the beginning and the end were shown.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "session": {"type": "string", "description": "ID, a unique part of it, key or title; this session if not given"},
    "first_turn": {"type": "integer", "minimum": 0},
    "last_turn": {"type": "integer", "minimum": 0, "description": "first_turn, if only that is given"},
    "message": {"type": "integer", "minimum": 1, "description": "number of a message, as given where a part of it was left out"},
    "rewound": {"type": "boolean", "description": "include messages that were taken back, marked"},
    "full": {"type": "boolean", "description": "show the whole input and output of tools, not only the beginning"},
    "blob": {"type": "string", "description": "hash of the blob to read instead"},
    "offset": {"type": "integer", "minimum": 0, "description": "bytes of the answer, or blob, to skip"}
  },
  "additionalProperties": false
}`),
		},
		Safe:  true,
		Title: title("session", "blob"),
		Run:   r.read,
	}
}

func (in *reading) check() error {
	switch {
	case in.First < 0 || in.Last < 0 || in.Last > 0 && in.Last < in.First:
		return fmt.Errorf("first_turn %d, last_turn %d: want one not after the other", in.First, in.Last)
	case in.Message < 0:
		return fmt.Errorf("message %d: want 1 or more", in.Message)
	case in.Offset < 0:
		return fmt.Errorf("offset %d: want 0 or more", in.Offset)
	}
	return nil
}

func (r reader) read(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	in := reading{Session: "this"}
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	if err := in.check(); err != nil {
		return out, err
	}
	s, err := r.find(ctx, c, in.Session)
	if out, ok := several(err); ok {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	var data []byte
	switch {
	case in.Message > 0:
		data, err = r.message(ctx, &s, in.Message)
	case in.Blob != "":
		data, err = r.store.Blob(ctx, s.ID, in.Blob)
		if errors.Is(err, skein.ErrNotFound) {
			err = fmt.Errorf("blob %s: session %s has no blob with this hash", in.Blob, s.ID)
		}
	default:
		data, err = r.turns(ctx, &s, in)
	}
	if err != nil {
		return out, err
	}
	return piece(data, in.Offset)
}

// piece answers with data from offset on.
func piece(data []byte, offset int) (out tool.Output, err error) {
	if offset > 0 && offset >= len(data) {
		return out, fmt.Errorf("offset %d: there are only %d bytes", offset, len(data))
	}
	end := min(offset+maxPiece, len(data))
	for n := 0; n < utf8.UTFMax && end < len(data) && !utf8.RuneStart(data[end]); n++ {
		end--
	}
	out.Text = frame(strings.ToValidUTF8(string(data[offset:end]), "\ufffd"))
	if end < len(data) || offset > 0 {
		out.Text += fmt.Sprintf("These are bytes %d to %d of %d.", offset, end, len(data))
		if end < len(data) {
			out.Text += fmt.Sprintf(" Read on with offset %d.", end)
		}
		out.Text += "\n"
	}
	return out, nil
}

// message formats the whole message of s whose first event is at seq.
func (r reader) message(ctx context.Context, s *skein.Session, seq skein.Seq) ([]byte, error) {
	es, err := r.store.Newest(ctx, s.ID, 1, seq+1)
	if err != nil {
		return nil, err
	}
	if len(es) == 0 || es[0].Seq != seq {
		return nil, fmt.Errorf("message %d: session %s has no message with this number", seq, s.ID)
	}
	all, err := r.called(ctx, s, es)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session %s\n\n", about(s))
	write(&b, &all[0], true)
	return []byte(b.String()), nil
}

// turns formats the turns of s that in selects.
func (r reader) turns(ctx context.Context, s *skein.Session, in reading) ([]byte, error) {
	first, last := in.First, in.Last
	switch {
	case first == 0 && last == 0:
		first, last = max(0, s.Ever().Turns-newestTurns+1), s.Ever().Turns
	case last == 0:
		last = first
	}
	if first > s.Ever().Turns {
		return nil, fmt.Errorf("first_turn %d: session %s has %d turns", first, s.ID, s.Ever().Turns)
	}
	found, err := r.entries(ctx, s.ID, first, last)
	if err != nil {
		return nil, err
	}
	entries, err := r.called(ctx, s, found)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session %s\n", about(s))
	turn := -1
	for i := range entries {
		if entries[i].Rewound && !in.Rewound {
			continue
		}
		if e := &entries[i]; e.Turn != turn {
			turn = e.Turn
			fmt.Fprintf(&b, "\n--- turn %d of %d ---\n", turn, s.Ever().Turns)
		}
		write(&b, &entries[i], in.Full)
		if b.Len() > maxRead {
			break
		}
	}
	return []byte(b.String()), nil
}

// called returns messages of s with the progress of their calls.
func (r reader) called(ctx context.Context, s *skein.Session, found []skein.Entry) ([]render.Entry, error) {
	return render.EntriesOf(s, found, func(after skein.Seq) iter.Seq2[skein.Event, error] {
		return r.store.Events(ctx, s.ID, after)
	})
}

// page is how many messages are read at a time.
const page = 200

// entries returns the messages of the turns first to last, in order. It reads
// backward from the end.
func (r reader) entries(ctx context.Context, id skein.SessionID, first, last int) ([]skein.Entry, error) {
	var pages [][]skein.Entry
	for before := skein.Seq(0); ; {
		es, err := r.store.Newest(ctx, id, page, before)
		if err != nil {
			return nil, err
		}
		var in []skein.Entry
		for _, e := range es {
			if e.Turn >= first && e.Turn <= last {
				in = append(in, e)
			}
		}
		pages = append(pages, in)
		if len(es) < page || es[0].Turn < first {
			break
		}
		before = es[0].Seq
	}
	var all []skein.Entry
	for i := len(pages) - 1; i >= 0; i-- {
		all = append(all, pages[i]...)
	}
	return all, nil
}
