package copilotvscode

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// changes collects what one record makes.
type changes struct {
	l  *log
	ps []change
}

// A change is an event, which may be about an earlier one.
type change struct {
	piece
	to int // see interop.Item
}

// last returns the ordinal of the last event.
func (c *changes) last() int { return c.l.items + len(c.ps) }

func (c *changes) add(p piece, to int) int {
	c.ps = append(c.ps, change{p, to})
	return c.last()
}

// title adds the session's title, if it has changed.
func (c *changes) title() {
	title := c.l.state.find(jsontext.Value(`"customTitle"`))
	if title == nil {
		return
	}
	text := skein.Text(loose.Str(title.raw)).UTF8()
	if text != "" && text != c.l.title {
		c.l.title = text
		c.add(piece{event: skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: text, By: skein.ByModel})}, 0)
	}
}

// requests reads the requests at indexes [from, to), or all from from on if to is -1.
// A request that replaces another ends what came after that.
func (c *changes) requests(from, to int) error {
	list := c.l.state.find(jsontext.Value(`"requests"`))
	if list == nil || from < 0 {
		return nil
	}
	list.open()
	n := len(list.subs)
	if to < 0 {
		to = n
	}
	if keep := c.kept(list, from, to); keep < len(c.l.live) {
		c.back(keep)
		to = n
	}
	for i := min(from, len(c.l.live)); i < min(to, n); i++ {
		o, err := loose.Parse(list.subs[i].append(nil))
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		if i == len(c.l.live) {
			c.l.live = append(c.l.live, &entry{id: idOf(list.subs[i]), first: c.last(), at: map[string]int{}})
		}
		c.grow(c.l.live[i], pieces(o))
	}
	return nil
}

// kept returns how many of the earlier requests are still the same, if only those at
// indexes [from, to) may have changed.
func (c *changes) kept(list *tree, from, to int) int {
	for i := from; i < min(to, len(c.l.live), len(list.subs)); i++ {
		if c.l.live[i].id != idOf(list.subs[i]) {
			return i
		}
	}
	return min(len(c.l.live), len(list.subs))
}

// idOf returns the ID of a request.
func idOf(request *tree) string {
	if id := request.find(jsontext.Value(`"requestId"`)); id != nil {
		return loose.Str(id.raw)
	}
	return ""
}

// back removes the requests from the i-th on from the conversation.
func (c *changes) back(i int) {
	to := 0
	if i > 0 {
		to = c.l.live[i].first
	}
	c.l.live = c.l.live[:i:i]
	c.add(piece{event: skein.NewEvent(skein.KindRewound, 0, skein.Rewound{})}, to)
}

// grow adds what is new in a request, and amends what has changed.
func (c *changes) grow(e *entry, ps []piece) {
	count := map[skein.Kind]int{}
	here := map[string]bool{}
	for _, p := range ps {
		count[p.event.Kind]++
		name := fmt.Sprint(p.event.Kind, count[p.event.Kind])
		here[name] = true
		sum := short(string(p.event.Payload))
		i, there := e.at[name]
		switch {
		case !there:
			e.at[name] = len(e.slots)
			e.slots = append(e.slots, slot{name, p.event.Kind, c.add(p, 0), sum, false})
			continue
		case e.slots[i].sum == sum && !e.slots[i].gone:
			continue
		case p.event.Kind == skein.KindStep: // the newest counts
			c.add(p, 0)
		default:
			p.event = skein.NewEvent(skein.KindAmended, p.event.Time, skein.Amended{Payload: p.event.Payload})
			c.add(p, e.slots[i].ordinal)
		}
		e.slots[i].sum, e.slots[i].gone = sum, false
	}
	for i, s := range e.slots {
		if !here[s.name] && !s.gone && s.kind != skein.KindStep {
			e.slots[i].gone = true
			c.add(piece{event: skein.NewEvent(skein.KindAmended, 0, skein.Amended{Withdrawn: true})}, s.ordinal)
		}
	}
}
