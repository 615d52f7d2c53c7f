package agent

import (
	"context"

	"github.com/skein-dev/skein"
)

// TurnAs is Turn for a message that may come more than once, such as from a
// sender that retries: id identifies the message and is stored with it. A
// message that is stored already is not stored again: its answer is returned,
// or requested if there is none. If the message was rewound, or was overtaken
// before its answer came, the Outcome has no Text.
//
// TurnAs looks only among what the model is shown, so it is for messages that
// are repeated soon. Errors are those of Turn.
func (t *Thread) TurnAs(ctx context.Context, id skein.ClientID, m skein.Message, blobs ...skein.Blob) (out Outcome, err error) {
	defer skein.Wrapf(&err, "agent: turn %s in %s", id, t.id)
	if err := t.settle(ctx); err != nil {
		return Outcome{Stop: Error, Last: t.last}, err
	}
	at, err := t.saidAs(ctx, id)
	switch {
	case err != nil:
		return Outcome{Stop: Error, Last: t.last}, err
	case at == 0:
		return t.say(ctx, id, m, blobs)
	}
	shown, _, err := t.shown(ctx)
	if err != nil {
		return Outcome{Stop: Error, Last: t.last}, err
	}
	text, overtaken, there := answerTo(shown, at)
	if there && !overtaken && pending(shown) {
		return t.Retry(ctx)
	}
	return Outcome{Text: text, Stop: Done, Last: t.last}, nil
}

// saidAs returns the seq of the message that was stored with this client ID; 0
// if there is none.
func (w *sessionWriter) saidAs(ctx context.Context, id skein.ClientID) (skein.Seq, error) {
	events, err := w.events(ctx)
	for _, e := range events {
		if e.ClientID == id && e.Kind == skein.KindSaid {
			return e.Seq, err
		}
	}
	return 0, err
}

// answerTo returns the text of the last answer to the message at a seq, whether
// a person said something after it, and whether it is shown at all.
func answerTo(shown []skein.Entry, at skein.Seq) (text string, overtaken, there bool) {
	for i := range shown {
		e := &shown[i]
		switch m := &e.Message; {
		case e.Seq == at:
			there = true
		case !there:
		case m.Typed():
			return text, true, true
		case m.Role == skein.RoleAssistant && !m.Interrupted && m.Error == nil:
			text = m.Words()
		}
	}
	return text, false, there
}
