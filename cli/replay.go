package cli

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type replayOptions struct {
	showOptions
	speed   float64
	secrets secretsShown
}

func newReplay(f *frame) *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay NAME [flags]",
		Short: "replay a session at its own pace",
		Long: `Show a session at twice the pace at which it was said, or at the pace that
--speed sets. The pause between two messages is the time that passed between
them. If that time is unknown, it is 1.5 seconds plus half a second for every
hundred characters. No pause is shorter than half a second or longer than ten.
Press the space bar to pause and resume, and Ctrl-C to show the rest at once.
Secrets are hidden; --raw shows them.`,
		Example: `skein replay -
	skein replay 4f1d22a0 --speed 10 --tools`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().Float64Var(&o.speed, "speed", 2, "how many `times` as fast")
	c.Flags().BoolVar(&o.tools, "tools", false, "show the whole input and output of tools")
	c.Flags().BoolVar(&o.thinking, "thinking", false, "show the models' reasoning")
	secretsFlag(c, &o.secrets)
	jsonFlag(c, &o.json)
	return c
}

func (o *replayOptions) run(ctx context.Context, j *job, args []string) (err error) {
	if !(o.speed > 0) {
		return usagef("--speed %v: want a number above 0", o.speed)
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	told := j.goAround()
	defer func() { err = told(err) }()
	o.curtain = o.secrets.curtain()
	w, r := j.Stdout, &replaying{speed: o.speed}
	if j.Keys != nil && j.Terminal.In && j.Terminal.Out {
		restore, err := j.Keys()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
		w, r.keys = crlf{w}, pressed(ctx, j.Stdin)
	}
	return j.replay(ctx, w, s, r, &o.showOptions)
}

// replay writes s to w at the pace at which it was said.
func (j *job) replay(ctx context.Context, w io.Writer, s skein.Session, r *replaying, o *showOptions) error {
	all := reader{context.WithoutCancel(ctx), j.store, s}
	t := newTranscript(w, j, o)
	return r.play(ctx, o.curtain.entries(all.entries(0)),
		func(e *skein.Entry) bool { return !e.Rewound && t.shows(e) },
		func(e *skein.Entry) error {
			switch {
			case o.json:
				return writeJSON(w, e)
			case e.Rewound:
				return nil
			}
			return t.entry(e)
		})
}

// shows reports whether e is a message of a person or model with anything to show.
func (t *transcript) shows(e *skein.Entry) bool {
	if e.Message.Role != skein.RoleUser && e.Message.Role != skein.RoleAssistant {
		return false
	}
	for i := range e.Message.Parts {
		if t.part(&e.Message, &e.Message.Parts[i]).text != "" {
			return true
		}
	}
	return e.Message.Error != nil
}

// pressed returns the bytes of in as they arrive, until it or ctx ends.
func pressed(ctx context.Context, in io.Reader) <-chan byte {
	keys := make(chan byte)
	go func() {
		defer close(keys)
		b := make([]byte, 64)
		for {
			n, err := in.Read(b)
			for _, k := range b[:n] {
				select {
				case keys <- k:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return keys
}

// crlf writes to a terminal in raw mode, where a line feed does not return to the
// first column.
type crlf struct{ io.Writer }

func (c crlf) Write(b []byte) (int, error) {
	if _, err := c.Writer.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}
