package sessions

import (
	"iter"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/redact"
)

// A Mask masks secrets in what is shown. The zero value masks nothing.
type Mask struct{ redact *redact.Redactor }

// SecretsFlag gives c the flag --raw, for a view or an export that masks secrets by
// default.
func SecretsFlag(c *cobra.Command, to *Secrets) {
	c.Flags().BoolVar((*bool)(to), "raw", false, "show secrets: tokens, keys, passwords")
}

// A Secrets says whether a view or an export shows secrets: the flag --raw.
type Secrets bool

// Mask returns what masks the secrets, unless they are shown.
func (s Secrets) Mask() Mask {
	if s {
		return Mask{}
	}
	return Mask{redact.New()}
}

// Text returns s with its secrets masked.
func (c Mask) Text(s string) string {
	if c.redact == nil {
		return s
	}
	return c.redact.Text(s)
}

// Entry returns e with its secrets masked.
func (c Mask) Entry(e skein.Entry) skein.Entry {
	if c.redact == nil {
		return e
	}
	return c.redact.Entry(e)
}

// Event returns e with its secrets masked.
func (c Mask) Event(e skein.Event) skein.Event {
	if c.redact == nil {
		return e
	}
	return c.redact.Event(e)
}

// Session returns s with its secrets masked.
func (c Mask) Session(s skein.Session) skein.Session {
	if c.redact == nil {
		return s
	}
	return c.redact.Session(s)
}

// Sessions returns ss with their secrets masked.
func (c Mask) Sessions(ss []skein.Session) []skein.Session {
	shown := make([]skein.Session, len(ss))
	for i := range ss {
		shown[i] = c.Session(ss[i])
	}
	return shown
}

// Log masks the secrets in e, an entry of a log.
func (c Mask) Log(e *sessionlog.Entry) {
	if c.redact == nil {
		return
	}
	e.Text, e.Input = skein.Text(c.redact.Text(string(e.Text))), string(c.redact.JSON([]byte(e.Input)))
	e.Raw = c.redact.JSON(e.Raw)
	if len(e.Data) > 0 {
		e.Data = c.redact.JSON(e.Data)
	}
}

// Store returns st with secrets masked in its search results.
func (c Mask) Store(st skein.Store) skein.Store {
	if c.redact == nil {
		return st
	}
	return c.redact.Cover(st)
}

// Entries yields the entries of seq with their secrets masked.
func (c Mask) Entries(seq iter.Seq2[skein.Entry, error]) iter.Seq2[skein.Entry, error] {
	if c.redact == nil {
		return seq
	}
	return func(yield func(skein.Entry, error) bool) {
		for e, err := range seq {
			if err == nil {
				e = c.Entry(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
