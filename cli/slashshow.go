package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// quietly runs another command in this conversation, and shows what it prints on
// stdout and stderr.
func (c *chat) quietly(run func(*job) error) error {
	j, env := *c.job, *c.Env
	var out, notes bytes.Buffer
	j.Env, j.noPager, j.wide, j.store = &env, true, false, c.thread.store
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

// tools is /tools [N].
func (c *chat) tools(_ context.Context, args string) error {
	if args != "" {
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 {
			return usagef("/tools %q: want which call, 1 for the last", args)
		}
		r, ok := c.calls.newest(n)
		if !ok {
			return missing("there is no %s in this conversation", ordinalCall(n))
		}
		c.gap("call")
		c.showCall(r)
		return nil
	}
	var rows [][2]string
	for _, t := range c.thread.Agent().Tools {
		doc := firstSentence(t.Spec.Doc)
		if t.Ask != nil && !c.thread.allowed.runs(t) {
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

// history is /history [N|all].
func (c *chat) history(ctx context.Context, args string) error {
	s, err := c.begun(ctx, "history")
	if err != nil {
		return err
	}
	n := resumed
	switch {
	case args == "all":
		return c.everything(ctx, s)
	case args != "":
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return usagef("/history %q: want how many messages, or all", args)
		}
	}
	return c.messages(ctx, s, n)
}

// sessionList is /sessions [all].
func (c *chat) sessionList(ctx context.Context, args string) error {
	if args != "" && args != "all" {
		return usagef("/sessions %q: want nothing, or all", args)
	}
	return c.quietly(func(j *job) error { return (&listOptions{limit: 20, all: args == "all"}).run(ctx, j, nil) })
}

// find is /search WORDS.
func (c *chat) find(ctx context.Context, args string) error {
	return c.quietly(func(j *job) error { return (&searchOptions{limit: 10}).run(ctx, j, []string{args}) })
}

// usage is /usage.
func (c *chat) usage(ctx context.Context, _ string) error {
	s, err := c.begun(ctx, "usage")
	if err != nil {
		return err
	}
	costs, err := c.costs(ctx, []skein.Session{s})
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
	rows = append(rows, [2]string{"messages", fmt.Sprintf("%d in %s", s.Messages, count(s.Turns, "turn"))}, [2]string{"session", string(s.ID)})
	c.print(c.pairs(rows))
	return nil
}

func tokens(n int64) string { return count(n, "token") }

// export is /export FORMAT [FILE].
func (c *chat) export(ctx context.Context, args string) error {
	s, err := c.begun(ctx, "export")
	if err != nil {
		return err
	}
	format, file, _ := strings.Cut(args, " ")
	if format == "" {
		format = "md"
	}
	if file = strings.TrimSpace(file); file == "" {
		file = "session-" + shortID(s.ID) + "." + ending(format)
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(c.dirs.Home, rest)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.thread.cwd(), file)
	}
	return c.quietly(func(j *job) error {
		return (&exportOptions{to: format, file: file}).run(ctx, j, []string{string(s.ID)})
	})
}

func ending(format string) string {
	if format == "skein" || format == "source" {
		return "jsonl"
	}
	return format
}
