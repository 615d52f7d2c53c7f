package agentuse

import (
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the files of one session.
type reader struct {
	id       string // by the folder's name
	model    string
	provider string
	round    int  // of the model's answers, told apart by the tools between them
	ran      bool // a tool ran since the model spoke
}

func open(f interop.File) interop.Reader {
	id, _, _ := strings.Cut(filepath.Base(f.Path), "-")
	return &reader{id: id}
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	in, err := folder.Parse(l.Body)
	switch {
	case err != nil || in.File == "":
		return m, err
	case in.Damage != "":
		return m, errors.New(in.Damage)
	}
	name := in.File
	switch data := in.Data(); {
	case name == "session.json":
		return r.session(data)
	case path.Base(name) == "message.json":
		return r.message(data)
	case path.Base(path.Dir(name)) == "part":
		return r.part(data)
	}
	return m, nil
}

func (r *reader) session(data []byte) (m interop.Made, err error) {
	var s sessionFile
	if err := json.Unmarshal(data, &s); err != nil {
		return m, err
	}
	r.provider, _, _ = strings.Cut(s.Model, ":")
	r.model = strings.TrimPrefix(s.Model, r.provider+":")
	b := interop.Begin{ID: skein.SessionID(r.id), Time: skein.Time(s.Time.Created), Created: skein.Created{
		Surface: "import", Agent: s.Agent.Name, Provider: r.provider, Model: r.model, Program: Name, Version: s.Version,
		Project: s.Project.Root, Cwd: s.Project.Cwd, Origin: &skein.Origin{ID: r.id, Version: s.Version},
	}}
	if s.Parent != "" {
		b.ParentID, b.Created.Parent = s.Parent, &skein.Parent{Why: skein.Child}
	}
	m.Begin = []interop.Begin{b}
	if s.Status != "" {
		m.Key = skein.ClientID("au:" + r.id + ":status")
		m.Items = []interop.Item{{Event: skein.NewEvent(skein.KindChanged, skein.Time(s.Time.Updated), skein.Changed{Status: &s.Status})}}
	}
	return m, nil
}

// message makes what was asked.
func (r *reader) message(data []byte) (m interop.Made, err error) {
	var f messageFile
	if err := json.Unmarshal(data, &f); err != nil {
		return m, err
	}
	r.round, r.ran = 0, false
	m.Key = skein.ClientID("au:" + r.id + ":" + f.ID)
	said := skein.Message{Role: skein.RoleUser}
	for i, text := range []string{f.User.Prompt.Task, f.User.Prompt.User} {
		if text != "" {
			p := skein.TextPart(text)
			p.Synthetic = i == 0 && f.User.Prompt.User != "" // the task is the agent's own file
			said.Parts = append(said.Parts, p)
		}
	}
	m.Items = []interop.Item{{Event: skein.Say(skein.Time(f.Time.Created), said)}}
	if t := f.Assistant.Tokens; t.Input+t.Output+t.Cache.Read+t.Cache.Write > 0 {
		m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindStep, skein.Time(f.Time.Completed), skein.Step{
			Phase: "finish", Provider: f.Assistant.ProviderID, Model: strings.TrimPrefix(f.Assistant.ModelID, f.Assistant.ProviderID+":"),
			Request: f.ID, Usage: &skein.Usage{Input: t.Input, Output: t.Output, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write},
		})})
	}
	return m, nil
}

func (r *reader) part(data []byte) (m interop.Made, err error) {
	var f partFile
	if err := json.Unmarshal(data, &f); err != nil {
		return m, err
	}
	m.Key = skein.ClientID("au:" + r.id + ":" + f.ID)
	at := skein.Time(f.Time.Start)
	switch {
	case f.Type == "text" && f.Role == "user":
		p := skein.TextPart(f.Text)
		p.Synthetic = f.Synthetic
		m.Items = []interop.Item{{Event: skein.Say(at, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{p}})}}
	case f.Type == "text" || f.Type == "reasoning":
		p := skein.Part{Kind: skein.PartKind(f.Type), Text: skein.Text(f.Text), Start: at, End: skein.Time(f.Time.End), Synthetic: f.Synthetic}
		m.Items = []interop.Item{{Event: r.says(at, f.MessageID, p)}}
	case f.Type == "tool":
		m.Items = r.tool(f)
	default:
		m.Items = []interop.Item{{Event: skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "agentuse:" + f.Type, Data: data})}}
	}
	return m, nil
}

// says makes a piece of the model's answer.
func (r *reader) says(at skein.Time, message string, p skein.Part) skein.Event {
	if r.ran && p.Kind != skein.PartCall {
		r.round++
	}
	r.ran = r.ran && p.Kind == skein.PartCall
	return skein.Say(at, skein.Message{
		ID: message + ":" + strconv.Itoa(r.round), Role: skein.RoleAssistant, Provider: r.provider, Model: r.model, Parts: []skein.Part{p},
	})
}

// tool makes a call, and its result if there is one.
func (r *reader) tool(f partFile) []interop.Item {
	at := skein.Time(f.State.Time.Start)
	call := r.says(at, f.MessageID, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: f.CallID, Name: f.Tool, Input: f.State.Input}})
	r.ran = true
	state := skein.NewEvent(skein.KindTool, skein.Time(f.State.Time.End), skein.ToolState{
		Call: f.CallID, State: skein.CallState(f.State.Status), Title: f.State.Title, Start: at, End: skein.Time(f.State.Time.End),
	})
	items := []interop.Item{{Event: call}, {Event: state}}
	res := skein.Result{CallID: f.CallID, Name: f.Tool}
	var text string
	switch {
	case f.State.Status == "error":
		res.Text, res.Failed = skein.Text(f.State.Error), true
	case f.State.Status != "completed":
		return items
	case json.Unmarshal(f.State.Output, &text) == nil:
		res.Text = skein.Text(text)
	default:
		res.Raw = f.State.Output
	}
	said := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res}}}
	return append(items, interop.Item{Event: skein.Say(skein.Time(f.State.Time.End), said)})
}
