package replay

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// say yields m's parts in pieces, and reports whether all were read.
func say(ctx context.Context, m *skein.Message, yield func(llm.Delta, error) bool) bool {
	for i, p := range m.Parts {
		switch {
		case p.Kind == skein.PartCall && p.Call != nil:
			if !yield(llm.Delta{Call: p.Call.Name}, nil) {
				return false
			}
		case p.Kind == skein.PartText, p.Kind == skein.PartReasoning:
			text := p.Text.UTF8()
			for at := 0; at < len(text); {
				if err := ctx.Err(); err != nil {
					yield(broken(m, i, at), err)
					return false
				}
				end := at + piece(text[at:], len(text))
				d := llm.Delta{Text: text[at:end]}
				if p.Kind == skein.PartReasoning {
					d = llm.Delta{Reasoning: text[at:end]}
				}
				if at = end; !yield(d, nil) {
					return false
				}
			}
		}
	}
	if err := ctx.Err(); err != nil {
		yield(broken(m, len(m.Parts), 0), err)
		return false
	}
	return true
}

// broken returns the last delta of an answer of which m's first n parts and
// some bytes of the next were read.
func broken(m *skein.Message, n, bytes int) llm.Delta {
	part := *m
	part.Interrupted, part.Stop = true, ""
	part.Parts = slices.Clone(m.Parts[:n])
	if bytes > 0 {
		p := m.Parts[n]
		p.Text = skein.Text(p.Text.UTF8()[:bytes])
		part.Parts = append(part.Parts, p)
	}
	part.Parts = slices.DeleteFunc(part.Parts, func(p skein.Part) bool { return p.Kind == skein.PartCall })
	if len(part.Parts) == 0 {
		return llm.Delta{}
	}
	return llm.Delta{Message: &part}
}

// piece returns how many bytes of rest, the end of a text of whole bytes, are
// sent at once.
func piece(rest string, whole int) int {
	n := max(24, whole/1000)
	for n < len(rest) && !utf8.RuneStart(rest[n]) {
		n++
	}
	return min(n, len(rest))
}
