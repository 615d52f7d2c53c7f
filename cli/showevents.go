package cli

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

func (o *showOptions) writeEvents(j *job, r reader) error {
	return j.page(r.ctx, func(w io.Writer) error {
		for e, err := range o.eventsOf(r) {
			if err == nil {
				e = o.curtain.event(e)
			}
			if err == nil && o.json {
				err = writeJSON(w, e)
			} else if err == nil {
				err = o.writeEvent(w, j, e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// eventsOf yields the events that are asked for; --last, --first and --offset count
// events.
func (o *showOptions) eventsOf(r reader) iter.Seq2[skein.Event, error] {
	events := func(after skein.Seq, n int) iter.Seq2[skein.Event, error] {
		return part(r.store.Events(r.ctx, r.session.ID, after), 0, n)
	}
	switch {
	case o.turn > 0:
		return func(yield func(skein.Event, error) bool) {
			from, err := r.begin(o.turn)
			to := from
			if err == nil {
				to, err = r.begin(o.turn + 1)
			}
			if err != nil {
				yield(skein.Event{}, err)
				return
			}
			for e, err := range events(from-1, int(to-from)) {
				if !yield(e, err) {
					return
				}
			}
		}
	case o.last > 0:
		end := max(r.session.Last-skein.Seq(o.offset), 0)
		from := max(end-skein.Seq(o.last), 0)
		if from == end {
			return func(func(skein.Event, error) bool) {}
		}
		return events(from, int(end-from))
	}
	return events(skein.Seq(o.offset), o.first)
}

// writeEvent prints e on one line: its seq, time, kind and payload, cut to the
// width of the terminal.
func (o *showOptions) writeEvent(w io.Writer, j *job, e skein.Event) error {
	p, payload := j.paint, string(e.Payload)
	if !o.raw || j.Terminal.Out {
		payload = render.Line(payload)
	}
	at := e.Time.String()
	if at == "" {
		at = strings.Repeat("-", 24)
	}
	head := fmt.Sprintf("%6d  %s  %-9s  ", e.Seq, at, render.Line(string(e.Kind)))
	if width := j.Terminal.columns(); width > 0 {
		payload = cut(payload, max(width-len(head), 20))
	}
	_, err := fmt.Fprintf(w, "%s%s\n", p.Dim(head[:34])+p.Cyan(head[34:]), payload)
	return err
}
