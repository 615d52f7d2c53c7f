package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

const (
	fileSize  = 4 << 10 // that a file counts for, whatever its real size
	leastItem = 512     // bytes of an item that are never removed
	markSize  = 128     // approximate size of a mark that replaces what was left out
)

// sizeOf returns how many bytes messages take.
func sizeOf(messages []skein.Message) (n int) {
	for i := range messages {
		for j := range messages[i].Parts {
			n += sizeOfPart(&messages[i].Parts[j])
		}
	}
	return n
}

func sizeOfPart(p *skein.Part) int {
	n := len(p.Text) + len(p.Raw)
	if p.Call != nil {
		n += len(p.Call.Name) + len(p.Call.Input)
	}
	if p.Result != nil {
		n += sizeOfResult(p.Result)
	}
	if p.File != nil {
		n += fileSize
	}
	return n
}

func sizeOfResult(r *skein.Result) int {
	n := len(r.Text)
	if n == 0 {
		n = len(r.Raw)
	}
	return n + len(r.Files)*fileSize
}

// A shortenable is something that can be shortened by itself: a part of a draft, or a
// result.
type shortenable struct {
	draft *draftMessage
	part  *skein.Part // nil for a result
	round *round      // nil for a part
	whole int         // bytes of the whole item
	most  int         // maximum bytes shown; 0 for all of it
	rank  cutRank
}

// A cutRank is the order in which items are shortened: lower ranks first.
type cutRank int

const (
	oldWork cutRank = iota // what the agent said, and the results of its tools
	newWork                // its newest round of tools
	users                  // what the user said
)

func (x *shortenable) size() int {
	if x.most > 0 {
		return min(x.whole, x.most)
	}
	return x.whole
}

// A fitting makes drafts fit in Rules.Room.
type fitting struct{ *contextBuilder }

// fit removes from the drafts what exceeds Rules.Room, of which others bytes
// are used otherwise: first the middle of items that take more than a quarter
// of it alone, then the oldest results, then the middle of all large items,
// those of the newest round and of the user last.
//
// The number of results to remove is computed as if the messages came one by
// one, and half of the room is freed at once, so that a conversation keeps the
// same beginning for a while as it continues: providers cache it.
func (f fitting) fit(others int) {
	items := f.items()
	shrink(items, f.rules.Room/4, func(*shortenable) bool { return true })
	f.forget(items, others)
	for rank := oldWork; rank <= users; rank++ {
		for most := f.rules.Room / 8; most >= leastItem && others+sumOf(items) > f.rules.Room; most /= 2 {
			shrink(items, most, func(x *shortenable) bool { return x.rank <= rank })
		}
	}
	for i := range items {
		if x := &items[i]; x.size() < x.whole {
			f.cut(x)
		}
	}
	for _, d := range f.drafts {
		d.m.Parts = slices.DeleteFunc(d.m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartReasoning && p.Text == "" && len(p.Raw) == 0 })
	}
}

// shrink limits the items for which so is true to most bytes.
func shrink(items []shortenable, most int, so func(*shortenable) bool) {
	for i := range items {
		if x := &items[i]; x.most != 0 && so(x) {
			x.most = min(x.most, max(most, leastItem))
		}
	}
}

func sumOf(items []shortenable) (n int) {
	for i := range items {
		n += items[i].size()
	}
	return n
}

// items returns all items, in order. Those that must stay whole have most 0:
// system messages, what the user said last, and reasoning after that, which the
// current answer needs.
func (f fitting) items() (items []shortenable) {
	last := f.lastTyped()
	var round *draftMessage
	for _, d := range f.drafts {
		if len(d.rounds) > 0 {
			round = d
		}
	}
	for i, d := range f.drafts {
		r := oldWork
		switch {
		case d.m.Role == skein.RoleUser:
			r = users
		case d == round:
			r = newWork
		}
		for j := range d.m.Parts {
			p := &d.m.Parts[j]
			x := shortenable{draft: d, part: p, whole: sizeOfPart(p), most: math.MaxInt, rank: r}
			if d.m.Role == skein.RoleSystem || i == last && !p.Synthetic || i > last && p.Kind == skein.PartReasoning {
				x.most = 0
			}
			items = append(items, x)
		}
		for _, x := range d.rounds {
			if x.result != nil {
				items = append(items, shortenable{draft: d, round: x, whole: sizeOfResult(x.result), most: math.MaxInt, rank: r})
			}
		}
	}
	return items
}

// lastTyped returns the index of the last draft that a person typed, else of
// the last with the user role, else -1; with Rules.Aside, that of the last
// draft.
func (f fitting) lastTyped() int {
	if f.rules.Aside {
		return len(f.drafts) - 1
	}
	last := -1
	for i, d := range slices.Backward(f.drafts) {
		if d.typed {
			return i
		}
		if last < 0 && d.m.Role == skein.RoleUser {
			last = i
		}
	}
	return last
}

// forget removes the oldest results, except those of the newest round.
func (f fitting) forget(items []shortenable, others int) {
	total, next := others, 0 // next is the next item to remove
	for i := range items {
		total += items[i].size()
		if i+1 < len(items) && items[i+1].draft == items[i].draft || total <= f.rules.Room {
			continue
		}
		for ; items[next].draft != items[i].draft && total > f.rules.Room/2; next++ {
			if x := &items[next]; x.round != nil && x.size() > leastItem {
				total -= x.size() - markSize
				x.most = markSize
			}
		}
	}
}

// cut shortens x to x.most.
func (f fitting) cut(x *shortenable) {
	seq := x.draft.seq
	if x.round != nil {
		x.round.most = x.most
		return
	}
	switch p := x.part; p.Kind {
	case skein.PartText:
		p.Text = skein.Text(middleOut(string(p.Text), x.most, seq))
	case skein.PartFile:
		*p = skein.Part{Kind: skein.PartText, Text: skein.Text(describe(p.File)), Synthetic: true}
	case skein.PartCall:
		p.Call.Input = shortInput(p.Call.Input, x.most, seq)
	case skein.PartReasoning: // signed reasoning is either whole or left out
		p.Text, p.Raw = "", nil
	}
	f.repair(seq, RepairRoom, string(x.part.Kind))
}

// shorten shortens res, the result of r, to r.most.
func (b *contextBuilder) shorten(r *round, res *skein.Result) {
	files := min(len(res.Files), r.most/fileSize)
	if most := r.most - files*fileSize; most <= markSize {
		res.Text = skein.Text(fmt.Sprintf("[This result of %d bytes is left out here. %s]", len(res.Text), readAll(r.at)))
	} else {
		res.Text = skein.Text(middleOut(string(res.Text), most, r.at))
	}
	for i := range res.Files[files:] {
		res.Text += skein.Text("\n" + describe(&res.Files[files+i]))
	}
	res.Files = res.Files[:files]
	b.repair(r.draft.seq, RepairRoom, "result "+r.id)
}

// readAll tells a model how to read all of a shortened message.
func readAll(seq skein.Seq) string {
	return fmt.Sprintf(`session_read with {"message": %d} reads all of it.`, seq)
}

// middleOut returns the beginning and the end of text, together about most
// bytes, and between them a mark that says where to read the rest.
func middleOut(text string, most int, seq skein.Seq) string {
	if len(text) <= most {
		return text
	}
	half := max(most-markSize, 0) / 2
	head, tail := half, len(text)-half
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here. %s …]\n%s", text[:head], tail-head, len(text), readAll(seq), text[tail:])
}

// shortInput returns a call's input, an object, without the middle of its long
// strings; if that is not enough, an object that says only how long it was.
func shortInput(input json.RawMessage, most int, seq skein.Seq) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for name, v := range fields {
			if s, ok := skein.Unquote(v); ok && len(s) > most/2 {
				fields[name] = skein.AppendQuoted(nil, middleOut(skein.Text(s).UTF8(), most/2, seq))
			}
		}
		if short, err := json.Marshal(fields); err == nil && len(short) <= 2*most {
			return bytes.TrimSpace(short)
		}
	}
	return skein.MustJSON(map[string]string{"left_out": fmt.Sprintf("%d bytes of input. %s", len(input), readAll(seq))})
}
