package mcp

import (
	"context"
	"fmt"
	"sort"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

// writeTools are the tools that change sessions.
type writeTools struct{ *toolset }

func (s writeTools) writers(m *sdk.Server) {
	add(s.toolset, m, &sdk.Tool{Name: "session_note", Title: "Add a note", Annotations: adds(), Description: "Add a note to a session. A note is not a message: no model sees it, and it changes nothing else."}, s.note)
	add(s.toolset, m, &sdk.Tool{Name: "session_fork", Title: "Fork a session", Annotations: adds(), Description: "Begin a new session that shows another session up to the end of a turn, or up to a seq, and continues independently."}, s.fork)
	add(s.toolset, m, &sdk.Tool{Name: "session_rename", Title: "Rename a session", Annotations: adds(), Description: "Give a session a title. A title that a person gave is not replaced."}, s.rename)
}

type noteIn struct {
	Session string `json:"session" jsonschema:"the session's ID, key or title"`
	Text    string `json:"text" jsonschema:"the note, at most 8000 bytes"`
}

// NoteName is the name of the noted event that session_note adds. Its data is
// an object with the member text.
const NoteName = "mcp:note"

type placeLine struct {
	Session skein.SessionID `json:"session"`
	Seq     skein.Seq       `json:"seq"`
}

func (s writeTools) note(ctx context.Context, in noteIn) (*sdk.CallToolResult, error) {
	if in.Text == "" || len(in.Text) > maxText {
		return nil, fmt.Errorf("a note of %d bytes: %w: want 1 to %d", len(in.Text), skein.ErrInvalid, maxText)
	}
	data := skein.MustJSON(struct {
		Text string `json:"text"`
	}{in.Text})
	return s.append(ctx, in.Session, skein.NewEvent(skein.KindNoted, skein.At(s.Now()), skein.Noted{Name: NoteName, Level: "info", Data: data}))
}

type renameIn struct {
	Session string `json:"session" jsonschema:"the session's ID, key or title"`
	Title   string `json:"title" jsonschema:"at most 200 bytes"`
}

func (s writeTools) rename(ctx context.Context, in renameIn) (*sdk.CallToolResult, error) {
	title := strings.Join(strings.Fields(in.Title), " ")
	if title == "" || len(title) > 200 {
		return nil, fmt.Errorf("a title of %d bytes: %w: want 1 to 200", len(title), skein.ErrInvalid)
	}
	to := skein.Titled{Title: title, By: skein.ByModel}
	if to.Wrapped() {
		return nil, fmt.Errorf("%w title %q: it looks like a wrapper that an agent's program puts around a message; begin it with another word", skein.ErrInvalid, title)
	}
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	was, err := s.whole.Session(ctx, x.ID) // unmasked: masks must not be stored
	if err != nil {
		return nil, err
	}
	to.Description = was.Description
	if x.TitleBy == skein.ByPerson {
		return nil, fmt.Errorf("session %s: %w: a person gave it the title %q", x.ID, skein.ErrRefused, x.Title)
	}
	return s.append(ctx, string(x.ID), skein.NewEvent(skein.KindTitled, skein.At(s.Now()), to))
}

// append adds an event to the session of that name.
func (s writeTools) append(ctx context.Context, name string, e skein.Event) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, name)
	if err != nil {
		return nil, err
	}
	at, err := skein.Add(ctx, s.store, x.ID, e)
	if err != nil {
		return nil, err
	}
	p := &answerLines{toolset: s.toolset}
	p.add(placeLine{x.ID, at})
	return p.answer("Done."), nil
}

type forkIn struct {
	Session string    `json:"session" jsonschema:"the session's ID, key or title"`
	Turn    int       `json:"turn,omitempty" jsonschema:"show everything up to the end of this turn"`
	Seq     skein.Seq `json:"seq,omitempty" jsonschema:"show the events up to this seq; without turn and seq, all"`
	Title   string    `json:"title,omitempty" jsonschema:"title of the new session"`
}

func (s writeTools) fork(ctx context.Context, in forkIn) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	at, err := s.forkPlace(ctx, x, in)
	if err != nil {
		return nil, err
	}
	id := skein.NewSessionID(s.Now())
	created := skein.Created{
		Title: skein.ShortTitle(in.Title), User: x.User, Surface: "mcp", Program: "skein", Version: s.Version,
		Profile: x.Profile, Provider: x.Provider, Project: x.Project, Cwd: x.Cwd,
		Parent: &skein.Parent{Session: x.ID, Seq: at, Why: skein.Fork},
	}
	_, err = s.store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{skein.NewEvent(skein.KindCreated, skein.At(s.Now()), created)}})
	if err != nil {
		return nil, err
	}
	p := &answerLines{toolset: s.toolset}
	p.add(placeLine{id, at})
	return p.answer("The new session was made."), nil
}

// forkPlace returns the last seq that a fork of x shows.
func (s writeTools) forkPlace(ctx context.Context, x skein.Session, in forkIn) (skein.Seq, error) {
	switch {
	case in.Turn != 0 && in.Seq != 0:
		return 0, fmt.Errorf("turn %d and seq %d: %w: want one of them", in.Turn, in.Seq, skein.ErrInvalid)
	case in.Seq < 0 || in.Seq > x.Last:
		return 0, fmt.Errorf("seq %d: %w: the session has 1 to %d", in.Seq, skein.ErrInvalid, x.Last)
	case in.Turn < 0 || in.Turn > x.Ever().Turns:
		return 0, fmt.Errorf("turn %d: %w: the session has %d", in.Turn, skein.ErrInvalid, x.Ever().Turns)
	case in.Seq > 0:
		return in.Seq, nil
	case in.Turn == 0:
		return x.Last, nil
	}
	var err error
	i := sort.Search(int(x.Last), func(i int) bool { // turn numbers never decrease
		if err != nil {
			return true
		}
		found, lookErr := s.store.Newest(ctx, x.ID, 1, skein.Seq(i+2))
		err = lookErr
		return len(found) > 0 && found[0].Turn > in.Turn
	})
	return skein.Seq(i), err
}
