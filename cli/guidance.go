package cli

import (
	"context"
	"strconv"

	"github.com/skein-dev/skein/internal/guidance"
	"github.com/skein-dev/skein/render"
)

// maxGuidance is how many bytes of what was written down for agents a model is
// shown, whatever it can read.
const maxGuidance = 64 << 10

// memoryDir returns the folder of the person's USER.md and MEMORY.md; "" if the
// settings say that they are not read.
func (j *job) memoryDir() string {
	if j.settings.text("memory") == "off" {
		return ""
	}
	return j.dirs.Config
}

// guide reads what was written down for agents, for a thread that is being
// opened, and says what of it cannot be read. What the person keeps for their own
// agents is nobody else's: it is not read for another user's session, nor for
// messages from elsewhere, which others may write.
func (t *thread) guide() {
	own := t.job.memoryDir()
	if own == "" {
		return
	}
	if t.at.user() != t.job.owner() || t.face.program == relaying {
		own, t.roster.Memory = "", ""
	}
	w := guidance.Locations{Own: own, Cwd: t.cwd()}
	if w.Cwd != "" {
		w.Project = projectRoot(w.Cwd)
	}
	t.guidance = guidance.Load(w)
	for _, note := range t.guidance.Notes {
		t.face.tell("%s", render.Line(note))
	}
	t.roster.Guidance = func(window int64) string { return t.guided(window).Prompt() }
}

// guided returns what of the guidance a model is shown that can read so many
// tokens, 0 for nobody knows: about an eighth of them at most.
func (t *thread) guided(window int64) guidance.Guidance {
	room := int64(maxGuidance)
	if window > 0 {
		room = min(room, window/8*4)
	}
	return t.guidance.Fit(int(room))
}

// told is /context.
func (c *chat) told(ctx context.Context, _ string) error {
	t := c.thread
	a := t.Agent()
	rows := [][2]string{{"agent", render.Line(agentName(a))}, {"model", render.Line(a.Model.About().String())}}
	if a.Window > 0 {
		rows = append(rows, [2]string{"it can read", tokens(a.Window)})
	}
	rows = append(rows, [2]string{"system prompt", bytesText(int64(len(a.System)))})
	for _, f := range t.guided(a.Window).Files {
		text := bytesText(int64(len(f.Text)))
		if f.Left > 0 {
			text += ", " + bytesText(int64(f.Left)) + " left out"
		}
		name := f.Name
		if f.Mine {
			name = c.tilde(f.Path)
		}
		rows = append(rows, [2]string{"  " + render.Line(name), text})
	}
	rows = append(rows, [2]string{"tools", strconv.Itoa(len(a.Tools))})
	if t.Begun() {
		s, err := t.Session(ctx)
		if err != nil {
			return err
		}
		rows = append(rows, [2]string{"messages", strconv.Itoa(s.Messages)})
	}
	c.print(c.pairs(rows))
	return nil
}
