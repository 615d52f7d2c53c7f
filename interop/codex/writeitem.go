package codex

import (
	"strconv"

	"github.com/skein-dev/skein"
)

// What the screen is told where lines have ordinals is items, each with an ID.
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
func (w *writer) itemID(at skein.Seq, n int) string {
	return uuidOf("codex item " + w.id + " " + strconv.FormatInt(int64(at), 10) + " " + strconv.Itoa(n))
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
