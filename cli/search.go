package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type searchOptions struct {
	role, agent, project, origin, session, tool, file, status string
	since, until                                              string
	regex, substring, each, json, secrets                     bool
	limit                                                     int
	deadline                                                  time.Duration
}

func newSearch(f *frame) *cobra.Command {
	var o searchOptions
	c := &cobra.Command{
		Use:   "search QUERY... [flags]",
		Short: "find messages, tool calls and results by their words",
		Long: `Find what was said and done in all sessions of all projects: text, tool input
and output, reasoning, and the work of sub-agents. The best of each session is
shown, the best session first.

  fork pointer      both words
  "fork pointer"    the phrase (in most shells: '"fork pointer"')
  snap*             words that begin so
  -draft            without this word
  tool:bash         calls and results of a tool
  status:error      errors only
  file:store.go     messages whose tools name a path that contains this
  role: agent: project: session: since: until:   as the flags

What a secret stands in is found; the secret itself is hidden, unless --raw.`,
		Example: `skein search parser error -test
	skein search tool:bash status:error --since 2d
	skein search --substring 'if err != nil {'`,
		Args: words(0, -1, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.role, "role", "", "said by this `role`: user, assistant, tool, system, steer")
	g.StringVar(&o.agent, "agent", "", "in sessions of the agent with this `name`")
	g.StringVar(&o.project, "project", "", "in the project at this `path`, or one that ends so; . for this one")
	g.StringVar(&o.origin, "origin", "", "in sessions imported from this `format`")
	g.StringVar(&o.session, "session", "", "only in the session with this `name`")
	g.StringVar(&o.since, "since", "", "since `when`: 3h, 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "until `when`")
	g.StringVar(&o.tool, "tool", "", "only calls and results of the tool with this `name`")
	g.StringVar(&o.file, "file", "", "whose tools name a `path` that contains this")
	g.StringVar(&o.status, "status", "", "with this `status`: error is the one there is")
	g.BoolVar(&o.regex, "regex", false, "QUERY is a regular expression (RE2)")
	g.BoolVar(&o.substring, "substring", false, "QUERY is exact text, case ignored")
	g.BoolVar(&o.each, "each", false, "every message, not the best of each session")
	g.IntVar(&o.limit, "limit", 20, "at most this `many`")
	g.DurationVar(&o.deadline, "deadline", 0, "the `time` to search at most: 2s; if not set, 150ms, or 10s with --regex, --substring or no word at all")
	secretsFlag(c, &o.secrets)
	jsonFlag(c, &o.json)
	f.complete(c, "session", f.names)
	fixed(c, "role", "user", "assistant", "tool", "system", "steer")
	fixed(c, "status", "error")
	return c
}

func (o *searchOptions) run(ctx context.Context, j *job, args []string) error {
	q, err := o.query(ctx, j, args)
	if err != nil {
		return err
	}
	if q.Empty() {
		return usagef("search needs something to look for")
	}
	found, err := j.store.Search(ctx, q)
	if err != nil {
		return err
	}
	if err := o.write(ctx, j, found.Hits); err != nil {
		return err
	}
	if found.CutOff {
		what := "there may be better ones"
		if len(found.Hits) == 0 {
			what = "nothing found so far"
		}
		j.say("the search was cut off after %v: %s; more words, or a longer --deadline, find them", q.Deadline, what)
	}
	if len(found.Hits) == 0 {
		if !found.CutOff {
			j.say("nothing found")
		}
	} else if j.Terminal.Out && !o.json {
		h := found.Hits[0]
		j.say("\nread on: skein show %s --turn %d", shortID(h.Session), h.Turn)
	}
	return nil
}

// slowly is how long to search what the index does not serve.
const slowly = 10 * time.Second

// query works out what is asked for; flags beat what the words say.
func (o *searchOptions) query(ctx context.Context, j *job, args []string) (q skein.Query, err error) {
	for i := range args {
		args[i] = unprotect(args[i])
	}
	text := strings.Join(args, " ")
	q.Deadline = slowly
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
		if q, err = skein.ParseQueryAt(text, j.Now()); err != nil {
			return q, err
		}
		if slices.ContainsFunc(q.Terms, func(t skein.Term) bool { return !t.Not }) { // the index serves it
			q.Deadline = 150 * time.Millisecond
		} else {
			q.Deadline = slowly
		}
	}
	if o.deadline > 0 {
		q.Deadline = o.deadline
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

// narrow puts the flags into q.
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
	q.Each, q.Limit = o.each, o.limit
	return err
}

// write prints the hits.
func (o *searchOptions) write(ctx context.Context, j *job, hits []skein.Hit) error {
	lines, hide := make([]hitLine, len(hits)), drawn(o.secrets)
	for i, h := range hits {
		s, err := j.store.Session(ctx, h.Session)
		if err != nil {
			return err
		}
		if s, h, err = hide.hit(ctx, j.store, s, h); err != nil {
			return err
		}
		lines[i] = newHitLine(&s, h)
	}
	return j.page(ctx, func(w io.Writer) error {
		for i := range lines {
			var err error
			if o.json {
				err = writeJSON(w, lines[i])
			} else {
				err = lines[i].write(w, j, i)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
