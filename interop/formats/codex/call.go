package codex

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A group is the model's message that is being assembled: consecutive reasoning, text
// and calls.
type group struct {
	id    string
	texts []string // of its text and reasoning parts that have no item of their own
	calls map[string]bool
}

// takes reports whether parts can be added to g so that all of them are kept: a piece
// of a message that begins like an earlier one would be taken for that one, grown.
func (g *group) takes(parts []skein.Part) bool {
	for _, p := range parts {
		if p.Call != nil && g.calls[p.Call.ID] {
			return false
		}
		for _, t := range g.texts {
			if p.Call == nil && strings.HasPrefix(string(p.Text), t) {
				return false
			}
		}
	}
	return true
}

func (g *group) add(parts []skein.Part) {
	for _, p := range parts {
		switch {
		case p.Call != nil:
			if g.calls == nil {
				g.calls = map[string]bool{}
			}
			g.calls[p.Call.ID] = true
		case p.Text != "":
			g.texts = append(g.texts, string(p.Text))
		}
	}
}

// maxGroup is how many texts one message can have: comparing them must stay cheap.
const maxGroup = 100

// answers reads what the model said and its tools returned.
type answers struct {
	*thread

	settings *settings
	group    group
	names    map[string]string // call ID → tool
}

// maxNames is the number of calls whose tool is remembered: more than are ever open
// at a time.
const maxNames = 10000

// end ends the message that is being assembled.
func (a *answers) end() { a.group = group{} }

// assistant makes a piece of the model's message.
func (a *answers) assistant(l line, s *said, partMeta json.RawMessage) interop.Made {
	if a.group.id == "" || len(a.group.texts) >= maxGroup || !a.group.takes(s.parts) {
		a.group = group{id: a.place.group()}
	}
	a.group.add(s.parts)
	if len(s.parts) > 0 {
		s.parts[0].Meta = partMeta
	}
	m := skein.Message{ID: a.group.id, Role: skein.RoleAssistant, Parts: s.all(), Model: a.settings.model}
	made := a.make(l, skein.Say(l.Time, m))
	made.Items[0].Blobs = s.blobs
	return made
}

// meta returns what an item has besides its content.
func (it *item) meta() json.RawMessage {
	if it.ID == "" && it.Phase == "" && it.Namespace == "" {
		return nil
	}
	return skein.MustJSON(struct {
		ID        string `json:"id,omitempty"`
		Phase     string `json:"phase,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	}{it.ID, it.Phase, it.Namespace})
}

// A call is a tool call of any type.
type call struct {
	part skein.Call
	meta json.RawMessage
}

// callOf returns the item as a call; nil if it is not one.
func callOf(l line, it *item) *call {
	c := &call{part: skein.Call{ID: first(it.CallID, it.ID), Name: it.Name}, meta: it.meta()}
	switch l.Sub {
	case "function_call":
		c.part.Input = loose.Inner(it.Arguments)
	case "custom_tool_call":
		c.part.Input = skeinRaw(it.Input)
	case "tool_search_call":
		c.part.Name, c.part.Input = "tool_search", skeinRaw(it.Arguments)
	case "local_shell_call":
		c.part.Name, c.part.Input = "local_shell", skeinRaw(it.Action)
	default:
		return nil
	}
	return c
}

func (a *answers) call(l line, c *call) interop.Made {
	if len(a.names) < maxNames {
		a.names[c.part.ID] = c.part.Name
	}
	return a.assistant(l, &said{parts: []skein.Part{{Kind: skein.PartCall, Call: &c.part}}}, c.meta)
}

func (a *answers) output(l line, it *item) interop.Made {
	out := it.Output
	if l.Sub == "tool_search_output" {
		out = it.Tools
	}
	p, blobs := result(out)
	p.Result.CallID = first(it.CallID, it.ID)
	p.Result.Name = a.names[p.Result.CallID]
	delete(a.names, p.Result.CallID)
	a.end()
	made := a.make(l, skein.Say(l.Time, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{p}}))
	made.Items[0].Blobs = blobs
	return made
}

// hosted reads a tool that the provider ran itself: one item is both call and result.
// It may have no ID, so one is made that a replay has too.
func (a *answers) hosted(l line, it *item) interop.Made {
	name := strings.TrimSuffix(l.Sub, "_call")
	c := &call{part: skein.Call{ID: first(it.ID, it.CallID), Name: name, Input: skeinRaw(it.Action)}, meta: it.meta()}
	res := &skein.Result{Name: name, Failed: it.Status == "failed"}
	var blobs []skein.Blob
	if l.Sub == "image_generation_call" {
		c.part.Input = nil
		if !loose.IsNull(it.RevisedPrompt) {
			c.part.Input = skein.MustJSON(map[string]json.RawMessage{"prompt": skeinRaw(it.RevisedPrompt)})
		}
		blobs = image(res, loose.Str(it.Result))
	}
	if c.part.ID == "" {
		c.part.ID = a.place.group()
	}
	res.CallID = c.part.ID
	made := a.assistant(l, &said{parts: []skein.Part{{Kind: skein.PartCall, Call: &c.part}}}, c.meta)
	a.end()
	answer := a.item(skein.Say(l.Time, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}))
	answer.Blobs = blobs
	made.Items = append(made.Items, answer)
	return made
}

// image adds a base64 image to res.
func image(res *skein.Result, b64 string) []skein.Blob {
	data, err := base64.StdEncoding.DecodeString(b64)
	if err != nil || len(data) == 0 {
		return nil
	}
	b := skein.NewBlob(data)
	res.Files = []skein.File{{Media: http.DetectContentType(data), Blob: b.Hash, Size: int64(len(data))}}
	return []skein.Blob{b}
}
