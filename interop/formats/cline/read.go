package cline

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the files of one task.
type reader struct {
	id      string
	main    *thread
	more    map[string]*thread // of other agents, by file
	items   map[string]int     // by session
	told    bool               // a message to the model was read
	counted bool               // a request was counted from what is shown
	last    skein.Time         // of what was shown last
	models  []used             // as task_metadata.json says
	metrics []skein.Event      // of requests, used if nothing is shown
	alone   shown
}

// used is the time from which a task used a model.
type used struct {
	since           skein.Time
	provider, model string
}

// A thread is one list of messages to a model, and its session.
type thread struct {
	tools
	name  string // of the session; "" for the task's
	begin interop.Begin
	begun bool
	n     int
	model used
}

func open(f interop.File) interop.Reader {
	at := filepath.ToSlash(f.Path)
	r := &reader{id: path.Base(at), more: map[string]*thread{}, items: map[string]int{}}
	agent := agentOf(at)
	surface := "ide"
	if path.Base(path.Dir(at)) == "sessions" || strings.Contains(at, "/.cline/") {
		surface = "cli"
	}
	r.main = &thread{begin: interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{
		Surface: surface, Agent: agent, Program: agent, Origin: &skein.Origin{ID: r.id},
	}}}
	if ms, err := strconv.ParseInt(r.id, 10, 64); err == nil {
		r.main.begin.Time = loose.Epoch(float64(ms))
		r.last = r.main.begin.Time
	}
	r.listed(f)
	return r
}

// rooCode is the fork of Cline that keeps an entry for each task in its folder.
const rooCode = "roo-code"

// agentOf returns the agent whose folder this is.
func agentOf(at string) string {
	switch {
	case strings.Contains(at, "roo-cline"):
		return rooCode
	case strings.Contains(at, "kilo-code"):
		return "kilo-code"
	}
	return "cline"
}

// listed reads a task's folder from its program's list of all tasks.
func (r *reader) listed(f interop.File) {
	b, ok := f.Beside("../../state/taskHistory.json")
	if !ok {
		return
	}
	for _, v := range loose.Elements(b) {
		if o, err := loose.Parse(v); err == nil && o.Str("id") == r.id {
			r.main.in(o.Str("cwdOnTaskInitialization", "workspace"))
		}
	}
}

// in sets the session's folder, if that is not known.
func (t *thread) in(dir string) {
	if c := &t.begin.Created; c.Cwd == "" && dir != "" && len(dir) < 4096 && !strings.ContainsAny(dir, "\x00\n\r") {
		c.Cwd, c.Project = dir, dir
	}
}

// Read implements [interop.Reader]; the error says that the line can make nothing.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	in, err := folder.Parse(l.Body)
	switch {
	case err != nil || in.File == "":
		return m, err
	case in.Damage != "":
		return m, errors.New(in.Damage)
	case in.Lines != nil:
		r.end(&m, in.File)
		return m, nil
	case in.Line == nil:
		return m, r.small(&m, in.File, in.Data())
	}
	piece := bytes.TrimSpace(bytes.TrimPrefix(in.Data(), []byte("\xef\xbb\xbf")))
	if len(piece) == 0 || piece[0] == ']' || bytes.HasSuffix(piece, []byte("[")) {
		return m, nil // what is around the messages
	}
	o, err := loose.Parse(loose.Element(piece))
	if err != nil {
		if empty := bytes.Trim(piece, "[] \n\t"); len(empty) == 0 {
			return m, nil
		}
		return m, err
	}
	switch {
	case in.File == uiName || in.File == oldName:
		r.show(&m, o, *in.Line)
	case in.File == apiName || in.File == r.id+messagesEnd:
		r.message(&m, r.main, o)
	default:
		r.message(&m, r.other(in.File), o)
	}
	return m, nil
}

// other returns the thread of another agent, which is a child.
func (r *reader) other(file string) *thread {
	if t := r.more[file]; t != nil {
		return t
	}
	name := strings.TrimSuffix(file, messagesEnd)
	t := &thread{name: name, model: r.main.model, begin: interop.Begin{
		Name: name, ID: skein.SessionID(name), Created: r.main.begin.Created, Of: "", At: r.items[""],
	}}
	t.begin.Created.Origin = &skein.Origin{ID: name}
	t.begin.Created.Parent = &skein.Parent{Why: skein.Child}
	r.more[file] = t
	return t
}

// put makes e the next event of the record, in the session of t.
func (r *reader) put(m *interop.Made, t *thread, e skein.Event, blobs ...skein.Blob) {
	if t != r.main && !r.main.begun {
		r.main.begun = true
		m.Begin = append(m.Begin, r.main.begin)
	}
	if !t.begun {
		t.begun = true
		m.Begin = append(m.Begin, t.begin)
	}
	r.items[t.name]++
	m.Items = append(m.Items, interop.Item{Session: t.name, Event: e, Blobs: blobs})
}

// small reads a file that is not a list of messages.
func (r *reader) small(m *interop.Made, name string, data []byte) error {
	o, err := loose.Parse(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return err
	}
	switch name {
	case metaName:
		r.metadata(o)
	case itemName:
		r.item(m, o)
	case r.id + ".json":
		r.session(m, o)
	}
	return nil
}

// metadata notes which models a task used.
func (r *reader) metadata(o loose.Object) {
	for _, v := range o.List("model_usage") {
		if u, err := loose.Parse(v); err == nil {
			r.models = append(r.models, used{loose.Millis(u.Get("ts")), u.Str("model_provider_id"), u.Str("model_id")})
		}
	}
}

// item reads Roo Code's entry for a task.
func (r *reader) item(m *interop.Made, o loose.Object) {
	r.main.in(o.Str("workspace", "cwdOnTaskInitialization"))
	if up := o.Str("parentTaskId"); up != "" && up != r.id {
		r.main.begin.ParentID, r.main.begin.Created.Parent = up, &skein.Parent{Why: skein.Child}
	}
	m.Key, m.Floating = skein.ClientID("cline:"+r.id+":item"), true
	if mode := o.Str("mode"); mode != "" {
		r.put(m, r.main, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "cline:mode", Data: skein.MustJSON(mode)}))
	}
	if status := o.Str("status"); status != "" {
		r.put(m, r.main, skein.NewEvent(skein.KindChanged, 0, skein.Changed{Status: &status}))
	}
}

// session reads the newer CLI's metadata of a session.
func (r *reader) session(m *interop.Made, o loose.Object) {
	b := &r.main.begin
	if at := loose.Stamp(o.Get("started_at")); at != 0 {
		b.Time = at
	}
	r.main.in(o.Str("cwd", "workspace_root"))
	b.Created.Provider, b.Created.Model = o.Str("provider"), o.Str("model")
	r.main.model = used{0, b.Created.Provider, b.Created.Model}
	m.Key, m.Floating = skein.ClientID("cline:"+r.id+":session"), true
	if title := o.Obj("metadata").Str("title"); title != "" {
		title, _ = typed(title)
		r.put(m, r.main, skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: title, By: skein.BySource}))
	}
	if status := o.Str("status"); status != "" {
		r.put(m, r.main, skein.NewEvent(skein.KindChanged, loose.Stamp(o.Get("ended_at")), skein.Changed{Status: &status}))
	}
}

// end adds, after all messages, the usage of the requests if nothing that is shown
// has it.
func (r *reader) end(m *interop.Made, file string) {
	if file != apiName || r.counted || len(r.metrics) == 0 {
		return
	}
	m.Key, m.Floating = skein.ClientID("cline:"+r.id+":metrics"), true
	for _, e := range r.metrics {
		r.put(m, r.main, e)
	}
}

// modelAt returns the model that a task used at a time.
func (r *reader) modelAt(at skein.Time) (u used) {
	for _, next := range r.models {
		if next.since <= at || at == 0 {
			u = next
		}
	}
	return u
}
