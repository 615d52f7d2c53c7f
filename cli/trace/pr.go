package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/provenance"
)

// NewPR returns the command pr.
func NewPR(f *job.Frame) *cobra.Command {
	var secrets sessions.Secrets
	c := &cobra.Command{
		Use:   "pr [BRANCH | RANGE] [flags]",
		Short: "summarize the sessions of a branch for a pull request",
		Long: `Print a summary in Markdown for the description of a pull request: which sessions
wrote how many of the lines that the commits of a branch add, with their agents,
models and costs, and the prompts that led to these lines. It looks at the commits
that the branch main or master does not have, here or at origin; without an
argument, of the branch that is checked out. Secrets are hidden; read it before
you publish it.`,
		Example: `skein pr
	skein pr my-branch | gh pr edit -F -
	skein pr v1.2..HEAD`,
		Args: job.Words(0, 1, ""),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error { return summarize(ctx, j, args, secrets) }),
	}
	sessions.SecretsFlag(c, &secrets)
	return c
}

// maxPromptRunes is how much of a prompt is shown.
const maxPromptRunes = 200

func summarize(ctx context.Context, j *job.Job, args []string, secrets sessions.Secrets) (err error) {
	t, err := open(ctx, j, ".", secrets.Mask())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	name := t.Tree.Branch(ctx)
	if len(args) > 0 {
		name = args[0]
	}
	hashes, err := t.Tree.Revisions(ctx, name, maxOfBranch)
	if err != nil {
		return fault.Advise(fault.Missing("%s is not a branch or a range of this repository", name), "see the branches: git branch --all")
	}
	p := pullRequest{name: name, commits: len(hashes), shares: map[skein.SessionID]*contribution{}}
	for _, hash := range hashes {
		r, err := t.Commit(ctx, hash)
		if err != nil {
			return err
		}
		p.add(r)
	}
	if len(p.shares) == 0 {
		j.Say("no session is known to have written lines in the %s of %s", terminal.Count(p.commits, "commit"), name)
		return nil
	}
	text, err := p.markdown(ctx, t)
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.Stdout, text)
	return err
}

// A pullRequest is what sessions have in the commits of a branch.
type pullRequest struct {
	name           string
	commits, lines int
	shares         map[skein.SessionID]*contribution
}

// A contribution is what one session has in them.
type contribution struct {
	lines  int
	writes map[int]*provenance.Write // one of each turn
	models []string
}

// add counts the lines of a commit.
func (p *pullRequest) add(r *provenance.CommitReport) {
	p.lines += r.Lines
	for _, s := range r.Shares {
		c := p.shares[s.Session]
		if c == nil {
			c = &contribution{writes: map[int]*provenance.Write{}}
			p.shares[s.Session] = c
		}
		c.lines += s.Lines
	}
	for _, f := range r.Added {
		for _, a := range f.Answers {
			if !a.Certainty.Certain() || a.Certainty == provenance.Made || a.Write.Seq == 0 {
				continue
			}
			c := p.shares[a.Write.Session]
			c.writes[a.Write.Turn] = a.Write
			if m := a.Write.Model; m != "" && !slices.Contains(c.models, m) {
				c.models = append(c.models, m)
			}
		}
	}
}

// markdown returns the summary.
func (p *pullRequest) markdown(ctx context.Context, t *maskedTracer) (string, error) {
	var all []skein.Session
	known := 0
	for id, c := range p.shares {
		s, err := t.session(ctx, id)
		if err != nil {
			return "", err
		}
		all = append(all, s)
		known += c.lines
	}
	slices.SortFunc(all, func(a, b skein.Session) int {
		return cmp.Or(cmp.Compare(p.shares[b.ID].lines, p.shares[a.ID].lines), cmp.Compare(a.ID, b.ID))
	})
	costs, err := sessions.Costs(ctx, t.job, all)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Agent sessions\n\n%s wrote %d of the %s (%d%%) added in %s of `%s`.\n\n",
		terminal.Count(len(all), "session"), known, terminal.Count(p.lines, "line"), percent(known, p.lines), terminal.Count(p.commits, "commit"), strings.ReplaceAll(render.Line(p.name), "`", ""))
	b.WriteString("| session | agent | model | turns | cost | lines | share |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
	for i := range all {
		s, c := &all[i], p.shares[all[i].ID]
		models := c.models
		if len(models) == 0 {
			models = []string{s.Model}
		}
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %s | %d | %s | %d | %d%% |\n", cell(s.Name()), sessions.ShortID(s.ID), cell(sessions.AgentOf(s)), cell(strings.Join(models, ", ")),
			s.Turns, cell(cmp.Or(costs[s.ID].Costs(), "-")), c.lines, percent(c.lines, p.lines))
	}
	b.WriteString("\n<details>\n<summary>What was asked for</summary>\n")
	for i := range all {
		if err := p.prompts(ctx, &b, t, &all[i]); err != nil {
			return "", err
		}
	}
	b.WriteString("\n</details>\n")
	return b.String(), nil
}

// prompts writes the prompts of a session that led to lines.
func (p *pullRequest) prompts(ctx context.Context, b *strings.Builder, t *maskedTracer, s *skein.Session) error {
	c := p.shares[s.ID]
	if len(c.writes) == 0 {
		return nil
	}
	fmt.Fprintf(b, "\n**%s** (`skein show %s`)\n\n", cell(s.Name()), sessions.ShortID(s.ID))
	turns := make([]int, 0, len(c.writes))
	for n := range c.writes {
		turns = append(turns, n)
	}
	slices.Sort(turns)
	for _, n := range turns {
		why, err := provenance.Why(ctx, t.job.Store, c.writes[n])
		if err != nil {
			return err
		}
		prompt := cell(terminal.Cut(t.hide.Text(skein.FirstWords(why.Prompt)), maxPromptRunes))
		fmt.Fprintf(b, "- turn %d: %s\n", n, cmp.Or(prompt, "(no prompt is known)"))
	}
	return nil
}

func percent(n, of int) int {
	if of == 0 {
		return 0
	}
	return (100*n + of/2) / of
}

// cell returns a text as Markdown shows it in a cell of a table, unchanged, on one line.
func cell(s string) string {
	return markdownCell.Replace(render.Line(s))
}

var markdownCell = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "@", "@\u200b",
)
