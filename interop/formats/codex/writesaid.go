package codex

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

type messageOut struct {
	Type    string `json:"type"` // message
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	Content []any  `json:"content"`
	Phase   string `json:"phase,omitempty"`
}

// An agentMessageOut is what another agent of the same run said.
type agentMessageOut struct {
	Type      string `json:"type"` // agent_message
	Author    string `json:"author"`
	Recipient string `json:"recipient"`
	Content   []any  `json:"content"`
}

type textOut struct {
	Type string `json:"type"` // input_text or output_text
	Text string `json:"text"`
}

type imageOut struct {
	Type string `json:"type"` // input_image
	URL  string `json:"image_url"`
}

type userEvent struct {
	Type   string   `json:"type"` // user_message
	Text   string   `json:"message"`
	Images []string `json:"images"`
	Local  []string `json:"local_images"`
	Marks  []string `json:"text_elements"`
}

type agentEvent struct {
	Type  string  `json:"type"` // agent_message
	Text  string  `json:"message"`
	Phase *string `json:"phase"`
}

type errorEvent struct {
	Type string `json:"type"` // error
	Text string `json:"message"`
}

type reasoningEvent struct {
	Type string `json:"type"` // agent_reasoning
	Text string `json:"text"`
}

// entry writes a message.
func (w *writer) entry(e *skein.Entry) error {
	switch m := &e.Message; m.Role {
	case skein.RoleAssistant:
		if err := w.answer(e); err != nil {
			return err
		}
		if m.Error != nil {
			w.show(e.Time, errorEvent{"error", utf8(m.Error.Message)})
		}
		return nil
	case skein.RoleTool:
		return w.calls.results(e)
	case skein.RoleSystem:
		if !w.ours[e.Seq] {
			w.lose(e.Seq, "system message: left out, Codex makes its own")
			return nil
		}
		return w.messages.asked(e, "developer")
	default:
		if m.Role == skein.RoleSteer {
			w.lose(e.Seq, "steer: written as a user's message")
		}
		return w.messages.asked(e, "user")
	}
}

// messages writes what users, programs and the model said.
type messages struct {
	*output

	turn *turn
}

// asked writes a message of a user, or one that a program inserted.
func (ms *messages) asked(e *skein.Entry, role string) error {
	content, err := ms.content(e)
	if err != nil || len(content) == 0 {
		return err
	}
	typed := role == "user" && !e.Message.Synthetic
	if typed {
		ms.turn.start(e.Time, e.Seq)
	}
	if m := &e.Message; !ms.ours[e.Seq] && m.Synthetic && role == "user" && !injected(skein.Text(m.Words())) {
		ms.lose(e.Seq, "message that a program put in: written as a user's")
	}
	ms.some = true
	if author := e.Message.Agent; author != "" && ms.ours[e.Seq] {
		ms.item(e.Time, agentMessageOut{"agent_message", utf8(author), "/root", content})
		return nil
	}
	ms.item(e.Time, messageOut{Type: "message", Role: role, Content: content})
	if !typed {
		return nil
	}
	ev := userEvent{Type: "user_message", Images: []string{}, Local: []string{}, Marks: []string{}}
	var texts []string
	for _, c := range content {
		switch c := c.(type) {
		case textOut:
			texts = append(texts, c.Text)
		case imageOut:
			ev.Images = append(ev.Images, c.URL)
		}
	}
	if ev.Text = strings.Join(texts, "\n\n"); ms.file.counted {
		ms.turn.completed(e.Time, userItem(ms.itemID(e.Seq, 0), &ev))
	} else {
		ms.show(e.Time, ev)
	}
	return nil
}

// content returns the parts of a message to the model.
func (ms *messages) content(e *skein.Entry) (all []any, err error) {
	for _, p := range e.Message.Parts {
		var c any
		switch {
		case p.Kind == skein.PartFile && p.File != nil:
			if c, err = ms.attached(e.Seq, p.File); err != nil {
				return nil, err
			}
		case p.Kind == skein.PartOther && ms.ours[e.Seq] && isObject(p.Raw):
			c = p.Raw
		case p.Kind == skein.PartAgent:
			c = textOut{"input_text", "@" + p.Text.UTF8()}
		case p.Text != "":
			c = textOut{"input_text", p.Text.UTF8()}
		case p.Kind != skein.PartText:
			ms.lose(e.Seq, string(p.Kind)+" in a user's message: left out")
			continue
		default:
			continue
		}
		all = append(all, c)
	}
	return all, nil
}

func isObject(v json.RawMessage) bool { return jsontext.Value(v).Kind() == '{' }

// attached returns an image, or the name of another file.
func (ms *messages) attached(at skein.Seq, f *skein.File) (any, error) {
	switch {
	case f.Blob != "" && strings.HasPrefix(f.Media, "image/"):
		if ms.quiet {
			return imageOut{Type: "input_image"}, nil
		}
		data, err := ms.d.Blob(f.Blob)
		if err != nil {
			return nil, err
		}
		return imageOut{"input_image", "data:" + utf8(f.Media) + ";base64," + base64.StdEncoding.EncodeToString(data)}, nil
	case strings.HasPrefix(f.URL, "https://") && (strings.HasPrefix(f.Media, "image/") || ms.ours[at]):
		return imageOut{"input_image", utf8(f.URL)}, nil
	}
	ms.lose(at, "file: only its name is written")
	return textOut{"input_text", "[file " + utf8(first(f.Name, f.Media)) + "]"}, nil
}

// answer writes what the model said.
func (w *writer) answer(e *skein.Entry) error {
	for i, p := range e.Message.Parts {
		switch {
		case p.Call != nil:
			w.some = true
			w.calls.call(e, p.Call, p.Meta)
		case p.Kind == skein.PartReasoning:
			w.messages.thought(e, p)
		case (p.Kind == skein.PartText || p.Kind == skein.PartSummary) && p.Text != "":
			w.messages.said(e, p.Text.UTF8(), metaOf(p.Meta), i)
		case p.Kind == skein.PartOther && w.ours[e.Seq] && isObject(p.Raw):
			w.item(e.Time, messageOut{Type: "message", Role: "assistant", Content: []any{p.Raw}})
		case p.Kind != skein.PartText:
			w.lose(e.Seq, string(p.Kind)+" in an answer: left out")
		}
	}
	return nil
}

// said writes a piece of the model's text. n numbers the pieces of an entry.
func (ms *messages) said(e *skein.Entry, text string, m itemMeta, n int) {
	ms.some, ms.turn.last = true, text
	if ms.file.counted {
		ms.turn.completed(e.Time, agentItem(ms.itemID(e.Seq, n), text))
	} else {
		ms.show(e.Time, agentEvent{Type: "agent_message", Text: text})
	}
	ms.item(e.Time, messageOut{Type: "message", ID: m.ID, Role: "assistant", Content: []any{textOut{"output_text", text}}, Phase: m.Phase})
}

// An itemMeta is what the reader keeps from an item besides its content.
type itemMeta struct {
	ID        string `json:"id"`
	Phase     string `json:"phase"`
	Namespace string `json:"namespace"`
}

func metaOf(v json.RawMessage) itemMeta {
	m, err := unmarshal[itemMeta](v)
	if err != nil {
		return itemMeta{}
	}
	return m
}

// thought writes reasoning: for the model, only what its provider has encrypted.
func (ms *messages) thought(e *skein.Entry, p skein.Part) {
	if it, err := loose.Parse(p.Raw); err == nil && it.Str("type") == "reasoning" && ms.ours[e.Seq] {
		ms.item(e.Time, p.Raw)
		return
	}
	if p.Text != "" {
		ms.show(e.Time, reasoningEvent{"agent_reasoning", p.Text.UTF8()})
	}
	ms.lose(e.Seq, "reasoning: shown, but not given to the model")
}

// If lines have ordinals, what is sent to the screen is items, each with an ID.
type userItemOut struct {
	Type    string `json:"type"` // UserMessage
	ID      string `json:"id"`
	Content []any  `json:"content"`
}

type shownText struct {
	Type  string   `json:"type"` // text
	Text  string   `json:"text"`
	Marks []string `json:"text_elements"`
}

type agentItemOut struct {
	Type    string    `json:"type"` // AgentMessage
	ID      string    `json:"id"`
	Content []textOut `json:"content"`
}

// itemID returns the ID of a message for the screen.
func (ms *messages) itemID(at skein.Seq, n int) string {
	return uuidOf("codex item " + ms.id + " " + strconv.FormatInt(int64(at), 10) + " " + strconv.Itoa(n))
}

func userItem(id string, ev *userEvent) userItemOut {
	out := userItemOut{"UserMessage", id, []any{shownText{"text", ev.Text, []string{}}}}
	for _, url := range ev.Images {
		out.Content = append(out.Content, imageOut{"image", url})
	}
	return out
}

func agentItem(id, text string) agentItemOut {
	return agentItemOut{"AgentMessage", id, []textOut{{"Text", text}}}
}
