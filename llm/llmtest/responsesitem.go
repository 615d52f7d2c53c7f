package llmtest

import (
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
)

// message converts item i.
func (it *responsesItem) message(i int) (m skein.Message, err error) {
	said := func(role skein.Role, p skein.Part) (skein.Message, error) {
		return skein.Message{Role: role, Parts: []skein.Part{p}}, nil
	}
	switch {
	case it.Type == "reasoning":
		if it.Summary == nil {
			return m, refuse("Missing required parameter: 'input[%d].summary'.", i)
		}
		text := ""
		for _, s := range *it.Summary {
			text += s.Text
		}
		if it.Encrypted != sign(text) {
			return m, refuse("The encrypted content for item %s could not be verified.", it.ID)
		}
		return said(skein.RoleAssistant, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text), Raw: encode(it.Encrypted)})
	case it.Type == "function_call" && it.Arguments != nil:
		const limit = 64
		switch {
		case it.CallID == "" || len(it.CallID) > limit:
			return m, refuse("Invalid 'input[%d].call_id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", i, limit, len(it.CallID))
		case !anthropicName.MatchString(it.Name):
			return m, refuse("Invalid 'input[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
		return said(skein.RoleAssistant, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: it.CallID, Name: it.Name, Input: json.RawMessage(*it.Arguments)}})
	case it.Type == "function_call_output":
		parts, err := contents(it.Output, i, "input_")
		res := skein.Result{CallID: it.CallID}
		for _, p := range parts {
			if p.File != nil {
				res.Files = append(res.Files, *p.File)
			}
			res.Text += p.Text
		}
		m, _ = said(skein.RoleTool, skein.Part{Kind: skein.PartResult, Result: &res})
		return m, err
	case (it.Type == "" || it.Type == "message") && slices.Contains([]string{"user", "assistant", "system", "developer"}, it.Role):
		kind := "input_"
		if it.Role == "assistant" {
			kind = "output_"
		}
		parts, err := contents(it.Content, i, kind)
		return skein.Message{Role: skein.Role(it.Role), Parts: parts}, err
	}
	return m, refuse("Invalid value: 'input[%d]' of type '%s' and role '%s'.", i, it.Type, it.Role)
}

// contents returns the parts of a content: a string, or a list whose types
// begin with kind.
func contents(raw json.RawMessage, i int, kind string) (parts []skein.Part, err error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 {
		return []skein.Part{textOf(s)}, nil
	}
	var list []responsesContent
	if unknown, err := decode(raw, &list); err != nil {
		return nil, refuse("Invalid type for 'input[%d].content': %s %v", i, unknown, err)
	}
	for j, c := range list {
		var f *skein.File
		switch {
		case c.Type == kind+"text" && c.Text != nil && *c.Text != "":
			parts = append(parts, textOf(*c.Text))
			continue
		case c.Type == "input_image" && kind == "input_":
			f, err = fileAt(c.Image)
		case c.Type == "input_file" && c.URL != "" && kind == "input_":
			f, err = fileAt(c.URL)
		case c.Type == "input_file" && c.Name != "" && kind == "input_":
			f, err = fileAt(c.File)
		default:
			return nil, refuse("Invalid value: '%s' at 'input[%d].content[%d]'.", c.Type, i, j)
		}
		if err != nil {
			return nil, refuse("Invalid 'input[%d].content[%d]': %v", i, j, err)
		}
		parts = append(parts, skein.Part{Kind: skein.PartFile, File: f})
	}
	return parts, nil
}
