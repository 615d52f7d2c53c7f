package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// Check checks that messages, as they would be sent, keep the rules.
//
// The error wraps [skein.ErrInvalid] and says which message breaks which rule.
func (r Rules) Check(messages []skein.Message) error {
	c := checker{rules: r, messages: messages, used: map[string]bool{}}
	for i := range messages {
		if err := c.message(i); err != nil {
			return err
		}
	}
	return c.ends()
}

type checker struct {
	rules    Rules
	messages []skein.Message
	used     map[string]bool // IDs of calls
}

func (c *checker) bad(i int, format string, args ...any) error {
	return skein.Invalidf("message %d (%s): %s", i, c.messages[i].Role, fmt.Sprintf(format, args...))
}

func (c *checker) message(i int) error {
	m := &c.messages[i]
	var before skein.Role
	if i > 0 {
		before = c.messages[i-1].Role
	}
	switch {
	case len(m.Parts) == 0:
		return c.bad(i, "it has no parts")
	case m.Role != skein.RoleUser && m.Role != skein.RoleAssistant && m.Role != skein.RoleSystem && (m.Role != skein.RoleTool || c.rules.resultsAs() != skein.RoleTool):
		return c.bad(i, "nobody has this role")
	case m.Role == skein.RoleSystem && c.rules.SystemFirst && i > 0 && before != skein.RoleSystem:
		return c.bad(i, "it comes after one of role %s", before)
	case c.rules.Alternate && before == m.Role:
		return c.bad(i, "the one before has the same role")
	}
	for j := range m.Parts {
		if err := c.part(i, j); err != nil {
			return err
		}
	}
	return c.results(i)
}

func (c *checker) part(i, j int) error {
	m := &c.messages[i]
	p := &m.Parts[j]
	switch p.Kind {
	case skein.PartText:
		if strings.TrimSpace(string(p.Text)) == "" || !utf8.ValidString(string(p.Text)) {
			return c.bad(i, "text %.40q is blank or no UTF-8", p.Text)
		}
		if m.Role == skein.RoleTool {
			return c.bad(i, "text among results")
		}
	case skein.PartReasoning:
		if m.Role != skein.RoleAssistant || !c.rules.takesBack(m, p) {
			return c.bad(i, "reasoning that the provider does not take back")
		}
		if !c.goesOn(i, j+1) {
			return c.bad(i, "reasoning at the end of an answer")
		}
	case skein.PartFile:
		if m.Role != skein.RoleUser || !takes(c.rules.Media, p.File) {
			return c.bad(i, "file %q of type %q", p.File.Name, p.File.Media)
		}
	case skein.PartCall:
		return c.call(i, p.Call)
	case skein.PartResult:
		for _, f := range p.Result.Files {
			if !takes(c.rules.ResultMedia, &f) {
				return c.bad(i, "file %q of type %q in a result", f.Name, f.Media)
			}
		}
		if !utf8.ValidString(string(p.Result.Text)) || len(p.Result.Raw) > 0 {
			return c.bad(i, "result of %q is no UTF-8 or has raw content", p.Result.CallID)
		}
	default:
		return c.bad(i, "part of kind %q", p.Kind)
	}
	return nil
}

// goesOn reports whether the answer, from part j of message i on, has anything
// but reasoning.
func (c *checker) goesOn(i, j int) bool {
	for ; i < len(c.messages) && c.messages[i].Role == skein.RoleAssistant; i, j = i+1, 0 {
		for _, p := range c.messages[i].Parts[j:] {
			if p.Kind != skein.PartReasoning {
				return true
			}
		}
	}
	return false
}

func (c *checker) call(i int, call *skein.Call) error {
	r := &c.rules
	switch {
	case c.messages[i].Role != skein.RoleAssistant:
		return c.bad(i, "it calls a tool")
	case call.ID == "" || call.ID != plainName(call.ID, r.MaxCall, ""):
		return c.bad(i, "call ID %q", call.ID)
	case c.used[call.ID]:
		return c.bad(i, "call ID %q a second time", call.ID)
	case call.Name == "" || call.Name != plainName(call.Name, r.MaxName, ""):
		return c.bad(i, "tool name %q", call.Name)
	case !json.Valid(call.Input) || call.Input[0] != '{':
		return c.bad(i, "input %.40q of call %q is no JSON object", []byte(call.Input), call.ID)
	}
	c.used[call.ID] = true
	return nil
}

// results checks that message i begins with one result for each call of the
// previous message, and has no others.
func (c *checker) results(i int) error {
	open := map[string]bool{}
	if i > 0 {
		for _, p := range c.messages[i-1].Parts {
			if p.Kind == skein.PartCall {
				open[p.Call.ID] = true
			}
		}
	}
	m := &c.messages[i]
	if len(open) > 0 && m.Role != c.rules.resultsAs() || len(open) == 0 && m.Role == skein.RoleTool {
		return c.bad(i, "the message before has %d calls", len(open))
	}
	for j, p := range m.Parts {
		switch {
		case p.Kind == skein.PartResult && !open[p.Result.CallID]:
			return c.bad(i, "result of %q, which has no call before it or another result", p.Result.CallID)
		case p.Kind == skein.PartResult && j > 0 && m.Parts[j-1].Kind != skein.PartResult:
			return c.bad(i, "result of %q after other parts", p.Result.CallID)
		case p.Kind == skein.PartResult:
			delete(open, p.Result.CallID)
		}
	}
	if len(open) > 0 {
		return c.bad(i, "no result for %d calls of the message before", len(open))
	}
	return nil
}

// ends checks the first and the last message.
func (c *checker) ends() error {
	last := len(c.messages) - 1
	if last < 0 {
		return nil
	}
	first := 0
	for first < last && c.messages[first].Role == skein.RoleSystem {
		first++
	}
	if c.rules.UserFirst && c.messages[first].Role != skein.RoleUser && c.messages[first].Role != skein.RoleSystem {
		return c.bad(first, "the first is not the user's")
	}
	parts := c.messages[last].Parts
	end := parts[len(parts)-1]
	switch {
	case slices.ContainsFunc(parts, func(p skein.Part) bool { return p.Kind == skein.PartCall }):
		return c.bad(last, "no result for its calls")
	case c.rules.TrimLast && c.messages[last].Role == skein.RoleAssistant && strings.TrimRightFunc(string(end.Text), unicode.IsSpace) != string(end.Text):
		return c.bad(last, "the last answer ends with a space")
	}
	return nil
}
