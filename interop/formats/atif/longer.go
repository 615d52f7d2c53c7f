package atif

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// known is an existing document that is continued.
type known struct {
	id     string
	pieces [][]byte
	last   int // piece of the last step
	steps  int
	first  bool // there was no step
}

// look reads the existing document.
func (w *writer) look() error {
	k := &w.known
	in := section("")
	for rec, err := range w.d.Known {
		if err != nil {
			return err
		}
		p, err := interop.Piece(rec.Raw)
		if err != nil {
			return fmt.Errorf("%w: %w", skein.ErrInvalid, err)
		}
		e := loose.Element(p)
		switch {
		case len(k.pieces) == 0 || in == "" || len(e) > 0 && e[0] == ']':
			if in = after(e); in == steps {
				k.last, k.first = len(k.pieces), true
			}
			if o := members(e); k.id == "" {
				k.id = o.Str("trajectory_id", "session_id")
			}
		case in == steps:
			k.last, k.steps, k.first = len(k.pieces), k.steps+1, false
		}
		k.pieces = append(k.pieces, p)
	}
	if k.last == 0 && !k.first || k.last == len(k.pieces)-1 {
		return fmt.Errorf("%w: %s is no whole trajectory", skein.ErrInvalid, w.path)
	}
	for _, e := range w.d.Events {
		if r, err := skein.Decode[skein.Rewound](e); e.Kind == skein.KindRewound && e.Seq > w.d.After && err == nil && r.To < w.d.After {
			return fmt.Errorf("%w: the session went back over what %s has, and a trajectory has no branches", skein.ErrInvalid, w.path)
		}
	}
	return nil
}

// longer returns the lines of the document with the new steps.
func (w *writer) longer() (out []interop.OutLine, err error) {
	k := &w.known
	sep := w.between()
	for _, p := range k.pieces[:k.last+1] {
		out = append(out, piece0(p, w.d.After))
	}
	for i, s := range w.steps {
		var before []byte
		if i > 0 || !k.first {
			before = sep
		}
		out = append(out, step(before, s, w.seqs[i]))
	}
	for i, p := range k.pieces[k.last+1:] {
		if i == 0 {
			p = w.summed(p)
		}
		out = append(out, piece0(p, w.seqs[len(w.seqs)-1]))
	}
	return out, nil
}

// between returns what separates two steps.
func (w *writer) between() []byte {
	if k := &w.known; k.steps > 1 {
		if last := k.pieces[k.last]; bytes.IndexByte(last, '{') > 0 {
			return last[:bytes.IndexByte(last, '{')]
		}
	}
	return []byte(",\n    ")
}

// summed returns the end of the document with its totals updated for what is new,
// where possible.
func (w *writer) summed(end []byte) []byte {
	o := members(end)
	was := o.Get("final_metrics")
	m := o.Obj("final_metrics")
	if m == nil || bytes.Count(end, was) != 1 {
		return end
	}
	now := finalOf(w.used, 0)
	add := map[string]any{}
	for name, n := range map[string]int64{
		"total_prompt_tokens": now.Prompt, "total_completion_tokens": now.Completion, "total_cached_tokens": now.Cached, "total_steps": int64(len(w.steps)),
	} {
		if n != 0 || name == "total_steps" && m.Has(name) {
			add[name] = m.Count(name) + n
		}
	}
	if now.Cost != 0 {
		f, _ := loose.Number(m.Get("total_cost_usd"))
		add["total_cost_usd"] = f + now.Cost
	}
	out := []byte{'{'}
	put := func(name string, v []byte) {
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = append(append(skein.AppendQuoted(out, name), ": "...), v...)
	}
	for _, f := range m {
		if v, ok := add[f.Name]; ok {
			put(f.Name, skein.MustJSON(v))
			delete(add, f.Name)
		} else {
			put(f.Name, f.Value)
		}
	}
	names := make([]string, 0, len(add))
	for name := range add {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		put(name, skein.MustJSON(add[name]))
	}
	return bytes.Replace(end, was, append(out, '}'), 1)
}
