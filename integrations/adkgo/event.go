package adkgo

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/skein-dev/skein"
)

// noteEvent is the name of notes that store events in which nothing was said.
const noteEvent = "adk:event"

// kept is the data that stores an event unchanged.
type kept struct {
	Event json.RawMessage `json:"adk_event"`
}

// eventOf returns e in the form in which it is stored.
func eventOf(e *session.Event) (out skein.Event, blobs []skein.Blob, err error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return out, nil, fmt.Errorf("%w event %q: %w", skein.ErrInvalid, e.ID, err)
	}
	data := skein.MustJSON(kept{raw})
	if e.Content == nil && e.UsageMetadata == nil && e.ErrorCode == "" && e.ErrorMessage == "" {
		out = skein.NewEvent(skein.KindNoted, skein.At(e.Timestamp), skein.Noted{Name: noteEvent, Level: "debug", Data: data})
	} else {
		var m skein.Message
		m, blobs = messageOf(e)
		m.Meta = data
		out = skein.Say(skein.At(e.Timestamp), m)
	}
	if e.ID != "" {
		out.ClientID = clientID(e.ID)
	}
	return out, blobs, nil
}

// clientID returns the client ID of the event with an ID.
func clientID(id string) skein.ClientID {
	plain := !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' })
	if len(keyPrefix)+len(id) > skein.MaxIDLen || !plain || strings.HasPrefix(id, "sha256/") {
		id = "sha256/" + hashOf(id)
	}
	return skein.ClientID(keyPrefix + id)
}

// messageOf returns what was said in e, for people to read and search.
func messageOf(e *session.Event) (m skein.Message, blobs []skein.Blob) {
	m = skein.Message{Role: roleOf(e), Agent: e.Author, Model: e.ModelVersion, Stop: string(e.FinishReason), Interrupted: e.Interrupted}
	if m.Role == skein.RoleUser {
		m.Agent = ""
	}
	if strings.HasPrefix(e.ModelVersion, "gemini") {
		m.Provider = "google"
	}
	if e.ErrorCode != "" || e.ErrorMessage != "" {
		m.Error = &skein.ErrorInfo{Kind: e.ErrorCode, Message: e.ErrorMessage}
	}
	if u := e.UsageMetadata; u != nil {
		m.Usage = usageOf(u)
	}
	if e.Content == nil {
		return m, nil
	}
	for _, p := range e.Content.Parts {
		if p == nil {
			continue
		}
		part, blob := partOf(p)
		m.Parts = append(m.Parts, part)
		if blob != nil {
			blobs = append(blobs, *blob)
		}
	}
	return m, blobs
}

func usageOf(u *genai.GenerateContentResponseUsageMetadata) *skein.Usage {
	return &skein.Usage{
		Input:     int64(max(0, u.PromptTokenCount-u.CachedContentTokenCount) + u.ToolUsePromptTokenCount),
		CacheRead: int64(u.CachedContentTokenCount),
		Output:    int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
		Reasoning: int64(u.ThoughtsTokenCount),
	}
}

// roleOf returns the role of e: the user, tools if it has only their results,
// and otherwise an agent.
func roleOf(e *session.Event) skein.Role {
	answers := 0
	if e.Content != nil {
		for _, p := range e.Content.Parts {
			if p != nil && p.FunctionResponse != nil {
				answers++
			}
		}
	}
	switch {
	case answers > 0 && answers == len(e.Content.Parts):
		return skein.RoleTool
	case e.Author == "user":
		return skein.RoleUser
	}
	return skein.RoleAssistant
}

// partOf returns p as a part, and the bytes that it refers to.
func partOf(p *genai.Part) (skein.Part, *skein.Blob) {
	switch {
	case p.FunctionCall != nil:
		c := p.FunctionCall
		args := c.Args
		if args == nil {
			args = map[string]any{}
		}
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID, Name: c.Name, Input: raw(args)}}, nil
	case p.FunctionResponse != nil:
		return skein.Part{Kind: skein.PartResult, Result: resultOf(p.FunctionResponse)}, nil
	case p.InlineData != nil:
		d := p.InlineData
		blob := skein.NewBlob(d.Data)
		f := skein.File{Name: d.DisplayName, Media: d.MIMEType, Blob: blob.Hash, Size: int64(len(d.Data))}
		return skein.Part{Kind: skein.PartFile, File: &f}, &blob
	case p.FileData != nil:
		return skein.Part{Kind: skein.PartFile, File: &skein.File{Name: p.FileData.DisplayName, Media: p.FileData.MIMEType, URL: p.FileData.FileURI}}, nil
	case p.Text != "" && p.Thought:
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(p.Text)}, nil
	case p.Text != "":
		return skein.TextPart(p.Text), nil
	}
	return skein.Part{Kind: skein.PartOther, Raw: raw(p)}, nil
}

func resultOf(r *genai.FunctionResponse) *skein.Result {
	out := &skein.Result{CallID: r.ID, Name: r.Name}
	_, out.Failed = r.Response["error"]
	for _, name := range []string{"output", "result", "error"} {
		if s, ok := r.Response[name].(string); ok && len(r.Response) == 1 {
			out.Text = skein.Text(s)
			return out
		}
	}
	out.Text = skein.Text(raw(r.Response))
	return out
}

// raw returns v as JSON, for people; the event is known to be valid JSON.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
