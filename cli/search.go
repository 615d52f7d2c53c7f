package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

type searchOptions struct {
	role, agent, project, origin, session, tool, file, status string
	since, until                                              string
	regex, substring, rewound, each, json                     bool
	secrets                                                   secretsShown
	limit                                                     int
	deadline                                                  time.Duration
}

func newSearch(f *frame) *cobra.Command {
	var o searchOptions
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
continues until it has searched everything, or until Ctrl-C. If it has not searched
everything, the exit code is 1.

A match can contain a secret; the secret itself is hidden, unless you use --raw.`,
		Example: `skein search parser error -test
	skein search tool:bash status:error --since 2d
	skein search --substring 'if err != nil {'`,
		Args: words(0, -1, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.role, "role", "", "only messages with this `role`: user, assistant, tool, system, steer")
	g.StringVar(&o.agent, "agent", "", "only in sessions of the agent with this `name`")
	g.StringVar(&o.project, "project", "", "only in the project at this `path`, or in one whose path ends with it; . is this project")
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
	g.IntVar(&o.limit, "limit", 20, "show at most this `many`")
	g.DurationVar(&o.deadline, "deadline", 0, "stop after this much work, as the `time` that it takes on an idle machine, such as 2s; without this flag, search everything")
	secretsFlag(c, &o.secrets)
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	f.complete(c, "session", f.names())
	fixed(c, "role", "user", "assistant", "tool", "system", "steer")
	fixed(c, "status", "error")
	return c
}

func (o *searchOptions) run(ctx context.Context, j *job, args []string) error {
	q, err := o.query(ctx, j, args)
	if err != nil {
		return err
	}
	if search.Empty(&q) {
		return usagef("search needs something to look for")
	}
	return o.find(ctx, j, q)
}

// find prints what matches q. It continues until everything was searched or
// --deadline is reached; a person at a terminal sees the hits found so far.
func (o *searchOptions) find(ctx context.Context, j *job, q skein.Query) error {
	f := &hitList{searchOptions: o, job: j, hide: o.secrets.curtain(), shown: map[skein.Place]bool{}}
	atOnce := j.Terminal.Out && !o.json || !ranked(&q)
	var last skein.Results
	var ended error
	for found, err := range search.Widen(ctx, f.hide.store(j.store), q, o.deadline) {
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
	return cmp.Or(ended, f.end(last, ended != nil))
}

// ranked reports whether the best hits for q come first. If not, the newest do, and
// every hit found early is also in the final result.
func ranked(q *skein.Query) bool {
	return slices.ContainsFunc(q.Terms, func(t skein.Term) bool { return !t.Not })
}

// A hitList prints hits as they are found.
type hitList struct {
	*searchOptions
	job   *job
	hide  curtain
	shown map[skein.Place]bool
	first skein.Hit
}

// write prints those of hits that were not printed yet.
func (f *hitList) write(ctx context.Context, w io.Writer, hits []skein.Hit) error {
	for _, h := range hits {
		at := skein.Place{Session: h.Session, Seq: h.Seq}
		if f.shown[at] {
			continue
		}
		s, err := f.job.store.Session(ctx, h.Session)
		if errors.Is(err, skein.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		s = f.hide.session(s)
		line := newHitLine(&s, h)
		if f.json {
			err = writeJSON(w, line)
		} else {
			err = line.write(w, f.job, len(f.shown))
		}
		if err != nil {
			return err
		}
		if len(f.shown) == 0 {
			f.first = h
		}
		f.shown[at] = true
	}
	return nil
}

// A searched is the last line of a search's JSON.
type searched struct {
	Complete bool `json:"complete"` // everything was searched
	Hits     int  `json:"hits"`     // how many were printed
}

// rest prints the remaining hits; through the pager, if nothing was printed before.
func (f *hitList) rest(ctx context.Context, hits []skein.Hit) error {
	if len(f.shown) > 0 {
		return f.write(ctx, f.job.Stdout, hits)
	}
	return f.job.page(ctx, func(w io.Writer) error { return f.write(ctx, w, hits) })
}

// end says whether everything was searched. The error is errSilent if not.
func (f *hitList) end(last skein.Results, stopped bool) error {
	cut := last.CutOff || stopped
	if f.json {
		if err := writeJSON(f.job.Stdout, searched{Complete: !cut, Hits: len(f.shown)}); err != nil {
			return err
		}
	}
	switch {
	case stopped:
		f.job.say("stopped: not all was looked at")
	case cut:
		f.job.say("not all was looked at: a longer --deadline, or none, goes on")
	case len(f.shown) == 0:
		f.job.say("nothing found")
	}
	if len(f.shown) > 0 && f.job.Terminal.Out && !f.json {
		f.job.say("\nread on: skein show %s --turn %d", shortID(f.first.Session), f.first.Turn)
	}
	if cut {
		return errSilent
	}
	return nil
}

// query makes the query from the flags and the words; flags take precedence.
func (o *searchOptions) query(ctx context.Context, j *job, args []string) (q skein.Query, err error) {
	for i := range args {
		args[i] = unprotect(args[i])
	}
	text := strings.Join(args, " ")
	switch {
	case o.regex && o.substring:
		return q, usagef("--regex and --substring: want one of them")
	case o.limit < 1:
		return q, usagef("--limit %d: want 1 or more", o.limit)
	case o.status != "" && o.status != "error":
		return q, usagef("--status %q: want error", o.status)
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
		s, err := j.session(ctx, name)
		q.Session = s.ID
		return q, err
	}
	return q, nil
}

// narrow adds the filters among the flags to q.
func (o *searchOptions) narrow(j *job, q *skein.Query) (err error) {
	for _, f := range []struct {
		to   *string
		flag string
	}{{(*string)(&q.Role), o.role}, {&q.Agent, o.agent}, {&q.Project, o.project}, {&q.Origin, o.origin}, {&q.Tool, o.tool}, {&q.Path, o.file}} {
		if f.flag != "" {
			*f.to = f.flag
		}
	}
	if o.project == "." || strings.HasPrefix(o.project, "./") || strings.HasPrefix(o.project, "~") {
		if q.Project, err = j.projectOf(o.project); err != nil {
			return err
		}
	}
	if o.role != "" {
		if err := checkRole(q.Role); err != nil {
			return err
		}
	}
	from, to, err := span(o.since, o.until, j.Now())
	if o.since != "" {
		q.Since = from
	}
	if o.until != "" {
		q.Until = to
	}
	q.Failed = q.Failed || o.status != ""
	q.Rewound, q.Each, q.Limit = q.Rewound || o.rewound, o.each, o.limit
	return err
}
