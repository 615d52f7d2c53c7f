package llmtest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// parts returns the content of message i: a string, or a list.
func (m *chatMessage) parts(i int) (parts []skein.Part, err error) {
	var s string
	switch {
	case len(m.Content) == 0 || string(m.Content) == "null":
		if m.Role != "assistant" {
			return nil, refuse("Invalid value for 'content': expected a string, got null.")
		}
		return nil, nil
	case json.Unmarshal(m.Content, &s) == nil:
		return []skein.Part{textOf(s)}, nil
	case m.Role != "user":
		return nil, refuse("messages[%d]: this server takes lists from users only", i)
	}
	var list []chatPart
	if unknown, err := decode(m.Content, &list); err != nil {
		return nil, refuse("Invalid 'messages[%d].content': %s %v", i, unknown, err)
	}
	for j := range list {
		p, err := list[j].part(i, j)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (c *chatPart) part(i, j int) (p skein.Part, err error) {
	var f *skein.File
	switch {
	case c.Type == "text" && c.Text != nil && *c.Text != "":
		return textOf(*c.Text), nil
	case c.Type == "image_url" && c.Image != nil:
		f, err = fileAt(c.Image.URL)
	case c.Type == "input_audio" && c.Audio != nil:
		f, err = fileFrom("audio/"+c.Audio.Format, c.Audio.Data)
	default:
		return p, refuse("Invalid value: 'messages[%d].content[%d]' of type %q", i, j, c.Type)
	}
	if err != nil {
		return p, refuse("Invalid 'messages[%d].content[%d]': %v", i, j, err)
	}
	return skein.Part{Kind: skein.PartFile, File: f}, nil
}

func (c *chatCall) part(i, j int) (p skein.Part, err error) {
	const limit = 40
	switch {
	case c.Type != "function":
		return p, refuse("Missing required parameter: 'messages[%d].tool_calls[%d].type'.", i, j)
	case len(c.ID) > limit:
		return p, refuse("Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", i, j, limit, len(c.ID))
	case !anthropicName.MatchString(c.Function.Name):
		return p, refuse("Invalid 'messages[%d].tool_calls[%d].function.name': string does not match pattern.", i, j)
	case c.Function.Arguments == nil:
		return p, refuse("Missing required parameter: 'messages[%d].tool_calls[%d].function.arguments'.", i, j)
	}
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(*c.Function.Arguments)}}, nil
}

// chatPairs checks that calls and results match.
func chatPairs(all []chatMessage) error {
	var open []string
	for i, m := range all {
		if m.Role == "tool" {
			at := slices.Index(open, m.CallID)
			if at < 0 {
				return refuse("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'. (messages[%d])", i)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			break
		}
		for _, c := range m.Calls {
			if slices.Contains(open, c.ID) {
				return refuse("Duplicate value for 'tool_call_id' of '%s'", c.ID)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return refuse("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
	}
	return nil
}
