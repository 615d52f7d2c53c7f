package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// leastPiece is the shortest piece of a secret that is kept out of a snippet,
// in bytes, where the snippet begins or ends in the middle of it.
const leastPiece = 3

// Snippet returns a snippet of a search without the secrets of the texts that
// it may be from: those that it shows only a piece of as well, which by itself
// looks like nothing. The marks around what matched stay.
func (r *Redactor) Snippet(snippet string, whole ...string) string {
	plain, marks := unmarked(snippet)
	found := r.Find(plain)
	for _, text := range whole {
		for _, f := range r.Find(text) {
			found = append(found, pieces(plain, f.Kind, squeezed(text[f.Start:f.End]))...)
		}
	}
	if len(found) == 0 {
		return snippet
	}
	var b strings.Builder
	at := 0
	for _, f := range merged(found) {
		write(&b, plain, marks, at, f.Start)
		b.WriteString(f.Kind.Mark())
		for i := max(f.Start, at); i < f.End; i++ {
			b.WriteString(marks[i])
		}
		at = f.End
	}
	write(&b, plain, marks, at, len(plain))
	b.WriteString(marks[len(plain)])
	return strings.ReplaceAll(b.String(), skein.Mark+skein.EndMark, "")
}

// Visible reports whether what q looks for, and found in these texts, stands in
// what is shown of them: who sees no secrets could else ask for one letter after
// the other.
//
// The error is that of q's matcher.
func (r *Redactor) Visible(q skein.Query, texts ...string) (bool, error) {
	m, err := q.Matcher()
	if err != nil || q.Empty() {
		return err == nil, err
	}
	var shown []string
	hidden := false
	for _, text := range texts {
		from := 0
		for _, f := range r.Find(text) {
			hidden = true
			shown = append(shown, text[from:f.Start])
			from = f.End
		}
		shown = append(shown, text[from:])
	}
	switch {
	case !hidden:
		return true, nil
	case q.Regex != "" || q.Substring != "":
		return slices.ContainsFunc(shown, m.MatchesText), nil
	}
	// An index finds words by their stem too, which the matcher does not.
	return m.MatchesText(strings.Join(shown, "\n")) || !m.MatchesText(strings.Join(texts, "\n")), nil
}

// write appends the bytes from up to to of plain, with the marks before each.
func write(b *strings.Builder, plain string, marks []string, from, to int) {
	for i := from; i < to; i++ {
		b.WriteString(marks[i])
		b.WriteByte(plain[i])
	}
}

// merged returns found in order, with one for those that overlap.
func merged(found []Secret) (all []Secret) {
	slices.SortFunc(found, func(a, b Secret) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	for _, f := range found {
		if n := len(all); n > 0 && f.Start < all[n-1].End {
			all[n-1].End = max(all[n-1].End, f.End)
			continue
		}
		all = append(all, f)
	}
	return all
}

// unmarked returns s without its marks, and those that stand before each byte
// of it and at its end.
func unmarked(s string) (plain string, marks []string) {
	var b strings.Builder
	mark := ""
	for i := range len(s) {
		if c := s[i : i+1]; c == skein.Mark || c == skein.EndMark {
			mark += c
			continue
		}
		b.WriteByte(s[i])
		marks, mark = append(marks, mark), ""
	}
	return b.String(), append(marks, mark)
}

// squeezed returns s as snippets show it: on one line.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// pieces returns where plain shows secret, or begins or ends in it.
func pieces(plain string, kind Kind, secret string) (found []Secret) {
	for at := 0; secret != ""; {
		i := strings.Index(plain[at:], secret)
		if i < 0 {
			break
		}
		found = append(found, Secret{kind, at + i, at + i + len(secret)})
		at += i + len(secret)
	}
	text := strings.Trim(plain, "… ")
	if text == "" {
		return found
	}
	from := strings.Index(plain, text)
	to := from + len(text)
	if strings.Contains(secret, text) {
		return append(found, Secret{kind, from, to})
	}
	for n := min(len(secret), len(text)) - 1; n >= leastPiece; n-- {
		if strings.HasPrefix(text, secret[len(secret)-n:]) {
			found = append(found, Secret{kind, from, from + n})
			break
		}
	}
	for n := min(len(secret), len(text)) - 1; n >= leastPiece; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			found = append(found, Secret{kind, to - n, to})
			break
		}
	}
	return found
}
