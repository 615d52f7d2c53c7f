package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

func (s *toolset) readers(m *sdk.Server) {
	add(s, m, &sdk.Tool{Name: "session_list", Title: "List sessions", Annotations: looks(), Description: "List sessions, newest first."}, s.list)
	add(s, m, &sdk.Tool{Name: "session_search", Title: "Search sessions", Annotations: looks(), Description: "Find messages, tool calls and results by their words. " +
		`The query: fork pointer (both words), "fork pointer" (the phrase), snap* (words that begin with snap), -draft (without this word), ` +
		"tool:bash status:error file:store.go role:user agent:codex project:api session:NAME since:7d until:2026-11-21."}, s.search)
	add(s, m, &sdk.Tool{Name: "session_read", Title: "Read a session", Annotations: looks(), Description: "Read the messages of a session, oldest first on each page. " +
		"Without a cursor, the newest messages; next_cursor reads further back. With from, the messages from that seq on; next_cursor reads further on. With seq, one message, its texts from offset on. " +
		"Each call has a state: completed, error, running, pending, uncertain (its program died, so it may have taken effect), or open if nothing is known; result is the seq of its result."}, s.read)
	add(s, m, &sdk.Tool{Name: "session_tree", Title: "Show a session's family", Annotations: looks(), Description: "Show what a session came from, its forks, and the children that its agent started."}, s.tree)
	add(s, m, &sdk.Tool{Name: "session_usage", Title: "Sum up usage", Annotations: looks(), Description: "Sum up tokens, requests and cost in US dollars by day, model, agent, project or session."}, s.usage)
	add(s, m, &sdk.Tool{Name: "session_now", Title: "What sessions are doing", Annotations: looks(), Description: "List what each session is doing: waiting for a person (with the question), working (with the tool that runs), idle, failed (with the error) or ended. " +
		"Those that wait come first. It also says which budgets are nearly used."}, s.now)
}

type listIn struct {
	Project    string `json:"project,omitempty" jsonschema:"only sessions of this project: its path, exactly"`
	Repository string `json:"repository,omitempty" jsonschema:"only sessions of this repository, in whichever clone: github.com/owner/name. With project: sessions of either"`
	Agent      string `json:"agent,omitempty" jsonschema:"only sessions of this agent"`
	Origin     string `json:"origin,omitempty" jsonschema:"only sessions imported from this format, such as claude-code"`
	Tag        string `json:"tag,omitempty" jsonschema:"only sessions with this tag"`
	Title      string `json:"title,omitempty" jsonschema:"only sessions whose title contains this, ignoring case"`
	Since      string `json:"since,omitempty" jsonschema:"only sessions that changed since this time: 2026-11-21 or 2026-11-21T14:30:00Z"`
	Until      string `json:"until,omitempty" jsonschema:"only sessions that changed before this time"`
	Limit      int    `json:"limit,omitempty" jsonschema:"at most this many, up to 100; 20 if not given"`
	Cursor     string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page"`
}

// A sessionLine is a session in an answer.
type sessionLine struct {
	ID         skein.SessionID `json:"id"`
	Name       string          `json:"name,omitempty"`
	Key        string          `json:"key,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Model      string          `json:"model,omitempty"`
	Project    string          `json:"project,omitempty"`
	Repository string          `json:"repository,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	Origin     string          `json:"origin,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Created    skein.Time      `json:"created_at,omitzero"`
	Updated    skein.Time      `json:"updated_at,omitzero"`
	Messages   int             `json:"messages"`
	Turns      int             `json:"turns"`
	Last       skein.Seq       `json:"last"`
	Prompt     string          `json:"last_prompt,omitempty"`
}

func (s *toolset) line(x *skein.Session) sessionLine {
	l := sessionLine{
		ID: x.ID, Name: s.short(x.Name()), Key: x.Key, Agent: x.Agent, Model: x.Model, Project: x.Project, Tags: x.Tags,
		Repository: s.short(x.Checkout.Repository), Branch: s.short(x.Checkout.Branch),
		Created: x.Created, Updated: x.Updated, Messages: x.Messages, Turns: x.Turns, Last: x.Last, Prompt: s.short(x.LastPrompt),
	}
	if x.Origin != nil {
		l.Origin = x.Origin.Format
	}
	return l
}

// short returns the beginning of a text without secrets.
func (s *toolset) short(text string) string { return s.redactor().Start(text) }

// Bounds of the sessions in an answer.
const (
	fewSessions  = 20
	manySessions = 100
)

func (s *toolset) list(ctx context.Context, in listIn) (*sdk.CallToolResult, error) {
	f := skein.Filter{Project: in.Project, Repository: in.Repository, Agent: in.Agent, Origin: in.Origin, Tag: in.Tag, Title: in.Title}
	var err error
	if f.Since, err = when(in.Since); err != nil {
		return nil, err
	}
	if f.Until, err = when(in.Until); err != nil {
		return nil, err
	}
	if f.Before, err = sessionCursor(in.Cursor); err != nil {
		return nil, err
	}
	f.Limit = bound(in.Limit, fewSessions, manySessions) + 1
	p, last, n := &answerLines{toolset: s}, (*skein.Session)(nil), 0
	for x, err := range s.store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		if n++; n == f.Limit || !p.add(s.line(&x)) {
			return p.answer("next_cursor: " + cursorOf(last)), nil
		}
		last = &x
	}
	return p.answer(end), nil
}

const end = "There are no more."

// bound returns n, limited to many; few if n was not given.
func bound(n, few, many int) int {
	if n < 1 {
		return few
	}
	return min(n, many)
}

// cursorOf returns the cursor for the list after x.
func cursorOf(x *skein.Session) string { return fmt.Sprintf("%d.%s", int64(x.Updated), x.ID) }

func sessionCursor(cursor string) (*skein.Session, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // the list begins at its beginning
	}
	at, id, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return nil, fmt.Errorf("cursor %q: %w: not a cursor of this server", cursor, skein.ErrInvalid)
	}
	return &skein.Session{ID: skein.SessionID(id), Updated: skein.Time(n)}, nil
}

// when parses a date, in UTC, or a time; 0 if it is empty.
func when(text string) (skein.Time, error) {
	if text == "" {
		return 0, nil
	}
	if len(text) == len("2006-01-02") {
		text += "T00:00:00Z"
	}
	t, err := skein.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", skein.ErrInvalid, err)
	}
	return t, nil
}
