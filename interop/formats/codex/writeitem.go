package codex

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

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

type ranItemOut struct {
	Type     string   `json:"type"` // CommandExecution
	ID       string   `json:"id"`
	Command  []string `json:"command"`
	Cwd      string   `json:"cwd"` // a URL
	Parsed   []string `json:"parsed_cmd"`
	Source   string   `json:"source"`
	Status   string   `json:"status"`
	Output   string   `json:"aggregated_output"`
	Exit     int      `json:"exit_code"`
	Duration duration `json:"duration"`
}

type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// maxShown is how much of an output is sent to the screen, in bytes.
const maxShown = 10_000

// ran reports a command to the screen. Its exit code is 1 if it is only known that it
// failed.
func (w *writer) ran(e *skein.Entry, c *wrote, r *skein.Result) {
	cwd := first(c.same.exec.Workdir, first(w.d.Session.Cwd, w.d.Session.Project))
	if !strings.HasPrefix(cwd, "/") {
		return
	}
	all := r.Text.UTF8()
	out := ranItemOut{
		Type: "CommandExecution", ID: c.id, Command: []string{"/bin/sh", "-lc", c.same.exec.Cmd}, Cwd: (&url.URL{Scheme: "file", Path: utf8(cwd)}).String(),
		Parsed: []string{}, Source: "unified_exec_startup", Status: "completed", Output: strings.ToValidUTF8(all[:min(len(all), maxShown)], ""),
	}
	if r.Failed {
		out.Exit, out.Status = 1, "failed"
	}
	w.completed(e.Time, out)
}
