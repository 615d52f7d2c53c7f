package read

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

type replayOptions struct {
	ShowOptions
	speed   float64
	secrets sessions.Secrets
}

// NewReplay returns the command replay.
func NewReplay(f *job.Frame) *cobra.Command {
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
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().Float64Var(&o.speed, "speed", 2, "how many `times` as fast")
	c.Flags().BoolVar(&o.tools, "tools", false, "show the whole input and output of tools")
	c.Flags().BoolVar(&o.Thinking, "thinking", false, "show the models' reasoning")
	sessions.SecretsFlag(c, &o.secrets)
	job.JSONFlag(c, &o.json)
	return c
}

func (o *replayOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	if err := job.CheckSpeed("speed", o.speed); err != nil {
		return err
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	told := sessions.AroundDamage(j)
	defer func() { err = told(err) }()
	o.curtain = o.secrets.Mask()
	w, r := j.Stdout, &Replaying{Speed: o.speed}
	if j.Keys != nil && j.Terminal.In && j.Terminal.Out {
		restore, err := j.Keys()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
		w, r.Keys = crlf{w}, pressed(ctx, j.Stdin)
	}
	return Replay(ctx, j, w, s, r, &o.ShowOptions)
}

// Replay writes s to w at the pace at which it was said.
//
// The error wraps fault.ErrUsage, or is that of the store or of ctx.
func Replay(ctx context.Context, j *job.Job, w io.Writer, s skein.Session, r *Replaying, o *ShowOptions) error {
	all := sessions.Reader{Ctx: context.WithoutCancel(ctx), Store: j.Store, Session: s}
	t := NewTranscript(w, j, o)
	return r.play(ctx, o.curtain.Entries(all.Entries(0)),
		func(e *skein.Entry) bool { return !e.Rewound && t.shows(e) },
		func(e *skein.Entry) error {
			switch {
			case o.json:
				return job.WriteJSON(w, e)
			case e.Rewound:
				return nil
			}
			return t.Entry(e)
		})
}

// shows reports whether e is a message of a person or model with anything to show.
func (t *Transcript) shows(e *skein.Entry) bool {
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

// Replaying shows messages at the pace at which they were said.
type Replaying struct {
	Speed float64     // speed factor
	Keys  <-chan byte // keys pressed: space pauses and resumes, Ctrl-C shows the rest at once; nil if none are read

	rest   bool // no more pauses
	before skein.Time
	begun  bool
}

// Keys with a meaning while a session is replayed.
const (
	keySpace = ' '
	keyCtrlC = 0x03
)

// Bounds of a pause between two messages.
const (
	minPause = 500 * time.Millisecond
	maxPause = 10 * time.Second
)

// play calls show for each of entries, after a pause before each that visible
// accepts, except the first. When ctx ends, or on Ctrl-C, it shows the rest at
// once, so that nothing is lost; entries should therefore not end with ctx.
//
// Errors are those of entries and show.
func (r *Replaying) play(ctx context.Context, entries iter.Seq2[skein.Entry, error], visible func(*skein.Entry) bool, show func(*skein.Entry) error) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		if visible(&e) {
			if r.begun {
				r.pause(ctx, replayPause(r.before, e.Time, utf8.RuneCountInString(e.Message.Words()), r.Speed))
			}
			r.before, r.begun = e.Time, true
		}
		if err := show(&e); err != nil {
			return err
		}
	}
	return nil
}

// replayPause returns how long to wait between a message said at before and one of
// so many characters said at now: the time between them, or if that is not known,
// 1.5 s plus half a second for every hundred characters; divided by speed; at least
// 0.5 s and at most 10 s.
func replayPause(before, now skein.Time, characters int, speed float64) time.Duration {
	seconds := float64(now-before) / 1000
	if before == 0 || now == 0 {
		seconds = 1.5 + 0.5*float64(characters)/100
	}
	seconds = min(max(seconds/speed, minPause.Seconds()), maxPause.Seconds())
	return time.Duration(seconds * float64(time.Second))
}

// pause waits, unless the rest is to be shown at once.
func (r *Replaying) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	over, left := timer.C, d
	for began := time.Now(); !r.rest; {
		select {
		case <-ctx.Done():
			r.rest = true
		case <-over:
			return
		case k, ok := <-r.Keys:
			switch {
			case !ok:
				r.Keys = nil
			case k == keyCtrlC:
				r.rest = true
			case k == keySpace && over != nil: // the replay is paused
				timer.Stop()
				left -= time.Since(began)
				over = nil
			case k == keySpace:
				timer.Reset(max(left, 0))
				began, over = time.Now(), timer.C
			}
		}
	}
}
