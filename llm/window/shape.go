package window

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// part adds to d what the provider accepts of p, a part of the message m.
func (b *contextBuilder) part(d *draftMessage, m *skein.Message, p *skein.Part) {
	switch {
	case p.Call != nil && p.Kind == skein.PartCall:
		b.call(d, p.Call)
	case p.Result != nil && p.Kind == skein.PartResult:
		b.result(d.seq, p.Result)
	case p.Kind == skein.PartText, p.Kind == skein.PartSummary:
		b.text(d, p)
	case p.Kind == skein.PartReasoning:
		if d.m.Role != skein.RoleAssistant || m.Interrupted || !b.rules.takesBack(m, p) {
			b.repair(d.seq, RepairReasoning, cmp.Or(m.Model, m.Provider))
			return
		}
		d.m.Parts = append(d.m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(p.Text.UTF8()), Raw: p.Raw})
	case p.Kind == skein.PartFile && p.File != nil:
		if d.m.Role == skein.RoleUser && takes(b.rules.Media, p.File) {
			f := *p.File
			d.m.Parts = append(d.m.Parts, skein.Part{Kind: skein.PartFile, File: &f, Synthetic: p.Synthetic})
			return
		}
		b.repair(d.seq, RepairFile, p.File.Name)
		b.text(d, &skein.Part{Text: skein.Text(describe(p.File)), Synthetic: true})
	default:
		b.repair(d.seq, RepairPart, string(p.Kind))
	}
}

func (b *contextBuilder) text(d *draftMessage, p *skein.Part) {
	text := p.Text.UTF8()
	if !utf8.ValidString(string(p.Text)) {
		b.repair(d.seq, RepairText, "")
	}
	if strings.TrimSpace(text) != "" {
		d.m.Parts = append(d.m.Parts, skein.Part{Kind: skein.PartText, Text: skein.Text(text), Synthetic: p.Synthetic})
	}
}

// describe returns a text that stands for f.
func describe(f *skein.File) string {
	s := "[file " + cmp.Or(f.Name, "without a name")
	if f.First > 0 {
		s += fmt.Sprintf(", lines %d to %d", f.First, f.Last)
	}
	if f.Media != "" {
		s += ", " + f.Media
	}
	if f.Size > 0 {
		s += fmt.Sprintf(", %d bytes", f.Size)
	}
	return skein.Text(s + "]").UTF8()
}

// A shownMessage is a message of the context and the seq of its first event.
type shownMessage struct {
	seq skein.Seq
	m   skein.Message
}

// shape turns the drafts into messages that keep the rules, with summary before
// those after the seq covered.
func (b *contextBuilder) shape(covered skein.Seq, summary string) (messages []skein.Message, seqs []skein.Seq) {
	head := b.first(func(d *draftMessage) bool { return d.m.Role != skein.RoleSystem })
	tail := max(head, b.first(func(d *draftMessage) bool { return d.seq > covered }))
	before, rest := b.drafts[:tail], b.window(b.drafts[tail:])
	b.drafts = slices.Concat(before, rest)
	b.settle()
	if b.rules.Room > 0 {
		fitting{b}.fit(len(summary))
	}
	all := b.whole(before)
	if summary = skein.Text(summary).UTF8(); strings.TrimSpace(summary) != "" && !begins(rest, summary) {
		all = append(all, shownMessage{0, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartText, Text: skein.Text(summary), Synthetic: true}}}})
	}
	all = b.joined(b.userFirst(b.endReasoning(append(all, b.whole(rest)...))))
	b.trimLast(all)
	for _, s := range all {
		messages, seqs = append(messages, s.m), append(seqs, s.seq)
	}
	return messages, seqs
}

// first returns the index of the first draft for which so is true, or their
// number.
func (b *contextBuilder) first(so func(*draftMessage) bool) int {
	if i := slices.IndexFunc(b.drafts, so); i >= 0 {
		return i
	}
	return len(b.drafts)
}

// begins reports whether the first of drafts has the summary already.
func begins(drafts []*draftMessage, summary string) bool {
	return len(drafts) > 0 && drafts[0].m.Role == skein.RoleUser &&
		slices.ContainsFunc(drafts[0].m.Parts, func(p skein.Part) bool { return string(p.Text) == summary })
}

// window returns the newest drafts that fit in Rules.Newest, starting at the
// first user message among them; without one, at the first answer that fits, or
// at the last answer if none does.
func (b *contextBuilder) window(drafts []*draftMessage) []*draftMessage {
	n, from := 0, len(drafts) // messages, first draft that fits
	for from > 0 && n < b.rules.Newest {
		from--
		if n++; len(drafts[from].rounds) > 0 {
			n++
		}
	}
	if n > b.rules.Newest && from < len(drafts)-1 {
		from++
	}
	if b.rules.Newest <= 0 || from == 0 {
		return drafts
	}
	if i := slices.IndexFunc(drafts[from:], func(d *draftMessage) bool { return d.m.Role == skein.RoleUser }); i > 0 {
		from += i
	}
	b.repair(drafts[from].seq, RepairWindow, fmt.Sprintf("%d messages before it", from))
	return drafts[from:]
}

// whole returns the drafts as messages, each followed by its results.
func (b *contextBuilder) whole(drafts []*draftMessage) (all []shownMessage) {
	for _, d := range drafts {
		all = append(all, shownMessage{d.seq, d.m})
		if len(d.rounds) == 0 {
			continue
		}
		results := shownMessage{d.seq, skein.Message{Role: b.rules.resultsAs()}}
		for _, r := range d.rounds {
			results.m.Parts = append(results.m.Parts, b.answer(r))
		}
		all = append(all, results)
	}
	return all
}

// endReasoning leaves out reasoning at the end of an answer, and messages that
// have nothing else.
func (b *contextBuilder) endReasoning(all []shownMessage) []shownMessage {
	goesOn := false
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		if s.m.Role != skein.RoleAssistant {
			goesOn = false
			continue
		}
		for len(s.m.Parts) > 0 && !goesOn {
			last := len(s.m.Parts) - 1
			if goesOn = s.m.Parts[last].Kind != skein.PartReasoning; !goesOn {
				s.m.Parts = s.m.Parts[:last]
				b.repair(s.seq, RepairReasoning, "at the end")
			}
		}
	}
	return slices.DeleteFunc(all, func(s shownMessage) bool { return len(s.m.Parts) == 0 })
}

// userFirst adds a user message before an answer that would come first.
func (b *contextBuilder) userFirst(all []shownMessage) []shownMessage {
	i := slices.IndexFunc(all, func(s shownMessage) bool { return s.m.Role != skein.RoleSystem })
	if !b.rules.UserFirst || i < 0 || all[i].m.Role == skein.RoleUser {
		return all
	}
	b.repair(all[i].seq, RepairFirst, "")
	return slices.Insert(all, i, shownMessage{0, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{
		{Kind: skein.PartText, Text: "[What was said before is not shown.]", Synthetic: true},
	}}})
}

// joined merges consecutive messages of the same role.
func (b *contextBuilder) joined(all []shownMessage) (out []shownMessage) {
	if !b.rules.Alternate {
		return all
	}
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && out[last].m.Role == s.m.Role {
			to := &out[last].m
			to.Parts = append(to.Parts, s.m.Parts...)
			to.Synthetic = to.Synthetic && s.m.Synthetic
			if slices.ContainsFunc(s.m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartReasoning }) {
				to.Provider, to.Model = s.m.Provider, s.m.Model // the provider and model of the signature
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// trimLast removes the spaces at the end of a final answer.
func (b *contextBuilder) trimLast(all []shownMessage) {
	if !b.rules.TrimLast || len(all) == 0 || all[len(all)-1].m.Role != skein.RoleAssistant {
		return
	}
	s := &all[len(all)-1]
	p := &s.m.Parts[len(s.m.Parts)-1]
	if trimmed := strings.TrimRightFunc(string(p.Text), unicode.IsSpace); p.Kind == skein.PartText && trimmed != string(p.Text) {
		p.Text = skein.Text(trimmed)
		b.repair(s.seq, RepairText, "spaces at the end")
	}
}
