package cli

import (
	"iter"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/redact"
)

// A curtain masks secrets in what is shown. The zero value masks nothing.
type curtain struct{ redact *redact.Redactor }

// secretsFlag gives c the flag --raw, for a view or an export that masks secrets by
// default.
func secretsFlag(c *cobra.Command, to *secretsShown) {
	c.Flags().BoolVar((*bool)(to), "raw", false, "show secrets: tokens, keys, passwords")
}

// A secretsShown says whether a view or an export shows secrets: the flag --raw.
type secretsShown bool

// curtain returns what masks the secrets, unless they are shown.
func (s secretsShown) curtain() curtain {
	if s {
		return curtain{}
	}
	return curtain{redact.New()}
}

// text returns s with its secrets masked.
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

// sessions returns ss with their secrets masked.
func (c curtain) sessions(ss []skein.Session) []skein.Session {
	shown := make([]skein.Session, len(ss))
	for i := range ss {
		shown[i] = c.session(ss[i])
	}
	return shown
}

// log masks the secrets in e, an entry of a log.
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

// store returns st with secrets masked in its search results.
func (c curtain) store(st skein.Store) skein.Store {
	if c.redact == nil {
		return st
	}
	return c.redact.Cover(st)
}

// entries yields the entries of seq with their secrets masked.
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
