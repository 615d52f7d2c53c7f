package own

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// The IDs of the options that a person has.
const (
	once   = "once"
	always = "always"
	never  = "no"
)

// ask lets the person in front of the editor decide.
func (s *session) ask(ctx context.Context, q Question) (Permission, error) {
	if s.id == "" {
		return Permission{}, nil // the editor does not know the session yet
	}
	call := map[string]any{"toolCallId": "skein-question", "kind": "other", "title": q.Text, "status": "pending"}
	if c := s.calls[q.Call]; c != nil {
		call = s.call(c.Call)
		before, _ := call["content"].([]any) //nolint:errcheck // nil if it has none
		call["content"] = append(textContent(q.Text), before...)
	}
	options := []any{map[string]any{"optionId": once, "name": "Allow once", "kind": "allow_once"}}
	if q.Always != "" {
		options = append(options, map[string]any{"optionId": always, "name": "Always allow " + q.Always, "kind": "allow_always"})
	}
	options = append(options, map[string]any{"optionId": never, "name": "Do not allow", "kind": "reject_once"})
	result, err := s.permission(ctx, skein.MustJSON(map[string]any{"sessionId": s.id, "toolCall": call, "options": options}))
	if err != nil {
		return Permission{}, err
	}
	var r struct {
		Outcome struct{ Outcome, OptionID string }
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return Permission{}, fmt.Errorf("the editor's answer to session/request_permission: %w", err)
	}
	if r.Outcome.Outcome == "cancelled" {
		s.c.cancelTurns(s.id)
		return Permission{}, context.Canceled
	}
	return Permission{Yes: r.Outcome.OptionID == once, Always: r.Outcome.OptionID == always && q.Always != ""}, nil
}

// permission asks the editor, and whoever is attached, for a permission, and returns the
// first answer.
func (s *session) permission(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	request := ""
	m, err := s.c.request(ctx, "session/request_permission", params, func(id string) {
		request = id
		s.guests.asks(id, params)
	})
	switch {
	case ctx.Err() != nil && err != nil:
		s.guests.decided(request, nil, "the end of the turn")
	case m.by == "": // else the guest's hub says it
		s.guests.decided(request, m.Result, s.guests.editor())
	}
	return m.Result, err
}

// editorFiles are the files that an editor has open. It implements files.Buffers.
type editorFiles struct {
	s   *session
	can editorPeer
}

// ReadText implements files.Buffers. What the editor cannot read is read from the disk.
func (e editorFiles) ReadText(ctx context.Context, path string) (string, bool) {
	if !e.can.reads {
		return "", false
	}
	result, err := e.s.c.ask(ctx, "fs/read_text_file", map[string]any{"sessionId": e.s.id, "path": path})
	var r struct{ Content *string }
	if err != nil || json.Unmarshal(result, &r) != nil || r.Content == nil {
		return "", false
	}
	return *r.Content, true
}

// WriteText implements files.Buffers.
func (e editorFiles) WriteText(ctx context.Context, path, text string) (bool, error) {
	if !e.can.writes {
		return false, nil
	}
	_, err := e.s.c.ask(ctx, "fs/write_text_file", map[string]any{"sessionId": e.s.id, "path": path, "content": text})
	return err == nil, err
}
