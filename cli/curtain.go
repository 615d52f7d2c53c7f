package cli

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/sessionlog"
)

// A curtain hides secrets in what is shown. The zero value hides nothing.
type curtain struct{ redact *redact.Redactor }

// secretsFlag gives c the flag --raw, for a view or an export that hides
// secrets without it.
func secretsFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "raw", false, "show secrets too: tokens, keys, passwords")
}

// drawn returns the curtain of a command; raw is its flag.
func drawn(raw bool) curtain {
	if raw {
		return curtain{}
	}
	return curtain{redact.New()}
}

// text returns s as it may be shown.
func (c curtain) text(s string) string {
	if c.redact == nil {
		return s
	}
	return c.redact.Text(s)
}

func (c curtain) entry(e skein.Entry) skein.Entry {
	if c.redact == nil {
		return e
	}
	return c.redact.Entry(e)
}

func (c curtain) event(e skein.Event) skein.Event {
	if c.redact == nil {
		return e
	}
	return c.redact.Event(e)
}

func (c curtain) session(s skein.Session) skein.Session {
	if c.redact == nil {
		return s
	}
	return c.redact.Session(s)
}

// sessions returns ss as they may be shown.
func (c curtain) sessions(ss []skein.Session) []skein.Session {
	shown := make([]skein.Session, len(ss))
	for i := range ss {
		shown[i] = c.session(ss[i])
	}
	return shown
}

// log makes the line e of a log as it may be shown.
func (c curtain) log(e *sessionlog.Entry) {
	if c.redact == nil {
		return
	}
	e.Text, e.Input = skein.Text(c.redact.Text(string(e.Text))), string(c.redact.JSON([]byte(e.Input)))
	e.Raw = c.redact.JSON(e.Raw)
	if len(e.Data) > 0 {
		e.Data = c.redact.JSON(e.Data)
	}
}

// hit returns a session and what was found in it as they may be shown: no piece
// of a secret either.
func (c curtain) hit(ctx context.Context, st skein.Store, s skein.Session, h skein.Hit) (skein.Session, skein.Hit, error) {
	if c.redact == nil {
		return s, h, nil
	}
	found, err := st.Newest(ctx, h.Session, 1, h.Seq+1)
	var texts []string
	for i := range found {
		texts = append(texts, redact.Texts(&found[i].Message)...)
	}
	h.Snippet = c.redact.Snippet(h.Snippet, texts...)
	return c.redact.Session(s), h, err
}

// entries yields what seq does, as it may be shown.
func (c curtain) entries(seq iter.Seq2[skein.Entry, error]) iter.Seq2[skein.Entry, error] {
	if c.redact == nil {
		return seq
	}
	return func(yield func(skein.Entry, error) bool) {
		for e, err := range seq {
			if err == nil {
				e = c.entry(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
