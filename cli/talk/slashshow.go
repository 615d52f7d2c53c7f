package talk

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/read"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// quietly runs another command in this conversation, and shows what it prints on
// stdout and stderr.
func quietly(c *chat, run func(*job.Job) error) error {
	j, env := *c.Job, *c.Env
	var out, notes bytes.Buffer
	j.Env, j.NoPager, j.Wide, j.Store = &env, true, false, c.thread.Store
	env.Stdout, env.Stderr = &out, &notes
	env.Terminal.In, env.Terminal.Out, env.Terminal.Err = false, false, false
	if width := c.width(); width > 0 {
		env.Terminal.Out, env.Terminal.Err, env.Terminal.Width = true, true, width-1
	}
	err := run(&j)
	c.print(out.String())
	if said := strings.Trim(notes.String(), "\n"); said != "" {
		c.done("%s", said)
	}
	return err
}

// showTools is /tools [N].
func showTools(_ context.Context, c *chat, args string) error {
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 {
			return fault.Usage("/tools %q: want which call, 1 for the last", args)
		}
		r, ok := c.calls.newest(n)
		if !ok {
			return fault.Missing("there is no %s in this conversation", ordinalCall(n))
		}
		c.gap("call")
		c.showCall(r)
		return nil
	}
	var rows [][2]string
	for _, t := range c.thread.Agent().Tools {
		doc := firstSentence(t.Spec.Doc)
		if t.Ask != nil && !c.thread.Allowed.Runs(t) {
			doc += " (may ask first)"
		}
		rows = append(rows, [2]string{render.Line(t.Spec.Name), doc})
	}
	if len(rows) == 0 {
		c.done("this agent has no tools")
	}
	c.print(c.pairs(rows))
	return nil
}

func ordinalCall(n int) string {
	if n == 1 {
		return "tool call"
	}
	return fmt.Sprintf("tool call %d before the end", n)
}

// firstSentence returns the first sentence of text, on one line.
func firstSentence(text string) string {
	text = render.Line(text)
	if i := strings.Index(text, ". "); i > 0 {
		return text[:i]
	}
	return strings.TrimSuffix(text, ".")
}

// showHistory is /history [N|all].
func showHistory(ctx context.Context, c *chat, args string) error {
	s, err := begun(ctx, c, "history")
	if err != nil {
		return err
	}
	n := resumed
	switch {
	case args == "all":
		return c.everything(ctx, s)
	case args != "":
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return fault.Usage("/history %q: want how many messages, or all", args)
		}
	}
	return c.messages(ctx, s, n)
}

// listSessions is /sessions [all].
func listSessions(ctx context.Context, c *chat, args string) error {
	if args != "" && args != "all" {
		return fault.Usage("/sessions %q: want nothing, or all", args)
	}
	return quietly(c, func(j *job.Job) error { return (&read.ListOptions{Limit: 20, All: args == "all"}).Run(ctx, j, nil) })
}

// searchAll is /search WORDS.
func searchAll(ctx context.Context, c *chat, args string) error {
	return quietly(c, func(j *job.Job) error { return (&read.SearchOptions{Limit: 10}).Run(ctx, j, []string{args}) })
}

// showUsage is /usage.
func showUsage(ctx context.Context, c *chat, _ string) error {
	s, err := begun(ctx, c, "usage")
	if err != nil {
		return err
	}
	costs, err := sessions.Costs(ctx, c.Job, []skein.Session{s})
	if err != nil {
		return err
	}
	u := s.Usage
	rows := [][2]string{
		{"requests", strconv.FormatInt(u.Requests, 10)},
		{"input", tokens(u.Input)},
		{"output", tokens(u.Output)},
	}
	for _, r := range []struct {
		name string
		n    int64
	}{{"of it reasoning", u.Reasoning}, {"read from the cache", u.CacheRead}, {"written to it", u.CacheWrite}, {"of it for an hour", u.CacheHour}} {
		if r.n > 0 {
			rows = append(rows, [2]string{r.name, tokens(r.n)})
		}
	}
	if s.Compactions > 0 {
		rows = append(rows, [2]string{"compactions", strconv.Itoa(s.Compactions)})
	}
	if cost := costs[s.ID].Costs(); cost != "" {
		rows = append(rows, [2]string{"cost", cost})
	}
	rows = append(rows, [2]string{"messages", fmt.Sprintf("%d in %s", s.Messages, terminal.Count(s.Turns, "turn"))}, [2]string{"session", string(s.ID)})
	c.print(c.pairs(rows))
	return nil
}

func tokens(n int64) string { return terminal.Count(n, "token") }

// exportThread is /export FORMAT [FILE].
func exportThread(ctx context.Context, c *chat, args string) error {
	s, err := begun(ctx, c, "export")
	if err != nil {
		return err
	}
	format, file, _ := strings.Cut(args, " ")
	if format == "" {
		format = "md"
	}
	if file = strings.TrimSpace(file); file == "" {
		file = "session-" + sessions.ShortID(s.ID) + "." + ending(format)
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(c.Dirs.Home, rest)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.thread.Cwd(), file)
	}
	return quietly(c, func(j *job.Job) error {
		return (&read.ExportOptions{To: format, File: file}).Run(ctx, j, []string{string(s.ID)})
	})
}

func ending(format string) string {
	if format == "skein" || format == "source" {
		return "jsonl"
	}
	return format
}
