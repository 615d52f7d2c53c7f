package cli

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
)

// say sends text as the person's prompt, with the files and agents that it mentions
// with @, and returns the outcome of the turn. If another program has just taken
// the new session's key, it continues that session, or uses another key. Then the
// session may get a title. Errors are those of agent.Thread.Turn and of open.
func (t *thread) say(ctx context.Context, text string) (agent.Outcome, error) {
	out, err := t.answer(ctx, text)
	return out, t.titled(ctx, out, err)
}

// answer is say without the title.
func (t *thread) answer(ctx context.Context, text string) (agent.Outcome, error) {
	if task := t.team.Definition.Task; task != "" && !t.Begun() {
		text = joined(task, text)
	}
	m, blobs, err := t.attach(text)
	if err != nil {
		return agent.Outcome{}, err
	}
	out, err := t.Turn(ctx, m, blobs...)
	for errors.Is(err, skein.ErrExists) && !t.Begun() && t.at.again != nil {
		if err := t.again(ctx); err != nil {
			return out, err
		}
		out, err = t.Turn(ctx, m, blobs...)
	}
	return out, err
}

// retry lets the last prompt be answered, if it was not. Errors are those of
// agent.Thread.Retry.
func (t *thread) retry(ctx context.Context) (agent.Outcome, error) {
	out, err := t.Retry(ctx)
	return out, t.titled(ctx, out, err)
}

// again moves the thread to another spot, because its key was taken.
func (t *thread) again(ctx context.Context) error {
	at, err := t.at.again(ctx)
	if err != nil {
		return err
	}
	if err := t.Close(ctx, "done"); err != nil { // nothing was stored
		return err
	}
	t.at = at
	next, err := t.begin(ctx)
	if err != nil {
		return locked(err)
	}
	t.Thread = next
	return nil
}

// titled lets the model give the session a title after its second turn, if the
// settings allow it and it has none yet. It ignores errors of the suggestion, except
// skein.ErrFenced.
func (t *thread) titled(ctx context.Context, out agent.Outcome, err error) error {
	if err != nil || out.Stop != agent.Done {
		return err
	}
	if t.answers++; t.job.settings.text("titles") == "off" {
		return nil
	}
	s, err := t.Session(ctx)
	if err != nil || s.Turns < 2 || s.Title != "" {
		return err
	}
	if err := t.Suggest(ctx); errors.Is(err, skein.ErrFenced) {
		return err
	}
	return nil
}

// joined returns two texts with a blank line between them, if there are two.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
