package cli

import (
	"context"
	"strconv"

	"github.com/skein-dev/skein/internal/guidance"
	"github.com/skein-dev/skein/render"
)

// maxGuidance is how many bytes of the guidance for agents a model is shown at
// most, however much it can read.
const maxGuidance = 64 << 10

// memoryDir returns the folder of the person's USER.md and MEMORY.md; "" if they
// are turned off in the settings.
func (j *job) memoryDir() string {
	if j.settings.text("memory") == "off" {
		return ""
	}
	return j.dirs.Config
}

// guide reads the guidance for agents, for a thread that is being opened, and
// reports what of it cannot be read. The person's own USER.md and MEMORY.md are
// private: they are not read for another user's session, nor for messages from
// elsewhere, which others may write.
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

// guided returns the guidance for a model that can read window tokens, 0 if not
// known: about an eighth of them at most.
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
