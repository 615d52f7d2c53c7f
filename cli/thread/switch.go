package thread

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// A WorkMode says what an agent may do without asking.
type WorkMode string

// The modes.
const (
	Ask  WorkMode = ""     // tools that ask first do, unless they were allowed
	Auto WorkMode = "auto" // tools run without asking, but for those that ask each time
	Plan WorkMode = "plan" // there are only tools that change nothing
)

const planning = "The user wants a plan first. Look as much as you need, then say what you would change and in which order. " +
	"The tools that change something are turned off until the user agrees."

// of returns an agent as it answers in this mode.
func (m WorkMode) of(a agent.Agent) agent.Agent {
	if m == Plan {
		a.Tools = slices.DeleteFunc(slices.Clone(a.Tools), func(t tool.Tool) bool { return !t.Safe })
		a.System = Joined(a.System, planning)
	}
	return a
}

// HeedMode lets a mode decide, from the next call on, whether tools ask first. It can be
// called at any time, during a turn too. SetMode changes the rest.
func HeedMode(t *Thread, m WorkMode) { t.auto.Store(m == Auto) }

// SetMode changes the mode of a thread. Errors are the store's.
func SetMode(ctx context.Context, t *Thread, m WorkMode) error {
	was := t.Options.Mode
	t.Options.Mode = m
	HeedMode(t, m)
	if (was == Plan) == (m == Plan) {
		return nil
	}
	return t.SetAgent(ctx, m.of(t.Team.Agent))
}

// AnswerBy makes the agent d answer from now on, with this model; "" means its own.
//
// The error says which agent or model cannot answer, and why; or it is the store's.
func AnswerBy(ctx context.Context, t *Thread, d roster.Definition, model string) error {
	team, err := t.Ready(ctx, d, model)
	if err != nil {
		return err
	}
	if err := t.SetAgent(ctx, t.Options.Mode.of(team.Agent)); err != nil {
		return errors.Join(err, team.Close())
	}
	old := t.Team
	t.Team = team
	return old.Close()
}

// SayMessage is Say for a message that was made elsewhere, with its attachments.
// Errors are those of agent.Thread.Turn.
func SayMessage(ctx context.Context, t *Thread, m skein.Message, blobs []skein.Blob) (agent.Outcome, error) {
	if task := t.Team.Definition.Task; task != "" {
		s, err := t.Session(ctx)
		if err != nil {
			return agent.Outcome{}, err
		}
		if s.Turns == 0 {
			m.Parts = slices.Insert(slices.Clone(m.Parts), 0, skein.TextPart(task))
		}
	}
	out, err := t.send(ctx, m, blobs)
	return out, t.Titled(ctx, out, err)
}

// ContextRows says what the model is told before the conversation, and from which files:
// names and values. Errors are the store's.
func ContextRows(ctx context.Context, t *Thread) ([][2]string, error) {
	a := t.Agent()
	rows := [][2]string{{"agent", render.Line(AgentName(a))}, {"model", render.Line(a.Model.About().String())}}
	if a.Window > 0 {
		rows = append(rows, [2]string{"it can read", terminal.Count(a.Window, "token")})
	}
	rows = append(rows, [2]string{"system prompt", terminal.BytesText(int64(len(a.System)))})
	for _, f := range t.Guided(a.Window).Files {
		text := terminal.BytesText(int64(len(f.Text)))
		if f.Left > 0 {
			text += ", " + terminal.BytesText(int64(f.Left)) + " left out"
		}
		name := f.Name
		if f.Mine {
			name = t.Job.Tilde(f.Path)
		}
		rows = append(rows, [2]string{"  " + render.Line(name), text})
	}
	rows = append(rows, [2]string{"tools", strconv.Itoa(len(a.Tools))})
	if t.Begun() {
		s, err := t.Session(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, [2]string{"messages", strconv.Itoa(s.Messages)})
	}
	return rows, nil
}
