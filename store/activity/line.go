package activity

import (
	"cmp"

	"github.com/skein-dev/skein"
)

// A Line is a [Now] in JSON.
type Line struct {
	ID      skein.SessionID `json:"id"`
	Name    string          `json:"name"`
	State   skein.WorkState `json:"state" enum:"working,waiting,idle,failed,ended"`
	Since   skein.Time      `json:"since,omitzero" doc:"when the state began; for a tool, when it was called"`
	Tool    string          `json:"tool,omitempty" doc:"the tool that was called and has no result yet"`
	Asks    skein.AskKind   `json:"asks,omitempty" enum:"permission,question" doc:"what a waiting session asks a person"`
	Text    string          `json:"text,omitempty" doc:"the question or the error, at most 200 bytes"`
	Reason  Reason          `json:"reason,omitempty" enum:"died,silent,growth" doc:"why, if the events do not say it: its program died; nothing was heard of it for long; its file grows"`
	User    skein.User      `json:"user,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Model   string          `json:"model,omitempty"`
	Project string          `json:"project,omitempty"`
	Branch  string          `json:"branch,omitempty"`
	Host    string          `json:"host,omitempty"`
	Origin  string          `json:"origin,omitempty" doc:"format that it was imported from"`
	Parent  skein.SessionID `json:"parent,omitempty" doc:"of a child: the session whose agent started it"`
	Updated skein.Time      `json:"updated_at,omitzero"`
}

// Line returns n in its JSON form. Secret texts must have been masked.
func (n *Now) Line() Line {
	l := Line{
		ID: n.ID, Name: n.Name(), State: n.State, Since: n.Since, Tool: n.Tool, Asks: n.Asks, Text: n.Text, Reason: n.Reason, User: n.User,
		Agent: n.Agent, Model: n.Model, Project: n.Project, Branch: n.Checkout.Branch, Host: n.Checkout.Host, Updated: n.Updated,
	}
	if n.Origin != nil {
		l.Origin = n.Origin.Format
	}
	if n.Parent != nil && n.Parent.Why == skein.Child {
		l.Parent = n.Parent.Session
	}
	return l
}

// Says describes the state to a person, without the session's name: "runs bash", "asks
// for permission: bash: rm -r build".
func (l *Line) Says() string {
	switch l.State {
	case skein.StateWaiting:
		what, text := "asks", cmp.Or(l.Text, l.Tool)
		if l.Asks == skein.AsksPermission {
			what = "asks for permission"
			if l.Text != "" && l.Tool != "" {
				text = l.Tool + ": " + l.Text
			}
		}
		return what + ": " + text
	case skein.StateWorking:
		switch {
		case l.Tool != "":
			return "runs " + l.Tool
		case l.Reason == Growth:
			return "is writing"
		}
		return "is answering"
	case skein.StateFailed:
		if l.Reason == Died {
			return "its program died"
		}
		return l.Text
	}
	if l.Reason == Silent {
		return "broke off in the middle of a turn"
	}
	return ""
}

// ReaderLines are the lines that a reader has, by ID.
type ReaderLines map[skein.SessionID]Line

// News returns those of lines that s does not have, or that say something else than
// that a session was active again, and adds them to s.
func (s ReaderLines) News(lines []Line) (news []Line) {
	for _, l := range lines {
		was, known := s[l.ID]
		if was.Updated = l.Updated; known && was == l {
			continue
		}
		s[l.ID] = l
		news = append(news, l)
	}
	return news
}
