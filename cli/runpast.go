package cli

import (
	"context"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/prose"
)

// past shows earlier messages of the thread on stderr, as the flags ask; without
// such a flag, the last few on a terminal. Stdout is for the answer.
func (w *runFace) past(ctx context.Context) error {
	o := w.thread.options
	few := !o.full && !o.replay
	if few && (o.none || w.json || !w.job.Terminal.Err) {
		return nil
	}
	s := w.thread.at.session // for a fork, its parent
	if w.thread.Begun() {
		var err error
		if s, err = w.thread.Session(ctx); err != nil {
			return err
		}
	}
	if s.ID == "" {
		return nil
	}
	j := w.onStderr()
	show := &showOptions{thinking: o.thinking}
	if o.replay {
		return j.replay(ctx, j.Stdout, s, &replaying{speed: o.speed}, show)
	}
	t := newTranscript(j.Stdout, j, show)
	if few {
		return w.few(ctx, j, s, t)
	}
	for e, err := range (reader{ctx, j.store, s}).entries(0) {
		if err != nil {
			return err
		}
		if e.Rewound {
			continue
		}
		if err := t.entry(&e); err != nil {
			return err
		}
	}
	return nil
}

// few writes the newest messages of s.
func (w *runFace) few(ctx context.Context, j *job, s skein.Session, t *transcript) error {
	shown, earlier, err := j.newestShown(ctx, s, resumed)
	if err != nil {
		return err
	}
	if earlier > 0 {
		j.say("(%s; --full-history shows them)", count(earlier, "earlier message"))
	}
	for i := range shown {
		if err := t.entry(&shown[i]); err != nil {
			return err
		}
	}
	return nil
}

// onStderr returns the job with the store as the session's user sees it, and stderr
// in place of stdout.
func (w *runFace) onStderr() *job {
	j, env := *w.job, *w.job.Env
	env.Stdout, env.Terminal.Out = env.Stderr, env.Terminal.Err
	j.Env, j.store, j.paint = &env, w.thread.store, prose.Paint{On: w.job.paint.On && env.Terminal.Err}
	return &j
}

// ponder shows the reasoning received so far on stderr, if that is wanted.
func (w *runFace) ponder() {
	text := strings.TrimSpace(w.thought)
	w.thought = ""
	if text != "" && w.thinking {
		w.job.say("┊ %s", strings.ReplaceAll(text, "\n", "\n┊ "))
	}
}
