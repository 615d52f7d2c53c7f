package cli

import (
	"context"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type showOptions struct {
	events, tools, thinking, raw, rewound, json bool
	last, first, offset, turn                   int
	hidden                                      int // messages left out because they were taken back
	theirs                                      theirTurns
	curtain                                     curtain
}

func newShow(f *frame) *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show NAME [flags]",
		Short: "read a session",
		Long: `Read a session: a header with its title, ID, folder, agent and cost, then what
was said, with one line for each thing that the agent did. If you ask for a part
of the session, the header is left out. On a terminal, Markdown is rendered and
long output goes through the pager; in a pipe, the output is plain text. Each
secret is replaced by its kind; --raw shows the secrets. NAME is the ID of a
session or the end of its ID, its key, its title or a part of the title, or -
for the newest session of this project.`,
		Example: `skein show -
	skein show 4f1d22a0 --last 5 --tools
	skein show "flaky test" --turn 3
	skein show - --json | jq -r .message.role`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.IntVar(&o.last, "last", 0, "show only the newest `N` messages")
	g.IntVar(&o.first, "first", 0, "show only the first `N` messages")
	g.IntVar(&o.offset, "offset", 0, "skip `N` messages at that end")
	g.IntVar(&o.turn, "turn", 0, "show only turn `N`")
	g.BoolVar(&o.tools, "tools", false, "show the whole input and output of tools")
	g.BoolVar(&o.thinking, "thinking", false, "show the models' reasoning")
	g.BoolVar(&o.rewound, "rewound", false, "include messages that were taken back")
	g.BoolVar(&o.events, "events", false, "show the session's events instead")
	g.BoolVar(&o.raw, "raw", false, "show the text unchanged: with secrets, Markdown not rendered and, in a pipe, with control characters")
	jsonFlag(c, &o.json)
	return c
}

func (o *showOptions) run(ctx context.Context, j *job, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	told := j.goAround()
	r := reader{ctx, j.store, s}
	o.curtain, o.theirs = secretsShown(o.raw).curtain(), turnsOf(&s)
	if o.turn > 0 && o.turn > s.Ever().Turns {
		return advise(missing("no turn %d: session %s has %s", o.turn, shortID(s.ID), count(s.Ever().Turns, "turn")), "see its turns: skein fork %s", shortID(s.ID))
	}
	if o.events {
		err = o.writeEvents(j, r)
	} else {
		err = o.writeMessages(j, r)
	}
	if err == nil && o.hidden > 0 {
		j.say("%d messages were taken back; --rewound shows them", o.hidden)
	}
	if turns := o.theirs.say(s.Turns); err == nil && o.whole() {
		j.say("%s", turns)
	}
	if state := stateOf(&s); err == nil && state != "" {
		j.say("%s", state)
	}
	return told(err)
}

// whole reports whether all messages are shown.
func (o *showOptions) whole() bool { return o.last+o.first+o.offset+o.turn == 0 && !o.events }

func (o *showOptions) check() error {
	for _, f := range []struct {
		name string
		n    int
	}{{"last", o.last}, {"first", o.first}, {"offset", o.offset}, {"turn", o.turn}} {
		if f.n < 0 {
			return usagef("--%s %d: want 1 or more", f.name, f.n)
		}
	}
	if o.last > 0 && o.first > 0 || o.turn > 0 && o.last+o.first+o.offset > 0 {
		return usagef("--last, --first and --turn: want one of them")
	}
	return nil
}

func (o *showOptions) writeMessages(j *job, r reader) error {
	messages, told, err := o.told(r, o.messages(r))
	if err != nil {
		return err
	}
	var head sessionHead
	headed := o.whole() && !o.json
	if headed {
		head = o.headOf(r.ctx, j, r.session)
	}
	return j.page(r.ctx, func(w io.Writer) error {
		t := newTranscript(w, j, o)
		if headed {
			t.begin(head)
		}
		t.told = told
		for e, err := range o.curtain.entries(messages) {
			if err == nil {
				o.theirs.take(&e)
			}
			switch {
			case err != nil:
				return err
			case e.Rewound && !o.rewound:
				o.hidden++
			case o.json && o.whole() && o.theirs.program != "":
				err = writeJSON(w, theirEntry{told.Entry(e), o.theirs.turn})
			case o.json:
				err = writeJSON(w, told.Entry(e))
			default:
				err = t.entry(&e)
			}
			if err != nil {
				return err
			}
		}
		t.failed(nil)
		return t.err
	})
}

// messages yields the messages that are asked for.
func (o *showOptions) messages(r reader) iter.Seq2[skein.Entry, error] {
	switch {
	case o.turn > 0:
		return r.turn(o.turn)
	case o.last > 0:
		return r.last(o.last, o.offset)
	}
	return part(r.entries(0), o.offset, o.first)
}

// part yields n elements of seq (0: all), after leaving out the first skip.
func part[T any](seq iter.Seq2[T, error], skip, n int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		i := 0
		for v, err := range seq {
			if err == nil {
				if i++; i <= skip {
					continue
				}
			}
			if !yield(v, err) || n > 0 && i == skip+n {
				return
			}
		}
	}
}
