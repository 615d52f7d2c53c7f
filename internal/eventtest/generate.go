package eventtest

import (
	"strings"

	"github.com/skein-dev/skein"
)

// A Dice makes choices from bytes, so that a fuzzer and a property test can both
// generate events with it. It returns 0 when the bytes are used up.
type Dice struct{ data []byte }

func (d *Dice) throw(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := int(d.data[0])
	d.data = d.data[1:]
	return b % n
}

func Pick[T any](d *Dice, from ...T) T { return from[d.throw(len(from))] }

// EventsFrom returns the events of a session generated from data: a created event,
// then any events that a log may have, in any order.
func EventsFrom(data []byte) []skein.Event {
	d := &Dice{data}
	events := []skein.Event{Created()}
	for len(d.data) > 0 && len(events) < 200 {
		events = append(events, d.event(skein.Seq(len(events))))
	}
	return Number(events...)
}

// event returns an event that can come after the event at last.
func (d *Dice) event(last skein.Seq) skein.Event {
	switch d.throw(12) {
	case 0:
		return Rewound(skein.Seq(d.throw(int(last) + 1)))
	case 1:
		c := skein.Compacted{To: skein.Seq(d.throw(int(last) + 1)), Summary: Pick(d, "", "what was", " \n"), Failed: d.throw(4) == 1}
		for range d.throw(4) {
			c.Keep = append(c.Keep, skein.Seq(d.throw(int(last)+1)))
		}
		if d.throw(3) == 1 {
			c.Opaque = []byte(`{"type":"compaction","encrypted":"x"}`)
		}
		return skein.NewEvent(skein.KindCompacted, 1, c)
	case 2:
		a := skein.Amended{Seq: skein.Seq(1 + d.throw(int(last))), Withdrawn: d.throw(2) == 1}
		if d.throw(2) == 1 {
			a.Payload = skein.MustJSON(d.message())
		}
		return skein.NewEvent(skein.KindAmended, 1, a)
	case 3:
		return skein.NewEvent(skein.KindTool, 1, skein.ToolState{Call: Pick(d, "a", "b", "fc_1|x"), State: Pick(d, skein.Pending, skein.Running, skein.Completed, skein.Failed, skein.Uncertain)})
	case 4:
		return Pick(d, skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "x"}), skein.NewEvent("unheard of", 1, struct{}{}), skein.NewEvent(skein.KindStep, 1, skein.Step{Phase: "start"}))
	}
	return skein.Say(skein.Time(1000+last), d.message())
}

func (d *Dice) message() skein.Message {
	m := skein.Message{
		ID:   Pick(d, "", "", "", "m1", "m2"),
		Role: Pick(d, skein.RoleUser, skein.RoleAssistant, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.RoleSteer, skein.Role("developer")),
	}
	if m.Role == skein.RoleAssistant {
		m.Provider, m.Model = Pick(d, "anthropic", "openai", "google", ""), Pick(d, "m", "other")
		m.Interrupted = d.throw(5) == 1
	}
	if d.throw(8) == 1 {
		m.Error = &skein.ErrorInfo{Message: "overloaded"}
	}
	m.Synthetic = d.throw(6) == 1
	for range d.throw(5) {
		m.Parts = append(m.Parts, d.part())
	}
	return m
}

func (d *Dice) callID() string { return Pick(d, "a", "b", "c", "", "fc_1|x", "ü", LongID) }

const LongID = "0123456789012345678901234567890123456789012345678901234567890123456789"

var LongInput = skein.MustJSON(map[string]any{"path": "a", "content": LongText, "lines": []string{string(LongText)}})

// LongText is too long for a small context.
var LongText = skein.Text(strings.Repeat("ünd so on, ", 300))

func (d *Dice) text() skein.Text {
	return Pick[skein.Text](d, "hello", "hello world", "", " \n", "ends with a space ", "\xed\xa0\x80", "a\u2003", LongText)
}

func (d *Dice) part() skein.Part {
	switch d.throw(8) {
	case 0, 1:
		c := &skein.Call{ID: d.callID(), Name: Pick(d, "bash", "", "mcp.server/tool", LongID)}
		c.Input = Pick[[]byte](d, []byte(`{"x":1}`), nil, []byte(`"{\"x\":1}"`), []byte(`"no json"`), []byte(`[1]`), []byte("null"), LongInput)
		return skein.Part{Kind: skein.PartCall, Call: c}
	case 2, 3:
		r := &skein.Result{CallID: d.callID(), Text: d.text(), Failed: d.throw(4) == 1}
		if d.throw(3) == 1 {
			r.Files = append(r.Files, *d.file())
		}
		if d.throw(4) == 1 {
			r.Raw = []byte(`{"content":1}`)
		}
		return skein.Part{Kind: skein.PartResult, Result: r}
	case 4:
		return skein.Part{Kind: skein.PartReasoning, Text: d.text(), Raw: Pick[[]byte](d, nil, []byte(`"signed"`))}
	case 5:
		return skein.Part{Kind: skein.PartFile, File: d.file()}
	case 6:
		return skein.Part{Kind: Pick(d, skein.PartSummary, skein.PartAgent, skein.PartOther, skein.PartKind("new")), Text: d.text(), Raw: []byte("1")}
	}
	return skein.Part{Kind: skein.PartText, Text: d.text(), Synthetic: d.throw(6) == 1}
}

func (d *Dice) file() *skein.File {
	return &skein.File{Name: Pick(d, "a.png", ""), Media: Pick(d, "image/png", "audio/wav", ""), Blob: Pick[skein.Hash](d, "00", ""), First: d.throw(3)}
}
