package read

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// SearchOptions are the flags of search.
type SearchOptions struct {
	role, agent, project, origin, session, tool, file, status string
	since, until                                              string
	regex, substring, rewound, each, json                     bool
	secrets                                                   sessions.Secrets
	Limit                                                     int
	deadline                                                  time.Duration
}

// NewSearch returns the command search.
func NewSearch(f *job.Frame) *cobra.Command {
	var o SearchOptions
	c := &cobra.Command{
		Use:   "search QUERY... [flags]",
		Short: "search messages, tool calls and results",
		Long: `Search what was said and done in the sessions of all projects: text, tool input
and output, reasoning, and the work of sub-agents. The best match of each session
is shown, the best first.

  fork pointer      both words
  "fork pointer"    the phrase (in most shells: '"fork pointer"')
  snap*             words that begin with snap
  -draft            messages without this word
  tool:bash         calls and results of this tool
  status:error      errors only
  file:store.go     messages whose tools name a path that contains this
  rewound:yes       include messages that were taken back, marked
  role: agent: project: session: since: until:   like the flags

A long search shows matches as it finds them, in the newest messages first, and
continues until it has searched everything. The exit code is 1 if its --deadline
ended it before that, and 130 if Ctrl-C did.

A match can contain a secret; the secret itself is hidden, unless you use --raw.`,
		Example: `skein search parser error -test
	skein search tool:bash status:error --since 2d
	skein search --substring 'if err != nil {'`,
		Args: job.Words(0, -1, ""),
		RunE: f.WithStore(o.Run),
	}
	g := c.Flags()
	g.StringVar(&o.role, "role", "", "only messages with this `role`: user, assistant, tool, system, steer")
	g.StringVar(&o.agent, "agent", "", "only in sessions of the agent with this `name`")
	g.StringVar(&o.project, "project", "", "only in the project at this `path` and its clones, or in those whose path or repository ends with it; . is this project")
	g.StringVar(&o.origin, "origin", "", "only in sessions imported from this `format`")
	g.StringVar(&o.session, "session", "", "only in the session with this `name`")
	g.StringVar(&o.since, "since", "", "only since `when`: 3h, 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "only until `when`")
	g.StringVar(&o.tool, "tool", "", "only calls and results of the tool with this `name`")
	g.StringVar(&o.file, "file", "", "only messages whose tools name a `path` that contains this")
	g.StringVar(&o.status, "status", "", "only messages with this `status`: error")
	g.BoolVar(&o.regex, "regex", false, "QUERY is a regular expression (RE2)")
	g.BoolVar(&o.substring, "substring", false, "QUERY is exact text, in any case")
	g.BoolVar(&o.rewound, "rewound", false, "include messages that were taken back, marked")
	g.BoolVar(&o.each, "each", false, "show every match, not only the best of each session")
	g.IntVar(&o.Limit, "limit", 20, "show at most this `many`")
	g.DurationVar(&o.deadline, "deadline", 0, "stop after this much work, as the `time` that it takes on an idle machine, such as 2s; without this flag, search everything")
	sessions.SecretsFlag(c, &o.secrets)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	sessions.CompleteFlag(f, c, "session", sessions.Names(f))
	job.Fixed(c, "role", "user", "assistant", "tool", "system", "steer")
	job.Fixed(c, "status", "error")
	return c
}

// Run prints what matches the words args. The error wraps fault.ErrUsage, or is that
// of the store.
func (o *SearchOptions) Run(ctx context.Context, j *job.Job, args []string) error {
	q, err := o.query(ctx, j, args)
	if err != nil {
		return err
	}
	if o.deadline < 0 {
		return fault.Usage("--deadline %v: want 0 or more", o.deadline)
	}
	if search.Empty(&q) {
		return fault.Usage("skein search needs a QUERY")
	}
	return o.find(ctx, j, strings.Join(args, " "), q)
}

// find prints what matches q, which typed was parsed to. It continues until everything
// was searched or --deadline is reached; a person at a terminal sees the hits found so
// far.
func (o *SearchOptions) find(ctx context.Context, j *job.Job, typed string, q skein.Query) error {
	f := &hitList{SearchOptions: o, job: j, hide: o.secrets.Mask(), shown: map[skein.Place]bool{}}
	atOnce := j.Terminal.Out && !o.json || !ranked(&q)
	var last skein.Results
	var ended error
	for found, err := range search.Widen(ctx, f.hide.Store(j.Store), q, o.deadline) {
		if ended = err; err != nil {
			break
		}
		last = found
		if atOnce && found.CutOff {
			if err := f.write(ctx, j.Stdout, found.Hits); err != nil {
				return err
			}
		}
	}
	if ended != nil && ctx.Err() == nil {
		return ended
	}
	ctx = context.WithoutCancel(ctx) // show what was found, also after an interrupt
	if err := f.rest(ctx, last.Hits); err != nil {
		return err
	}
	end := searched{Complete: ended == nil && !last.CutOff, Hits: len(f.shown)}
	if end.Complete && end.Hits == 0 {
		var err error
		if end.Suggested, err = search.Suggest(ctx, f.hide.Store(j.Store), typed, q); err != nil {
			return err
		}
	}
	return cmp.Or(ended, f.end(end, ended != nil))
}

// ranked reports whether the best hits for q come first. If not, the newest do, and
// every hit found early is also in the final result.
func ranked(q *skein.Query) bool {
	return slices.ContainsFunc(q.Terms, func(t skein.Term) bool { return !t.Not })
}

// A hitList prints hits as they are found.
type hitList struct {
	*SearchOptions
	job   *job.Job
	hide  sessions.Mask
	shown map[skein.Place]bool
	first skein.Hit
}

// write prints those of hits that were not printed yet.
func (f *hitList) write(ctx context.Context, w io.Writer, hits []skein.Hit) error {
	at := func(h skein.Hit) skein.Place { return skein.Place{Session: h.Session, Seq: h.Seq} }
	hits = slices.DeleteFunc(slices.Clone(hits), func(h skein.Hit) bool { return f.shown[at(h)] })
	of, err := lookup.OfHits(ctx, f.job.Store, hits)
	if err != nil {
		return err
	}
	for _, h := range hits {
		s, ok := of[h.Session]
		if !ok {
			continue // it was deleted meanwhile
		}
		s = f.hide.Session(s)
		line := newHitLine(&s, h)
		if f.json {
			err = job.WriteJSON(w, line)
		} else {
			err = line.write(w, f.job, len(f.shown))
		}
		if err != nil {
			return err
		}
		if len(f.shown) == 0 {
			f.first = h
		}
		f.shown[at(h)] = true
	}
	return nil
}

// A searched is the last line of a search's JSON.
type searched struct {
	Complete  bool   `json:"complete"`               // everything was searched
	Hits      int    `json:"hits"`                   // how many were printed
	Suggested string `json:"did_you_mean,omitempty"` // a query that finds something, if nothing was found
}

// rest prints the remaining hits; through the pager, if nothing was printed before.
func (f *hitList) rest(ctx context.Context, hits []skein.Hit) error {
	if len(f.shown) > 0 {
		return f.write(ctx, f.job.Stdout, hits)
	}
	return f.job.Page(ctx, func(w io.Writer) error { return f.write(ctx, w, hits) })
}

// end says whether everything was searched. The error is fault.ErrSilent if not.
func (f *hitList) end(end searched, stopped bool) error {
	if f.json {
		if err := job.WriteJSON(f.job.Stdout, end); err != nil {
			return err
		}
	}
	switch {
	case stopped:
		f.job.Say("stopped: not everything was searched")
	case !end.Complete:
		f.job.Say("not everything was searched: use a longer --deadline, or none")
	case end.Suggested != "":
		f.job.Say("nothing found; did you mean: %s", end.Suggested)
	case end.Hits == 0:
		f.job.Say("nothing found")
	}
	if len(f.shown) > 0 && f.job.Terminal.Out && !f.json {
		f.job.Say("\nread on: skein show %s --turn %d", sessions.ShortID(f.first.Session), f.first.Turn)
	}
	if !end.Complete {
		return fault.ErrSilent
	}
	return nil
}

// query makes the query from the flags and the words; flags take precedence.
func (o *SearchOptions) query(ctx context.Context, j *job.Job, args []string) (q skein.Query, err error) {
	for i := range args {
		args[i] = job.Unprotect(args[i])
	}
	text := strings.Join(args, " ")
	switch {
	case o.regex && o.substring:
		return q, fault.Usage("--regex and --substring: want one of them")
	case o.Limit < 1:
		return q, fault.Usage("--limit %d: want 1 or more", o.Limit)
	case o.status != "" && o.status != "error":
		return q, fault.Usage("--status %q: want error", o.status)
	case o.regex:
		q.Regex = text
	case o.substring:
		q.Substring = text
	default:
		if q, err = search.ParseAt(text, j.Now()); err != nil {
			return q, err
		}
	}
	if err := o.narrow(j, &q); err != nil {
		return q, err
	}
	name := string(q.Session)
	if o.session != "" {
		name = o.session
	}
	if name != "" {
		s, err := sessions.Named(ctx, j, name)
		q.Session = s.ID
		return q, err
	}
	return q, nil
}

// narrow adds the filters among the flags to q.
func (o *SearchOptions) narrow(j *job.Job, q *skein.Query) (err error) {
	for _, f := range []struct {
		to   *string
		flag string
	}{{(*string)(&q.Role), o.role}, {&q.Agent, o.agent}, {&q.Project, o.project}, {&q.Origin, o.origin}, {&q.Tool, o.tool}, {&q.Path, o.file}} {
		if f.flag != "" {
			*f.to = f.flag
		}
	}
	if o.project == "." || strings.HasPrefix(o.project, "./") || strings.HasPrefix(o.project, "~") {
		if q.Project, q.Repository, err = j.ClonesOf(o.project); err != nil {
			return err
		}
	}
	if o.role != "" {
		if err := sessions.CheckRole(q.Role); err != nil {
			return err
		}
	}
	from, to, err := terminal.Span(o.since, o.until, j.Now())
	if o.since != "" {
		q.Since = from
	}
	if o.until != "" {
		q.Until = to
	}
	q.Failed = q.Failed || o.status != ""
	q.Rewound, q.Each, q.Limit = q.Rewound || o.rewound, o.each, o.Limit
	return err
}

// A hitLine is a hit in JSON.
type hitLine struct {
	Session skein.SessionID  `json:"session"`
	Seq     skein.Seq        `json:"seq"`
	Turn    int              `json:"turn"` // 0 before the first turn
	Role    skein.Role       `json:"role"`
	Time    skein.Time       `json:"time"`
	Score   float64          `json:"score"`             // higher is better
	Count   int              `json:"count"`             // hits in the session, which --each lists; 0 if not counted
	Rewound bool             `json:"rewound,omitempty"` // it was taken back
	Name    string           `json:"name"`              // of the session
	Agent   string           `json:"agent"`
	Project string           `json:"project"`
	Snippet []skein.Fragment `json:"snippet"` // joined, its texts are the snippet
}

func newHitLine(s *skein.Session, h skein.Hit) hitLine {
	if h.Score == 0 {
		h.Score = 0 // not -0, which JSON would show
	}
	return hitLine{
		Session: h.Session, Seq: h.Seq, Turn: h.Turn, Role: h.Role, Time: h.Time, Score: h.Score, Count: h.Count, Rewound: h.Rewound,
		Name: s.Name(), Agent: sessions.AgentOf(s), Project: s.Project, Snippet: h.Fragments(),
	}
}

// write prints h for people: a line about the session, then the snippet.
func (h *hitLine) write(w io.Writer, j *job.Job, n int) error {
	p, width := j.Paint, j.Terminal.Columns()
	project := render.Line(j.Tilde(h.Project))
	head := p.Cyan(sessions.ShortID(h.Session)) + "  " + p.Bold(render.Line(h.Name))
	tail := h.about(j, project)
	if !j.Wide {
		width := terminal.CmpOr(width, terminal.Piped)
		head = ansi.Truncate(head, width, "…")
		if over := ansi.StringWidth(tail) - (width - 2); over > 0 {
			if room := ansi.StringWidth(project) - over; room >= 8 {
				tail = h.about(j, terminal.CutLeft(project, room))
			} else {
				tail = h.about(j, "")
			}
		}
		tail = ansi.Truncate(tail, width-2, "…")
	}
	blank := ""
	if n > 0 {
		blank = "\n"
	}
	_, err := fmt.Fprintf(w, "%s%s\n  %s\n%s\n", blank, head, p.Dim(tail), h.text(p, width))
	return err
}

// about says where and when h was said; project is the project as shown.
func (h *hitLine) about(j *job.Job, project string) string {
	var about []string
	for _, s := range []string{render.Line(h.Agent), project, terminal.Ago(h.Time, j.Now())} {
		if s != "" {
			about = append(about, s)
		}
	}
	if h.Turn > 0 {
		about = append(about, fmt.Sprintf("turn %d", h.Turn))
	}
	if h.Rewound {
		about = append(about, "taken back")
	}
	if h.Count > 1 {
		about = append(about, terminal.Count(h.Count, "hit"))
	}
	return strings.Join(about, " · ")
}

// text returns the snippet with the matches in color, or without colors between
// asterisks.
func (h *hitLine) text(p prose.Paint, width int) string {
	var b strings.Builder
	if h.Role != "" { // titles and summaries have no role
		b.WriteString(string(h.Role) + ": ")
	}
	for _, s := range h.Snippet {
		text := strings.Join(strings.FieldsFunc(render.Clean(s.Text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
		switch {
		case !s.Match:
			b.WriteString(text)
		case p.On:
			b.WriteString(p.Yellow(text))
		default:
			b.WriteString("*" + text + "*")
		}
	}
	text := b.String()
	if width > 0 {
		text = ansi.Wrap(text, max(width-2, 16), "")
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
