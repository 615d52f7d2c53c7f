package transcript

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/render"
)

// A callKind says how the page draws a call. It is chosen by the shape of the call's
// input rather than by the tool's name, which each agent chooses for itself.
type callKind string

const (
	editCall     callKind = "edit"     // changes files
	shellCall    callKind = "shell"    // runs a command
	tasksCall    callKind = "tasks"    // writes a list of tasks
	questionCall callKind = "question" // asks a person
	searchCall   callKind = "search"   // looks for a pattern or a name
	readCall     callKind = "read"     // reads a file
	webCall      callKind = "web"      // reads a web page, or searches the web
	agentCall    callKind = "agent"    // lets another agent work
	otherCall    callKind = "other"
)

// callShape is what is looked at in the input of a call.
type callShape struct {
	Todos, Plan, Items json.RawMessage
	Questions          json.RawMessage
	Question           skein.Text
	Options            json.RawMessage
	Command, Cmd       json.RawMessage
	Script             json.RawMessage
	Description        skein.Text
	URL                skein.Text
	Query, Pattern     skein.Text
	Prompt             skein.Text
	FilePath           skein.Text `json:"file_path"`
	Path               skein.Text
}

// taskItem is an item of a list of tasks.
type taskItem struct{ State, Text string } // State: done, doing or open

// question is what a call asks a person.
type question struct {
	Text    string
	Options []field
}

// draw draws a call by its kind, and returns which fields of its input are drawn with
// that.
func (t *transcriber) draw(out *call, c *skein.Call) (drawn func(render.InputField) bool) {
	var in callShape
	json.Unmarshal(c.Input, &in) //nolint:errcheck // what does not fit is not drawn
	named := func(names ...string) func(render.InputField) bool {
		return func(f render.InputField) bool { return slices.Contains(names, f.Name) }
	}
	command := commandOf(&in)
	changes := edits.Of(c)
	out.Kind = otherCall
	switch name := strings.ToLower(c.Name); {
	case len(changes) > 0 && (command == "" || strings.Contains(command, "*** Begin Patch")):
		out.Kind = editCall
		if a := t.answers[c.ID]; a != nil && c.ID != "" { // some tools show where
			t.files.saw(changes[0].Path, a.result.Text.UTF8())
		}
		t.diffs(out, changes)
		return func(f render.InputField) bool {
			return f.Name == "" || edits.Tells(f.Name) || slices.Contains([]string{"command", "cmd"}, f.Name) || f.Name == "replace_all" && !t.plain
		}
	case command != "":
		out.Kind = shellCall
		out.Command, out.CommandRest = t.code("sh", command)
		out.Gist = render.Clip(render.Line(command[:min(len(command), 400)]), 120)
		if out.Title == "" {
			out.Title = render.Line(in.Description.UTF8())
		}
		return named("command", "cmd", "script", "description")
	case out.tasks(&in):
		out.Kind = tasksCall
		return named("todos", "plan", "items")
	case out.asks(&in):
		out.Kind = questionCall
		return named("questions", "question", "options")
	case in.URL != "" || strings.Contains(name, "web"):
		out.Kind = webCall
		if u, err := url.Parse(in.URL.UTF8()); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			out.Link = u.String()
		}
		return named("url")
	case in.Prompt != "":
		out.Kind = agentCall
	case in.Pattern != "" || in.Query != "":
		out.Kind = searchCall
		if out.Gist = render.Clip(render.Line(cmp.Or(in.Pattern, in.Query).UTF8()), 80); in.Path != "" {
			out.Gist += " in " + t.short(in.Path.UTF8())
		}
	case cmp.Or(in.FilePath, in.Path) != "":
		out.Kind = readCall
		out.path = cmp.Or(in.FilePath, in.Path).UTF8()
		out.Gist = t.short(out.path)
	}
	return func(render.InputField) bool { return false }
}

// commandOf returns the command line of a shell's input; "" if it is none.
func commandOf(in *callShape) string {
	for _, raw := range []json.RawMessage{in.Command, in.Cmd, in.Script} {
		if s, ok := skein.Unquote(raw); ok && s != "" {
			return render.Clean(skein.Text(s).UTF8())
		}
		var words []string
		if json.Unmarshal(raw, &words) != nil || len(words) == 0 {
			continue
		}
		if len(words) == 3 && strings.HasPrefix(words[1], "-") {
			words = words[2:] // bash -lc "…"
		}
		return render.Clean(skein.Text(strings.Join(words, " ")).UTF8())
	}
	return ""
}

// tasks draws a list of tasks, and reports whether there is one.
func (out *call) tasks(in *callShape) bool {
	var list []struct {
		Content, Step, Title, Text, Status skein.Text
		Done                               bool
	}
	for _, raw := range []json.RawMessage{in.Todos, in.Plan, in.Items} {
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			break
		}
	}
	done := 0
	for _, i := range list {
		state := "open"
		switch strings.ToLower(i.Status.UTF8()) {
		case "completed", "complete", "done":
			state = "done"
		case "in_progress", "in-progress", "doing", "active":
			state = "doing"
		}
		if i.Done {
			state = "done"
		}
		if state == "done" {
			done++
		}
		out.Tasks = append(out.Tasks, taskItem{state, render.Line(cmp.Or(i.Content, i.Step, i.Title, i.Text).UTF8())})
	}
	if out.Told = len(list) > 0; !out.Told {
		return false
	}
	out.Gist = render.Count(int64(done)) + " of " + render.Count(int64(len(list))) + " done"
	return true
}

// asks draws questions, and reports whether there are any.
func (out *call) asks(in *callShape) bool {
	type one struct {
		Question skein.Text
		Options  []json.RawMessage
	}
	var list []one
	if json.Unmarshal(in.Questions, &list) != nil || len(list) == 0 {
		if in.Question == "" {
			return false
		}
		list = []one{{Question: in.Question}}
		json.Unmarshal(in.Options, &list[0].Options) //nolint:errcheck // there may be none
	}
	for _, q := range list {
		asked := question{Text: render.Line(q.Question.UTF8())}
		for _, raw := range q.Options {
			var o struct{ Label, Description skein.Text }
			if s, ok := skein.Unquote(raw); ok {
				o.Label = skein.Text(s)
			} else if json.Unmarshal(raw, &o) != nil {
				continue
			}
			asked.Options = append(asked.Options, field{Name: render.Line(o.Label.UTF8()), Value: render.Line(o.Description.UTF8())})
		}
		out.Asks = append(out.Asks, asked)
	}
	out.Gist = render.Clip(out.Asks[0].Text, 100)
	return true
}

// exitCode finds the exit code of a command in what its tool said, which agents put at
// the beginning or at the end.
var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bexit(?:ed)?(?: with)?(?: code| status)?[:=]? *(-?\d{1,4})\b`)
})

// outcome returns what the tool of a call said, without what is shown otherwise.
func (t *transcriber) outcome(out *call, words string) string {
	switch out.Kind {
	case readCall:
		t.files.saw(out.path, words)
		return words
	case editCall:
		out.Told = !t.Uncut && out.State != string(skein.Failed) && len(words) < 200 && !strings.Contains(words, "\n") // it says that the file was changed
		return words
	case shellCall:
	default:
		return words
	}
	var wrapped struct {
		Output   *string
		Metadata struct {
			Exit *json.Number `json:"exit_code"`
		}
	}
	if strings.HasPrefix(words, "{") && json.Unmarshal([]byte(words), &wrapped) == nil && wrapped.Output != nil {
		if wrapped.Metadata.Exit != nil {
			out.Exit = wrapped.Metadata.Exit.String()
		}
		return *wrapped.Output
	}
	first, after, _ := strings.Cut(words, "\n")
	if m := exitCode().FindStringSubmatch(first); m != nil && m[0] == first {
		out.Exit = m[1]
		return after
	}
	last := strings.TrimRight(words, "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	for _, line := range []string{first, last} {
		if m := exitCode().FindStringSubmatch(line); m != nil && len(line) < 200 {
			out.Exit = m[1]
			break
		}
	}
	return words
}
