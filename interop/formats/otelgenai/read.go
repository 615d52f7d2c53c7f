package otelgenai

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the records of one file into the events of its conversations.
type reader struct {
	file     interop.File
	document bool // the records are pieces
	n        int  // of the record that is read
	convos   map[string]*convo
	seen     map[string]bool // spans whose messages were said
	list     int             // messages of a bare list
}

func open(f interop.File) interop.Reader {
	return &reader{file: f, document: f.Unit, convos: map[string]*convo{}, seen: map[string]bool{}}
}

// Read implements [interop.Reader]; an error says what is wrong with the JSON.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	text := l.Body
	if r.document {
		if text, err = interop.Piece(l.Body); err != nil {
			return m, err
		}
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	e := loose.Element(text)
	r.n = l.N
	if len(e) == 0 || r.document && (e[0] == ']' || l.N == 0 && e[len(e)-1] == '[') {
		return m, nil // what is around a list
	}
	o, err := loose.Parse(e)
	if err != nil {
		return m, err
	}
	switch {
	case o.Has("role") || o.Has("parts"):
		r.bare(&m, e)
	case o.Has("scopeSpans") || o.Has("scopeLogs"):
		r.resource(&m, o)
	default:
		for _, v := range append(o.List(spansList), o.List(logsList)...) {
			if res, err := loose.Parse(v); err == nil {
				r.resource(&m, res)
			}
		}
	}
	if len(m.Items) > 0 {
		m.Key = skein.ClientID("otel:" + short(string(e)))
		if r.list > 0 {
			m.Key = skein.ClientID(fmt.Sprintf("otel:%s:%d:%s", short(r.stem()), r.list, short(string(e))))
		}
	}
	return m, nil
}

// bare reads a message of a bare list.
func (r *reader) bare(m *interop.Made, e []byte) {
	r.list++
	c := r.convo(r.stem(), nil, nil)
	if s, ok := messageOf(e); ok {
		c.say(m, r.n, 0, s)
	}
}

// stem returns the name of the file, which identifies a bare list.
func (r *reader) stem() string {
	base := filepath.Base(r.file.Path)
	return skein.Text(strings.TrimSuffix(base, filepath.Ext(base))).UTF8()
}

// resource reads the spans and log records of one resource.
func (r *reader) resource(m *interop.Made, o loose.Object) {
	of := attributesOf(o.Obj("resource").List("attributes"))
	for _, lists := range [][3]string{{"scopeSpans", "spans", "span"}, {"instrumentationLibrarySpans", "spans", "span"}, {"scopeLogs", "logRecords", "log"}} {
		for _, v := range o.List(lists[0]) {
			scope, err := loose.Parse(v)
			if err != nil {
				continue
			}
			for _, v := range scope.List(lists[1]) {
				if s, err := loose.Parse(v); err == nil {
					r.record(m, of, s, v, lists[2])
				}
			}
		}
	}
}

// record reads a span or a log record, and the events of a span.
func (r *reader) record(m *interop.Made, of attributes, o loose.Object, raw jsontext.Value, kind string) {
	a := attributesOf(o.List("attributes"))
	for _, v := range o.List("events") {
		if ev, err := loose.Parse(v); err == nil {
			for name, value := range attributesOf(ev.List("attributes")) {
				if _, there := a[name]; !there && strings.HasPrefix(name, "gen_ai.") {
					a[name] = value
				}
			}
		}
	}
	if kind == "log" {
		if body := valueOf(o.Get("body"), maxNest); body.Kind() == '{' { // in early versions
			b, _ := loose.Parse(body)
			for _, f := range b {
				if _, there := a[f.Name]; !there {
					a[f.Name] = f.Value
				}
			}
		}
	}
	if !speaks(a) {
		return
	}
	x := exchange{attributes: a, of: of, span: o.Str("traceId") + ":" + o.Str("spanId"), raw: raw}
	x.start, x.end = nanos(o.Get("startTimeUnixNano")), nanos(o.Get("endTimeUnixNano"))
	if kind == "log" {
		x.start = nanos(o.Get("timeUnixNano"))
		if x.start == 0 {
			x.start = nanos(o.Get("observedTimeUnixNano"))
		}
		x.end = x.start
	}
	if st := o.Obj("status"); st.Str("code") == "STATUS_CODE_ERROR" || st.Count("code") == 2 {
		x.failed = or(st.Str("message"), a.str("error.type"), "error")
	}
	id := a.str(attrConversation, "session.id")
	if id == "" {
		id = or(o.Str("traceId"), "trace")
	}
	r.exchange(m, r.convo(id, a, of), x)
}

// speaks reports whether attributes are those of a model or its tools.
func speaks(a attributes) bool {
	for name := range a {
		if strings.HasPrefix(name, "gen_ai.") {
			return true
		}
	}
	return false
}

// convo returns the conversation with an ID; the first is the file's main one.
func (r *reader) convo(id string, a, of attributes) *convo {
	if c := r.convos[id]; c != nil {
		return c
	}
	c := &convo{id: id, answered: map[string]bool{}}
	if len(r.convos) > 0 {
		c.name = fmt.Sprint(len(r.convos), " ", short(id))
	}
	c.created = skein.Created{
		Surface: "import", Title: or(a.str("skein.title")), Cwd: a.str("skein.cwd"), Checkout: checkoutOf(a, of).Known(), Agent: or(a.str("gen_ai.agent.name"), of.str("service.name")),
		Provider: a.str("gen_ai.provider.name", "gen_ai.system"), Model: a.str("gen_ai.response.model", "gen_ai.request.model"),
		Program: of.str("service.name"), Version: of.str("service.version"), Config: of.rest(), Origin: &skein.Origin{ID: id},
	}
	r.convos[id] = c
	return c
}

// The attributes about a repository, as OpenTelemetry's conventions call them.
const (
	attrAddress = "vcs.repository.url.full"
	attrBranch  = "vcs.ref.head.name"
	attrCommit  = "vcs.ref.head.revision"
)

// checkoutOf returns what a span, or else its resource, says was checked out.
func checkoutOf(a, of attributes) skein.Checkout {
	text := func(name string) string { return or(a.str(name), of.str(name)) }
	branch := text(attrBranch)
	if text("vcs.ref.head.type") == "tag" {
		branch = ""
	}
	return interop.Recorded(text(attrAddress), branch, text(attrCommit))
}

// or returns the first that is not empty.
func or(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
