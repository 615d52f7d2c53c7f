package share

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/web/transcript"
)

const (
	maxEvents = 20_000   // that one link shows
	maxBytes  = 64 << 20 // of their payloads
	pageSize  = 200      // messages of a page, about
)

// A Preview is what a link shows, and what it does not show.
type Preview struct {
	Shows      SharedPart
	Title      string
	Agent      string
	Models     []string
	Begin, End skein.Time // of the first and the last message
	Messages   int
	Hidden     []Hidden    // what was masked, the most frequent first
	Suspicious []Suspicion // what is shown and may be meant for nobody else, in order
	More       int         // suspicions beyond those
	LeftOut    []Omission  // what was left out, by kind
	Unread     int         // messages that cannot be read, and are not shown

	window   transcript.Window
	pictures map[skein.Hash]bool
	maker    *transcript.Maker
	pages    []transcript.Window
}

// Hidden is a kind of text that was masked.
type Hidden struct {
	Kind  redact.Kind
	Times int
	Seqs  []skein.Seq // messages with it, up to 20
}

// Suspicion is a text that is shown.
type Suspicion struct {
	Kind   string // of [Kinds], or word, picture
	Seq    skein.Seq
	Before string // it, with some words around it
	Text   string
	After  string
}

// Omission is a kind of content that is not shown.
type Omission struct {
	What  string // for people
	Times int
}

// A previewer makes a preview.
type previewer struct {
	*Preview
	redact  *redact.Redactor
	people  *people
	hidden  map[redact.Kind]*Hidden
	leftOut map[string]int
	without map[skein.Seq]bool
	gone    map[string]bool // calls that are left out
}

// maxSuspicious is how many suspicions a preview lists.
const maxSuspicious = 100

// Look reads what a link to one would show. secrets masks secrets.
//
// The error is the store's, or wraps [skein.ErrInvalid] if the part has no messages or is
// too long for a link.
func Look(ctx context.Context, store skein.Store, one skein.Session, shows SharedPart, secrets *redact.Redactor) (*Preview, error) {
	if shows.To == 0 || shows.To > one.Last {
		shows.To = one.Last
	}
	shows, err := shows.tidy()
	if err != nil {
		return nil, err
	}
	w, title, err := part(ctx, store, one.ID, shows.To)
	if err != nil {
		return nil, err
	}
	l := &previewer{
		Preview: &Preview{Shows: shows, maker: transcript.NewMaker(nil, nil), pictures: map[skein.Hash]bool{}},
		people:  &people{names: map[string]bool{}}, hidden: map[redact.Kind]*Hidden{}, leftOut: map[string]int{},
		without: map[skein.Seq]bool{}, gone: map[string]bool{},
	}
	l.meet(&one, &w)
	l.redact = secrets.With(l.hide)
	for _, seq := range shows.Without {
		l.without[seq] = true
	}
	l.choose(w)
	one.Title = title
	l.about(&one)
	if len(l.window.Entries) == 0 {
		return nil, skein.Invalidf("from %d to %d: there is no message in it", shows.From, shows.To)
	}
	l.examine()
	return l.Preview, nil
}

// part reads a session up to a seq, as it was then, and its title.
func part(ctx context.Context, store skein.Store, id skein.SessionID, to skein.Seq) (w transcript.Window, title string, err error) {
	var b skein.EntryBuilder
	n, size := 0, 0
	for e, err := range transcript.Legible(store).Events(ctx, id, 0) {
		if err == nil && e.Seq > to {
			break
		}
		if err == nil {
			n++
			size += len(e.Payload)
			err = b.Add(e)
		}
		if err != nil {
			return w, "", err
		}
		if n > maxEvents || size > maxBytes {
			return w, "", skein.Invalidf("to %d: this is too long for a link, which shows at most %s events and %s", to, render.Count(maxEvents), render.Bytes(maxBytes))
		}
		switch e.Kind {
		case skein.KindTool, skein.KindRewound:
			w.Events = append(w.Events, e)
		case skein.KindCreated, skein.KindTitled:
			var t skein.Titled // a created event has a title too
			if json.Unmarshal(e.Payload, &t) == nil {
				title = t.Title
			}
		}
	}
	w.Entries = b.Entries()
	return w, title, nil
}

// meet finds the names of people, so that they can be hidden as words.
func (l *previewer) meet(one *skein.Session, w *transcript.Window) {
	l.people.meet(one.Cwd)
	l.people.meet(one.Project)
	if one.Origin != nil {
		l.people.meet(one.Origin.Path)
	}
	for i := range w.Entries {
		texts(&w.Entries[i].Message, l.people.meet)
	}
	l.people.known()
}

// hide finds what the link hides besides secrets.
func (l *previewer) hide(s string) (all []redact.Secret) {
	for _, k := range Kinds() {
		if !l.Shows.Has(string(k.Name)) {
			all = append(all, k.find(s, l.people)...)
		}
	}
	return all
}

// texts calls f with each text of m that is shown.
func texts(m *skein.Message, f func(string)) {
	for i := range m.Parts {
		p := &m.Parts[i]
		f(p.Text.UTF8())
		if p.Call != nil {
			f(unescaped(p.Call.Input))
		}
		if p.Result != nil {
			f(p.Result.Text.UTF8())
			f(unescaped(p.Result.Raw))
		}
		if p.File != nil {
			f(p.File.Name)
			f(p.File.URL)
		}
	}
	if m.Error != nil {
		f(m.Error.Message)
	}
}

// unescaped returns the strings in a JSON text.
func unescaped(raw []byte) string {
	var b strings.Builder
	for _, s := range jsonText().FindAll(raw, -1) {
		if text, ok := skein.Unquote(s); ok {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

var jsonText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// choose keeps what the link shows of w, masked.
func (l *previewer) choose(w transcript.Window) {
	for i := range w.Entries {
		e := &w.Entries[i]
		switch {
		case e.Rewound, e.Seq < l.Shows.From:
			l.drop(e)
		case e.Damaged:
			l.Unread++
			l.drop(e)
		case l.without[e.Seq]:
			l.leftOut["messages that you chose"]++
			l.drop(e)
		case !l.Shows.Context && (e.Message.Role == skein.RoleSystem || e.Message.Role == skein.RoleUser && !e.Message.Typed() && !hasResult(&e.Message)):
			l.leftOut["what programs put into prompts"]++
			l.drop(e)
		default:
			if to := l.entry(*e); len(to.Message.Parts) > 0 || to.Message.Error != nil {
				l.window.Entries = append(l.window.Entries, to)
			}
		}
	}
	for _, e := range w.Events {
		if e.Kind == skein.KindTool {
			l.window.Events = append(l.window.Events, l.redact.Event(e))
		}
	}
	l.window.Events = slices.DeleteFunc(l.window.Events, func(e skein.Event) bool {
		state, err := skein.Decode[skein.ToolState](e)
		return err != nil || e.Seq < l.Shows.From || l.gone[state.Call]
	})
}

// drop leaves a message out, with the results of its calls.
func (l *previewer) drop(e *skein.Entry) {
	for i := range e.Message.Parts {
		if c := e.Message.Parts[i].Call; c != nil && c.ID != "" {
			l.gone[c.ID] = true
		}
	}
}

func hasResult(m *skein.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Result != nil })
}

// entry returns what is shown of a message, masked.
func (l *previewer) entry(e skein.Entry) skein.Entry {
	e.Compacted = false
	m := &e.Message
	m.Parts = slices.Clone(m.Parts)
	m.Parts = slices.DeleteFunc(m.Parts, func(p skein.Part) bool { return l.leaves(m, &p) })
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Meta = nil
		if !l.Shows.Context && m.Role == skein.RoleUser && p.Text != "" {
			typed, wraps := render.Unwrap(m, p.Text.UTF8())
			l.leftOut["what programs put into prompts"] += len(wraps)
			if len(wraps) > 0 {
				p.Text = skein.Text(typed)
			}
		}
		if r := p.Result; r != nil && len(r.Files) > 0 && !l.Shows.Files {
			l.leftOut["attached files and pictures"] += len(r.Files)
			to := *r
			to.Files = nil
			p.Result = &to
		}
		l.picture(p)
	}
	m.Meta = nil
	e = l.redact.Entry(e)
	m = &e.Message
	names := []*string{&m.Model, &m.Agent}
	for i := range m.Parts { // copies, which Entry made
		p := &m.Parts[i]
		if p.Call != nil {
			names = append(names, &p.Call.Name)
		}
		if p.Result != nil {
			names = append(names, &p.Result.Name)
			for j := range p.Result.Files {
				names = append(names, &p.Result.Files[j].Media)
			}
		}
		if p.File != nil {
			names = append(names, &p.File.Media)
		}
	}
	for _, name := range names {
		*name = l.redact.Text(*name)
	}
	return e
}

// leaves reports whether a part is left out.
func (l *previewer) leaves(m *skein.Message, p *skein.Part) bool {
	talk := l.Shows.Mode == transcript.ModeTalk || l.Shows.Mode == transcript.ModePrompts
	switch {
	case talk && (p.Call != nil || p.Result != nil):
		return true
	case p.Result != nil && l.gone[p.Result.CallID]:
		return true
	case p.Kind == skein.PartReasoning && !l.Shows.Reasoning:
		l.leftOut["reasoning of models"]++
		return true
	case p.File != nil && !l.Shows.Files:
		l.leftOut["attached files and pictures"]++
		return true
	case p.Synthetic && !l.Shows.Context && p.Call == nil && p.Result == nil:
		l.leftOut["what programs put into prompts"]++
		return true
	case p.Call == nil && p.Result == nil && p.File == nil && p.Text == "" && len(p.Raw) > 0:
		l.leftOut["what only programs can read"]++
		return true
	}
	return p.Call == nil && p.Result == nil && p.File == nil && p.Text == "" && m.Error == nil
}

// picture notes which blobs are shown.
func (l *previewer) picture(p *skein.Part) {
	if !l.Shows.Files {
		return
	}
	if p.File != nil && p.File.Blob != "" {
		l.pictures[p.File.Blob] = true
	}
	if p.Result != nil {
		for i := range p.Result.Files {
			l.pictures[p.Result.Files[i].Blob] = true
		}
	}
}

// about fills in what is shown above the messages.
func (l *previewer) about(one *skein.Session) {
	masked := l.redact.Session(*one)
	l.Title = render.Line(cmp.Or(masked.Title, firstWords(l.window.Entries), "A session"))
	l.Agent, l.Messages = render.Line(masked.Agent), len(l.window.Entries)
	for i := range l.window.Entries {
		e := &l.window.Entries[i]
		if l.Begin == 0 {
			l.Begin = e.Time
		}
		l.End = max(l.End, e.Time)
		if name := render.Line(e.Message.Model); name != "" && !slices.Contains(l.Models, name) {
			l.Models = append(l.Models, name)
		}
	}
	for what, n := range l.leftOut {
		if n > 0 {
			l.LeftOut = append(l.LeftOut, Omission{what, n})
		}
	}
	slices.SortFunc(l.LeftOut, func(a, b Omission) int { return strings.Compare(a.What, b.What) })
}

// firstWords returns the beginning of the first message that a person wrote.
func firstWords(all []skein.Entry) string {
	for i := range all {
		if all[i].Message.Typed() {
			return render.Clip(strings.NewReplacer("**", "", "`", "").Replace(render.Line(all[i].Message.Words())), 100)
		}
	}
	return ""
}

var markText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[redacted:([a-z0-9-]+)\]`) })

// examine counts what is hidden and lists what looks suspicious in what is shown.
func (l *previewer) examine() {
	for i := range l.window.Entries {
		e := &l.window.Entries[i]
		texts(&e.Message, func(s string) { l.text(e.Seq, s) })
		for j := range e.Message.Parts {
			p := &e.Message.Parts[j]
			if p.File != nil {
				l.suspect(Suspicion{Kind: "picture", Seq: e.Seq, Text: render.Line(render.FileLine(p.File))})
			}
			if p.Result != nil {
				for k := range p.Result.Files {
					l.suspect(Suspicion{Kind: "picture", Seq: e.Seq, Text: render.Line(render.FileLine(&p.Result.Files[k]))})
				}
			}
		}
	}
	l.text(0, l.Title)
	for _, h := range l.hidden {
		l.Hidden = append(l.Hidden, *h)
	}
	slices.SortFunc(l.Hidden, func(a, b Hidden) int { return cmp.Or(b.Times-a.Times, strings.Compare(string(a.Kind), string(b.Kind))) })
}

func (l *previewer) text(seq skein.Seq, s string) {
	for _, found := range markText().FindAllStringSubmatch(s, -1) {
		kind := redact.Kind(found[1])
		h := l.hidden[kind]
		if h == nil {
			h = &Hidden{Kind: kind}
			l.hidden[kind] = h
		}
		h.Times++
		if seq > 0 && len(h.Seqs) < 20 && !slices.Contains(h.Seqs, seq) {
			h.Seqs = append(h.Seqs, seq)
		}
	}
	for _, k := range Kinds() {
		if l.Shows.Has(string(k.Name)) {
			for _, at := range k.find(s, l.people) {
				l.around(string(k.Name), seq, s, at.Start, at.End)
			}
		}
	}
	for _, at := range words().FindAllStringIndex(s, -1) {
		if strings.HasSuffix(s[:at[0]], "[redacted:") {
			continue
		}
		l.around("word", seq, s, at[0], at[1])
	}
}

// around adds a suspicion with some words before and after it.
func (l *previewer) around(kind string, seq skein.Seq, s string, from, to int) {
	const near = 40
	before, after := s[max(from-near, 0):from], s[to:min(to+near, len(s))]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if at := strings.IndexByte(after, '\n'); at >= 0 {
		after = after[:at]
	}
	clean := func(s string) string { return render.Line(strings.ToValidUTF8(s, "")) }
	line := Suspicion{kind, seq, clean(before), clean(s[from:to]), clean(after)}
	if strings.HasSuffix(before, " ") {
		line.Before += " "
	}
	if strings.HasPrefix(after, " ") {
		line.After = " " + line.After
	}
	l.suspect(line)
}

func (l *previewer) suspect(s Suspicion) {
	if len(l.Suspicious) >= maxSuspicious {
		l.More++
		return
	}
	if n := len(l.Suspicious); n > 0 && l.Suspicious[n-1] == s {
		return
	}
	l.Suspicious = append(l.Suspicious, s)
}

// Seen identifies what p shows.
func (p *Preview) Seen() string {
	sum := sha256.Sum256(skein.MustJSON([]any{p.Shows, p.Title, p.window.Entries, p.window.Events}))
	return hex.EncodeToString(sum[:8])
}

// split returns the windows of the pages: a call and its result are on one.
func (p *Preview) split() []transcript.Window {
	if p.pages != nil {
		return p.pages
	}
	all := p.window.Entries
	for begin := 0; begin < len(all); {
		end := min(begin+pageSize, len(all))
		for end < len(all) && end-begin < 2*pageSize && hasResult(&all[end].Message) {
			end++
		}
		w := transcript.Window{Entries: all[begin:end:end]}
		if begin > 0 {
			w.Before = all[begin].Seq
		}
		last := p.Shows.To
		if end < len(all) {
			last = all[end].Seq - 1
			w.After = last
		}
		for _, e := range p.window.Events {
			if e.Seq >= all[begin].Seq && e.Seq <= last {
				w.Events = append(w.Events, e)
			}
		}
		p.pages = append(p.pages, w)
		begin = end
	}
	return p.pages
}

// Pages returns the number of pages.
func (p *Preview) Pages() int { return len(p.split()) }

// Page returns the transcript of page n, from 1; blob returns the path of a picture.
//
// The error wraps [skein.ErrNotFound] if there is no such page.
func (p *Preview) Page(n int, blob func(skein.Hash) string) (*transcript.Transcript, error) {
	all := p.split()
	if n < 1 || n > len(all) {
		return nil, skein.ErrNotFound
	}
	w := all[n-1]
	w.Entries, w.Events = slices.Clone(w.Entries), slices.Clone(w.Events)
	return p.maker.MakeApart(transcript.PageView{Mode: p.Shows.Mode, Light: true, Blob: blob}, w)
}

// PageOf returns the page with a message, from 1.
func (p *Preview) PageOf(seq skein.Seq) int {
	for i, w := range p.split() {
		if len(w.Entries) > 0 && w.Entries[len(w.Entries)-1].Seq >= seq {
			return i + 1
		}
	}
	return 1
}
