package erase

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// Mask returns b with a '*' for every byte of every occurrence of secrets, and
// whether there was one. It never changes b itself, and returns b if there is no
// occurrence. Empty secrets are ignored.
//
// The length does not change, and JSON stays JSON: there, Mask looks for secrets in
// the values of strings, however they are escaped, including field names, and in
// numbers, whose digits become 1. In any text, it also finds secrets that are escaped
// as JSON, once or twice: a secret in a JSON text that is a string in another JSON
// text is masked too.
func Mask(b []byte, secrets []string) ([]byte, bool) {
	forms := secretForms(secrets)
	if len(forms) == 0 {
		return b, false
	}
	if !json.Valid(b) {
		if at := occurrences(b, forms); len(at) > 0 {
			return maskRanges(bytes.Clone(b), at), true
		}
		return b, false
	}
	out, found := bytes.Clone(b), false
	for i := 0; i < len(out); {
		end := tokenEnd(out, i)
		found = maskToken(out[i:end], forms) || found
		i = end
	}
	if !found {
		return b, false
	}
	return out, true
}

// MaskSession returns s with secrets masked in the fields that people read. It is for
// sessions that can no longer be computed from their events, because one of these is
// damaged. s itself is not changed.
func MaskSession(s skein.Session, secrets []string) skein.Session {
	clean := func(text *string) {
		b, _ := Mask([]byte(*text), secrets)
		*text = string(b)
	}
	for _, text := range append(s.Checkout.Texts(),
		&s.Key, &s.Title, &s.Description, &s.Surface, &s.Project, &s.Cwd, &s.Agent, &s.Profile, &s.Provider, &s.Model, &s.Status,
	) {
		clean(text)
	}
	s.Tags, s.Open = slices.Clone(s.Tags), slices.Clone(s.Open)
	for _, texts := range [][]string{s.Tags, s.Open} {
		for i := range texts {
			clean(&texts[i])
		}
	}
	if s.Parent != nil {
		p := *s.Parent
		clean(&p.Call)
		s.Parent = &p
	}
	if s.Origin != nil {
		o := *s.Origin
		for _, text := range []*string{&o.Path, &o.ID, &o.Version} {
			clean(text)
		}
		s.Origin = &o
	}
	return s
}

// secretForms returns the forms in which secrets occur in a text.
func secretForms(secrets []string) (forms [][]byte) {
	escape := []func(string) string{
		func(s string) string { q := skein.AppendQuoted(nil, s); return string(q[1 : len(q)-1]) },
		func(s string) string { q, _ := json.Marshal(s); return string(q[1 : len(q)-1]) },
	}
	all := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" })
	for from, level := 0, 0; level < 2; level++ {
		to := len(all)
		for _, s := range all[from:to] {
			for _, e := range escape {
				if f := e(s); !slices.Contains(all, f) {
					all = append(all, f)
				}
			}
		}
		from = to
	}
	for _, s := range all {
		forms = append(forms, []byte(s))
	}
	return forms
}

// occurrences returns where forms occur in b.
func occurrences(b []byte, forms [][]byte) (at []search.ByteRange) {
	for _, f := range forms {
		for from := 0; ; {
			i := bytes.Index(b[from:], f)
			if i < 0 {
				break
			}
			at = append(at, search.ByteRange{Start: from + i, End: from + i + len(f)})
			from += i + 1
		}
	}
	return at
}

// maskRanges masks the ranges at in b.
func maskRanges(b []byte, at []search.ByteRange) []byte {
	for _, s := range at {
		for i := s.Start; i < s.End; i++ {
			b[i] = '*'
		}
	}
	return b
}

// maskToken masks the piece tok of valid JSON, a string or what is between two
// strings, and reports whether it found a secret.
func maskToken(tok []byte, forms [][]byte) (found bool) {
	if tok[0] != '"' {
		return maskNumbers(tok, forms)
	}
	tok = tok[1 : len(tok)-1]
	text, raw := tok, []search.ByteRange(nil)
	if bytes.IndexByte(tok, '\\') >= 0 {
		text, raw = decoded(tok)
	}
	at := occurrences(text, forms)
	for i, s := range at {
		if raw != nil {
			at[i] = search.ByteRange{Start: raw[s.Start].Start, End: raw[s.End-1].End}
		}
	}
	maskRanges(tok, at)
	return len(at) > 0
}

// decoded returns the value of a JSON string, given without its quotes as tok, and,
// for each byte of the value, where in tok it comes from.
func decoded(tok []byte) (text []byte, raw []search.ByteRange) {
	for i := 0; i < len(tok); {
		var n int
		if text, n = skein.AppendUnescaped(text, tok[i:]); n == 0 {
			text, n = append(text, tok[i]), 1
		}
		for len(raw) < len(text) {
			raw = append(raw, search.ByteRange{Start: i, End: i + n})
		}
		i += n
	}
	return text, raw
}

// maskNumbers is maskToken for what is between two strings. A number that is or has
// a secret keeps its form.
func maskNumbers(tok []byte, forms [][]byte) (found bool) {
	for _, s := range occurrences(tok, forms) {
		if len(bytes.Trim(tok[s.Start:s.End], "+-.0123456789Ee")) > 0 {
			continue
		}
		found = true
		for i := s.Start; i < s.End; i++ {
			if '0' <= tok[i] && tok[i] <= '9' {
				tok[i] = '1'
			}
		}
	}
	return found
}

// tokenEnd returns the end of the token, a string or what is between strings, that
// begins at i in the valid JSON b.
func tokenEnd(b []byte, i int) int {
	if b[i] != '"' {
		if n := bytes.IndexByte(b[i:], '"'); n >= 0 {
			return i + n
		}
		return len(b)
	}
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
