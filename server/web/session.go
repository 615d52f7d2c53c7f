package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
)

// sessionPages are the pages of one session.
type sessionPages struct{ *site }

// routes are the routes of one session.
func (s sessionPages) routes() []door.Route {
	return []door.Route{
		read("/sessions/{id}", s.session),
		read("/sessions/{id}/messages", s.messages),
		read("/sessions/{id}/messages/{seq}", s.wholeMessage),
		read("/sessions/{id}/next", s.next),
		read("/sessions/{id}/replay", s.replay),
	}
}

// sessionPage is the data of a session's page.
type sessionPage struct {
	*transcript.Transcript
	Title    string
	Cost     string
	Parent   *skein.Session // nil if there is none, or it is not in this store
	Related  []skein.Session
	Found    hitPage // for a search in the session
	Commands []command
	Newest   bool // it shows the end of the session
	Undone   bool // messages were taken back
}

// MayWrite reports whether the visitor may change the session.
func (p *sessionPage) MayWrite() bool { return p.Write }

// Downloads returns the formats for downloads.
func (p *sessionPage) Downloads() []download { return downloads() }

// Jumps returns the kinds of messages to jump to.
func (p *sessionPage) Jumps() []wanted {
	if p.Mode != transcript.ModeAll {
		return []wanted{wantUser}
	}
	return []wanted{wantUser, wantTool, wantError}
}

// Modes returns links to the session in each mode.
func (p *sessionPage) Modes() []navLink {
	all := []navLink{{"", "All", ""}, {"talk", "Conversation", ""}, {"prompts", "Prompts", ""}, {"changes", "Changes", ""}}
	for i := range all {
		all[i].Path = p.ModePath(transcript.Mode(all[i].Name))
	}
	return all
}

// Folds returns the kinds of blocks that the reader can fold, and which are expanded.
func (p *sessionPage) Folds() (all []foldChoice) {
	for i, name := range transcript.FoldKinds() {
		open := p.Folding[name] || p.Folding == nil && name == transcript.FoldChanges
		all = append(all, foldChoice{name, []string{"Reasoning", "Changes of files", "Commands", "Other tools"}[i], open})
	}
	return all
}

// foldChoice is a kind of blocks in the form that folds them.
type foldChoice struct {
	Name, Title string
	Open        bool
}

// Jump returns the path to the next message of a kind, or to the previous one.
func (p *sessionPage) Jump(what wanted, backward bool) string {
	to := fmt.Sprintf("%s/next?what=%s&from=%d%s", p.Path(), what, p.At, p.More())
	if backward {
		to += "&back=1"
	}
	return to
}

// command is a command line for people to type in a terminal.
type command struct{ ID, Label, Line string }

// one returns the session that a request names, and false if the request was
// answered: the session does not exist, or has another path.
func (s *site) one(w http.ResponseWriter, r *http.Request) (skein.Session, bool) {
	if !mayRead(w, r, r.URL.Query().Has("raw")) {
		return skein.Session{}, false
	}
	store, id := door.From(r.Context()).Store, skein.SessionID(r.PathValue("id"))
	found, err := store.Session(r.Context(), id)
	if errors.Is(err, skein.ErrNotFound) && r.Method == http.MethodGet {
		if other, lookErr := lookup.Resolve(r.Context(), s.store(r.Context()), string(id), skein.Filter{}); lookErr == nil {
			http.Redirect(w, r, transcript.SessionPath(other.ID), http.StatusSeeOther)
			return found, false
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return found, false
	}
	return found, true
}

// session shows a session.
func (s sessionPages) session(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	t, err := s.window(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p := &sessionPage{Transcript: t, Title: render.Line(t.Session.Name()), Commands: s.commands(&one), Newest: t.After == 0 && t.Before > 0}
	if err := s.about(r, p); err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "session", layoutData{Title: t.Session.Name(), At: "sessions", Class: "session", Data: p})
}

// about fills in what the page shows above the transcript.
func (s sessionPages) about(r *http.Request, p *sessionPage) error {
	ctx, store := r.Context(), door.From(r.Context()).Store
	costs, err := s.costs(ctx, []skein.Session{p.Session})
	if err != nil {
		return err
	}
	p.Cost = costs[p.Session.ID].Costs()
	if p.Undone, err = transcript.Undone(ctx, store, &p.Session); err != nil {
		return err
	}
	if from := p.Session.Parent; from != nil {
		parent, err := store.Session(ctx, from.Session)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		if err == nil && parent.User == p.Session.User {
			parent = s.veiled(parent)
			p.Parent = &parent
		}
	}
	if p.Related, err = s.related(ctx, store, p.Session.ID); err != nil {
		return err
	}
	return s.findIn(r, p)
}

// messages answers with only the messages of a window.
func (s sessionPages) messages(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	t, err := s.window(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t.Nested = r.URL.Query().Has("nested")
	s.fragment(w, "session", "items", t)
}

// window makes the transcript for the window that a request asks for.
func (s sessionPages) window(r *http.Request, one skein.Session) (*transcript.Transcript, error) {
	q := r.URL.Query()
	store := door.From(r.Context()).Store
	read := transcript.Windows{Store: transcript.Legible(store), Session: one.ID, Size: windowSize, Rewound: q.Has("rewound")}
	v := s.viewOf(r, one)
	v.Raw, v.Rewound, v.Mode = q.Has("raw"), q.Has("rewound"), transcript.ModeOf(q.Get("show"))
	if v.Mode != transcript.ModeAll {
		read.Size = transcript.MaxWindow // most of them are not shown
	}
	if q.Has("whole") {
		all, err := transcript.Whole(r.Context(), store, one.ID)
		if err != nil {
			return nil, err
		}
		v.Folding = transcript.FoldingOf(strings.Join(transcript.FoldKinds(), "."))
		return s.transcripts.Make(r.Context(), store, v, all)
	}
	v.Light = true
	get := read.From
	at := skein.Seq(0)
	for key, f := range map[string]func(context.Context, skein.Seq) (transcript.Window, error){"after": read.From, "before": read.Until, "at": read.Around} {
		if q.Has(key) {
			n, err := seqOf(key, q.Get(key))
			if err != nil {
				return nil, err
			}
			get, at = f, n
		}
	}
	found, err := get(r.Context(), at)
	if err != nil {
		return nil, err
	}
	if v.At = at; at == 0 && len(found.Entries) > 0 && found.Before > 0 {
		v.At = found.Entries[0].Seq
	}
	return s.transcripts.Make(r.Context(), store, v, found)
}

// viewOf returns the usual view of a session.
func (s *site) viewOf(r *http.Request, one skein.Session) transcript.PageView {
	v := transcript.PageView{Session: one, Write: door.From(r.Context()).Scope >= door.Write, Zone: transcript.ZoneOf(r)}
	if c, err := r.Cookie(door.From(r.Context()).CookieName(foldCookie)); err == nil {
		v.Folding = transcript.FoldingOf(c.Value)
	}
	if s.Chat != nil {
		talk, _ := s.Chat.at(one.ID)
		v.Working, v.Chat = talk != nil, door.From(r.Context()).Scope >= door.Admin
	}
	return v
}

// seqOf parses a seq; 0 is the beginning or the end.
func seqOf(what, text string) (skein.Seq, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s=%q: %w: want the seq of an event", what, text, skein.ErrInvalid)
	}
	return skein.Seq(n), nil
}

// wholeMessage shows a message in full.
func (s sessionPages) wholeMessage(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	seq, err := seqOf("message", r.PathValue("seq"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	// The request names this message, so it is shown even if it was taken back.
	store := door.From(r.Context()).Store
	read := transcript.Windows{Store: transcript.Legible(store), Session: one.ID, Size: 1, Rewound: true}
	found, err := read.From(r.Context(), max(seq-1, 0))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	v := s.viewOf(r, one)
	v.Raw, v.Rewound, v.Uncut, v.Write = r.URL.Query().Has("raw"), true, true, false
	t, err := s.transcripts.Make(r.Context(), store, v, found)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t.Before, t.After = 0, 0
	s.show(w, r, "message", layoutData{Title: t.Session.Name(), At: "sessions", Class: "session", Data: &sessionPage{Transcript: t, Title: render.Line(t.Session.Name())}})
}

// windowSize is how many messages a page has, about.
const windowSize = 60

// commands returns the commands that continue a session in a terminal.
func (s sessionPages) commands(one *skein.Session) (all []command) {
	short := lookup.ShortIDs([]skein.SessionID{one.ID})[0]
	add := func(label, line string) { all = append(all, command{fmt.Sprint("command-", len(all)+1), label, line}) }
	add("Continue here", "skein resume "+word(short))
	for _, name := range s.Agents {
		if one.Origin != nil && one.Origin.Format == name {
			add("Continue in the original program", "skein handoff "+word(short)+" --to "+name+" --run")
		}
	}
	for _, name := range s.Agents {
		if one.Origin == nil || one.Origin.Format != name {
			add("Hand off to "+name, "skein handoff "+word(short)+" --to "+name+" --run")
		}
	}
	return all
}

// word returns s quoted as one word of a POSIX shell's command line.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.:", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// costs returns what each session of ss itself cost.
func (s *site) costs(ctx context.Context, ss []skein.Session) (map[skein.SessionID]price.Sum, error) {
	if s.Prices == nil {
		return nil, nil
	}
	table, err := s.Prices()
	if err != nil {
		return nil, err
	}
	q := skein.UsageQuery{By: skein.BySession}
	for i := range ss {
		if ss[i].Usage != (skein.Usage{}) {
			q.Sessions = append(q.Sessions, ss[i].ID)
		}
	}
	if len(q.Sessions) == 0 {
		return nil, nil
	}
	rows, err := door.From(ctx).Store.Usage(ctx, q)
	if err != nil {
		return nil, err
	}
	of := map[skein.SessionID][]skein.UsageRow{}
	for _, r := range rows {
		of[skein.SessionID(r.Of)] = append(of[skein.SessionID(r.Of)], r)
	}
	all := make(map[skein.SessionID]price.Sum, len(ss))
	for i := range ss {
		if rows := of[ss[i].ID]; rows != nil {
			all[ss[i].ID] = table.Sum(rows, ss[i].Updated)
		}
	}
	return all, nil
}

// sessionViews returns links to the other pages of the session at path.
func sessionViews(path string) []navLink {
	return []navLink{
		{"outline", "Outline", path + "/outline"},
		{"changes", "Changes", path + "/changes"},
		{"replay", "Replay", path + "/replay"},
		{"tree", "Tree", path + "/tree"},
	}
}

// replay shows a session in a player: the page's script shows its messages one
// after the other, at the pace of skein replay. Without the script, it shows
// all of them.
func (s sessionPages) replay(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	t, err := s.window(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t.Write = false
	s.show(w, r, "replay", layoutData{Title: "Replay of " + one.Name(), At: "sessions", Class: "session", Data: &sessionPage{Transcript: t, Title: render.Line(t.Session.Name())}})
}
