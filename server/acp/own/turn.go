package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
)

// prompt answers a prompt.
func (s *session) prompt(ctx context.Context, p *requestParams) (any, func(), error) {
	r, err := s.turn(ctx, p, s.guests.editor())
	if errors.Is(err, context.Canceled) {
		return stopped("cancelled"), nil, nil
	}
	return r, nil, err
}

// respond returns the answer to a prompt.
func (s *session) respond(ctx context.Context, p *requestParams) (map[string]any, error) {
	m, blobs := messageOf(p.Prompt)
	if len(m.Parts) == 0 {
		return nil, &codedError{stored.InvalidParams, "the prompt is empty"}
	}
	if name, args, ok := slash(m.Words()); ok {
		answer, known, err := s.thread.Command(ctx, name, args)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			s.chunk("agent_message_chunk", s.c.o.Explain(err))
			return stopped("end_turn"), nil
		case known:
			s.chunk("agent_message_chunk", answer)
			s.chosen(ctx)
			return stopped("end_turn"), nil
		}
	}
	s.stop = ""
	out, err := s.thread.Say(ctx, m, blobs)
	s.unfinished()
	if err != nil {
		return nil, locked(err)
	}
	s.used(context.WithoutCancel(ctx))
	r := stopped(s.stopReason(out))
	if u := out.Usage; u != (skein.Usage{}) {
		r["usage"] = map[string]any{
			"inputTokens": u.Input, "outputTokens": u.Output, "thoughtTokens": u.Reasoning,
			"cachedReadTokens": u.CacheRead, "cachedWriteTokens": u.CacheWrite, "totalTokens": u.Input + u.Output + u.CacheRead + u.CacheWrite,
		}
	}
	return r, nil
}

func stopped(reason string) map[string]any { return map[string]any{"stopReason": reason} }

// stopReason returns why a turn ended, in the protocol's word.
func (s *session) stopReason(out agent.Outcome) string {
	switch out.Stop {
	case agent.Interrupted:
		return "cancelled"
	case agent.MaxSteps:
		return "max_turn_requests"
	case agent.Timeout:
		s.note("warning", "the turn took too long and was ended")
	case agent.Done, agent.Error:
	}
	switch s.stop {
	case "max_tokens", "length", "MAX_TOKENS", "max_output_tokens":
		return "max_tokens"
	case "refusal", "content_filter", "SAFETY":
		return "refusal"
	}
	return "end_turn"
}

// slash splits a command such as /undo 2. A path such as /usr/bin is not a command.
func slash(text string) (name, args string, ok bool) {
	m := regexp.MustCompile(`^/([a-zA-Z]+)(?:\s+(.*))?$`).FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.TrimSpace(m[2]), true
}

// messageOf returns a prompt as a message. Models are shown the texts of files that are
// part of it, and the names of those that it only refers to.
func messageOf(blocks []json.RawMessage) (skein.Message, []skein.Blob) {
	parts, blobs := record.Prompt(blocks)
	m := skein.Message{Role: skein.RoleUser}
	add := func(format string, args ...any) {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartText, Synthetic: true, Text: skein.Text(fmt.Sprintf(format, args...))})
	}
	for i, p := range parts {
		var b struct {
			Type, URI string
			Resource  struct {
				URI  string
				Text *skein.Text
			}
		}
		_ = json.Unmarshal(blocks[i], &b) // then it is of no known type
		switch {
		case b.Type == "resource_link" && p.File != nil:
			f := *p.File
			f.URL, f.Media = "", "" // no provider can fetch it
			p.File = &f
			m.Parts = append(m.Parts, p)
			add("<file %q />\nThe user refers to this file. Read it if you need it.", pathOf(b.URI))
		case b.Type == "resource" && b.Resource.Text != nil && p.File != nil:
			f := *p.File
			if f.Media != "" && !strings.Contains(f.Media, "charset=") {
				f.Media += "; charset=utf-8" // shown as text, not as a document
			}
			p.File = &f
			m.Parts = append(m.Parts, p)
			add("<file %q>\n%s\n</file>", pathOf(b.Resource.URI), string(*b.Resource.Text))
		default:
			m.Parts = append(m.Parts, p)
		}
	}
	return m, blobs
}

// pathOf returns the path in a file's URI; other URIs as they are.
func pathOf(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" && u.Path != "" {
		return u.Path
	}
	return uri
}
