package gateway

import (
	"context"
	"errors"
	"strings"

	"github.com/skein-dev/skein"
)

// A Talker lets agents answer, on this machine.
type Talker interface {
	// Talk takes the lease of the session, says the text there, under its
	// client ID, lets its agent answer until it has no more to say, and gives
	// the lease back. When ctx ends, it stops with ctx's error. A text that was
	// said before under that ID is not said again, as in [agent.Thread.TurnAs].
	//
	// The error wraps [skein.ErrLocked] if another program works on the
	// session, or says what is wrong with agent, model or text.
	Talk(ctx context.Context, t Talk) (Answer, error)

	// Personality lets the agent of this name answer in the session from now
	// on; "" lists the agents. It returns what to tell the person. The errors
	// are those of Talk.
	Personality(ctx context.Context, t Talk, name string) (string, error)

	// Cost returns what a session has cost, for people; "" if that is not
	// known. The errors are the Store's.
	Cost(ctx context.Context, s skein.Session) (string, error)
}

// A Talk is a text to say, and the session to say it in.
type Talk struct {
	Session skein.SessionID // "" begins a session under Key
	Key     string
	Surface string
	ID      skein.ClientID
	Text    string
}

// An Answer is the answer to a message.
type Answer struct {
	Session skein.SessionID
	Text    string // Markdown; "" for no answer
}

// answer returns what to tell the writer of a message; false if ctx ended
// first, and the next run must answer it.
func (g *Gateway) answer(ctx context.Context, it *queuedMessage) (Answer, bool) {
	text := strings.TrimSpace(it.Text)
	if text == "" {
		return Answer{Text: "Only text messages can be read here."}, true
	}
	s, err := Find(ctx, g.Store, g.User, it.Key)
	if errors.Is(err, skein.ErrNotFound) {
		err = nil
	}
	var a Answer
	if err == nil {
		if s.ID != "" {
			defer g.hold(s.ID)()
		}
		if name, ok := strings.CutPrefix(text, "/"); ok {
			a.Text, err = g.command(ctx, it, s, name)
			a.Session = s.ID
		} else {
			a, err = g.talked(ctx, g.talk(it, s, text))
		}
	}
	if ctx.Err() != nil {
		return a, false
	}
	if err != nil {
		g.Log.Warn("a message could not be answered", "key", it.Key, "err", err)
		a.Text = strings.TrimSpace(a.Text + "\n\n" + trouble(err))
	}
	return a, true
}

func (g *Gateway) talk(it *queuedMessage, s skein.Session, text string) Talk {
	return Talk{Session: s.ID, Key: it.Key, Surface: it.Surface, ID: it.client(), Text: text}
}

// trouble returns an error as text for the person who wrote.
func trouble(err error) string {
	var locked *skein.LockedError
	switch {
	case errors.As(err, &locked):
		return "Another program is working on this conversation: " + locked.Holder.String() + ". Send your message again when that program has ended."
	case errors.Is(err, skein.ErrLocked):
		return "Another program is working on this conversation. Send your message again when that program has ended."
	}
	return "That did not work: " + skein.Reason(err)
}
