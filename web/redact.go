package web

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/redact"
)

// Redact returns text without secrets.
func (s *site) Redact(text string) string {
	if s.Secrets == nil {
		return text
	}
	return s.Secrets.Text(text)
}

// veiled returns a session without secrets in its names.
func (s *site) veiled(one skein.Session) skein.Session {
	if s.Secrets == nil {
		return one
	}
	return s.Secrets.Session(one)
}

// veiledHit returns the snippet of a hit without secrets, nor pieces of one.
func (s *site) veiledHit(ctx context.Context, h skein.Hit) (string, error) {
	if s.Secrets == nil {
		return h.Snippet, nil
	}
	texts, err := textsOf(ctx, h)
	return s.Secrets.Snippet(h.Snippet, texts...), err
}

// textsOf returns the texts that the snippet of a hit may be from.
func textsOf(ctx context.Context, h skein.Hit) (texts []string, err error) {
	found, err := door.From(ctx).Store.Newest(ctx, h.Session, 1, h.Seq+1)
	for i := range found {
		texts = append(texts, redact.Texts(&found[i].Message)...)
	}
	return texts, err
}

// visible returns the hits of q without those that match only in what is hidden
// from the visitor.
func (s *site) visible(ctx context.Context, q skein.Query, hits []skein.Hit) (shown []skein.Hit, err error) {
	if s.Secrets == nil || door.From(ctx).Raw {
		return hits, nil
	}
	for _, h := range hits {
		texts, err := textsOf(ctx, h)
		if errors.Is(err, skein.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		ok, err := s.Secrets.Visible(q, texts...)
		if err != nil {
			return nil, err
		}
		if q.Regex != "" || q.Substring != "" {
			h.Count = 0 // it counts what is hidden, too
		}
		if ok {
			shown = append(shown, h)
		}
	}
	return shown, nil
}

// veil takes the secrets out of what the page is to show.
func (t *transcriber) veil(w window) window {
	if t.Raw || t.Secrets == nil {
		return w
	}
	for i := range w.Entries {
		e := t.Secrets.Entry(w.Entries[i])
		t.Hid = t.Hid || !sameText(&e.Message, &w.Entries[i].Message)
		w.Entries[i] = e
	}
	for i := range w.Events {
		w.Events[i] = t.Secrets.Event(w.Events[i])
	}
	t.Session = t.Secrets.Session(t.Session)
	return w
}

// sameText reports whether two messages, one made of the other, say the same.
func sameText(a, b *skein.Message) bool {
	for i := range a.Parts {
		p, q := &a.Parts[i], &b.Parts[i]
		switch {
		case p.Text != q.Text,
			p.Call != nil && string(p.Call.Input) != string(q.Call.Input),
			p.Result != nil && (p.Result.Text != q.Result.Text || string(p.Result.Raw) != string(q.Result.Raw)):
			return false
		}
	}
	return true
}
