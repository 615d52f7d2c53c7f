package opencode

import (
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// backwards holds the existing rows of a session: messages, and their parts.
type backwards struct {
	rows  []rowThere
	stays map[string]bool // message with parts of a step → whether one stays
}

// rowThere is an existing row, and what it covers.
type rowThere struct {
	raw   []byte
	table string
	id    string // of the message
	user  bool   // the user said it
	time  skein.Time
	at    skein.Seq
	still bool // it is still live in the session
}

func (b *backwards) take(rec skein.Record, r *foreign.Row, d interop.Draft) {
	t := rowThere{raw: rec.Raw, table: r.Table, id: r.Text("message_id"), time: skein.Time(r.Int("time_created"))}
	t.at, t.still = d.Tells(rec)
	switch r.Table {
	case "message":
		t.id = r.Text("id")
		var m struct {
			Role string `json:"role"`
		}
		t.user = json.Unmarshal([]byte(r.Text("data")), &m) == nil && m.Role == "user"
	case "part":
	default:
		return
	}
	b.rows = append(b.rows, t)
	if t.at > 0 {
		if b.stays == nil {
			b.stays = map[string]bool{}
		}
		b.stays[t.id] = b.stays[t.id] || t.still
	}
}

// takeBack removes the messages that the session rewound, as the program does when a
// user continues after a revert.
func (o *output) takeBack(b *backwards) {
	o.keep = o.d.After
	if o.d.WentBack() {
		o.keep = 0
	}
	for _, r := range b.rows {
		if stays, tells := b.stays[r.id]; tells && !stays {
			o.gone = append(o.gone, r.raw)
			continue
		}
		o.keep = max(o.keep, r.at)
		if r.table == "message" {
			o.time = max(o.time, r.time+1)
			if r.user {
				o.user = r.id
			}
		}
	}
	o.seq = o.keep
}
