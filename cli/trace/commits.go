package trace

import (
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

type commitsOptions struct {
	most        int
	json, notes bool
	format      string
	secrets     sessions.Secrets
}

// NewCommits returns the command commits.
func NewCommits(f *job.Frame) *cobra.Command {
	var o commitsOptions
	c := &cobra.Command{
		Use:   "commits [NAME | REVISION | RANGE] [flags]",
		Short: "show the sessions of commits, and the commits of a session",
		Long: `Show which sessions wrote the lines of commits of the repository here, and what
their share is: of the newest commits; of the commits of a branch, a range such as
main..work, or one revision and those before it; or of those that have lines of
the session NAME. A line counts if the session put its text into a file before the
commit. Lines that no session is known to have written count as nobody's.

--to agent-trace prints the same as Agent Trace records, --to git-ai as notes of
Git AI. Nothing is written to the repository, except with --write-notes: then the
notes go to refs/notes/ai, which Git AI reads.`,
		Example: `skein commits
	skein commits HEAD --limit 1
	skein commits my-branch
	skein commits 4f1d22a0`,
		Args: job.Words(0, 1, ""),
		RunE: f.WithStore(o.run),
	}
	c.Flags().IntVar(&o.most, "limit", newest, "show at most this `many`: the newest, or of a session the first")
	c.Flags().StringVar(&o.format, "to", "", "`format` of other programs: agent-trace, a record for each commit, or git-ai, a note for each")
	c.Flags().BoolVar(&o.notes, "write-notes", false, "write the notes of Git AI into the repository, for commits without one")
	job.Fixed(c, "to", agentTrace, gitAI)
	job.JSONFlag(c, &o.json)
	sessions.SecretsFlag(c, &o.secrets)
	return c
}

// newest is how many commits are shown if nothing else is asked for.
const newest = 20

// What --to takes.
const (
	agentTrace = "agent-trace"
	gitAI      = "git-ai"
)

// A commitLine is a commit with its sessions, in JSON.
type commitLine struct {
	Commit   string     `json:"commit"`
	Subject  string     `json:"subject"`
	Author   string     `json:"author"`
	Time     skein.Time `json:"time"`
	Files    []string   `json:"files"`
	Lines    int        `json:"lines"` // that it adds
	Sessions []part     `json:"sessions"`
}

// A part is what one session has in a commit, in JSON.
type part struct {
	Session skein.SessionID `json:"session"`
	Name    string          `json:"name"`
	Agent   string          `json:"agent"`
	Lines   int             `json:"lines"`
	Made    bool            `json:"made,omitempty"` // it made the commit
}

func (o *commitsOptions) run(ctx context.Context, j *job.Job, args []string) error {
	switch {
	case o.format != "" && o.format != agentTrace && o.format != gitAI:
		return fault.Usage("--to %q: want %s or %s", o.format, agentTrace, gitAI)
	case o.notes && o.format == agentTrace:
		return fault.Usage("--write-notes writes notes of Git AI, not of %s", agentTrace)
	}
	return o.list(ctx, j, args, o.secrets.Mask())
}

// list prints the commits that args name.
func (o *commitsOptions) list(ctx context.Context, j *job.Job, args []string, hide sessions.Mask) (err error) {
	t, err := open(ctx, j, ".", hide)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	hashes, only, err := o.commits(ctx, t, args)
	if err != nil {
		return err
	}
	shown, err := o.showAll(ctx, t, hashes, only)
	if err == nil && shown == 0 {
		j.Say("no commit of this repository is known to have lines of that session")
	}
	return err
}

// ListCommits prints what the command commits prints for args: for people, or in the
// format json. The error is that of the command.
func ListCommits(ctx context.Context, j *job.Job, args []string, format string, hide sessions.Mask) error {
	o := commitsOptions{most: newest, json: format == inJSON}
	return o.list(ctx, j, args, hide)
}

// inJSON is the format that is not for people.
const inJSON = "json"

// ShowCommit prints the sessions of a commit of the repository here, or of those of a
// branch that the branch main or master does not have: for people, or in the format json.
// It reports whether the word names one. The error is Git's, the store's or the output's.
func ShowCommit(ctx context.Context, j *job.Job, word, format string, hide sessions.Mask) (is bool, err error) {
	t, err := provenance.Open(ctx, j.Store, ".")
	if err != nil {
		return false, nil //nolint:nilerr // there is no repository here
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	o := commitsOptions{most: 1, json: format == inJSON}
	if t.Tree.IsBranch(ctx, word) {
		o.most = maxOfBranch
	}
	hashes, err := t.Tree.Revisions(ctx, word, o.most)
	if err != nil || len(hashes) == 0 {
		return false, nil //nolint:nilerr // it is not a revision
	}
	_, err = o.showAll(ctx, &maskedTracer{t, j, hide}, hashes, "")
	return true, err
}

// maxOfBranch is how many commits of a branch are shown.
const maxOfBranch = 100

// showAll prints whose commits are: if only is not "", those that have lines of that
// session. It returns how many that were.
func (o *commitsOptions) showAll(ctx context.Context, t *maskedTracer, hashes []string, only skein.SessionID) (shown int, err error) {
	err = t.job.Page(ctx, func(w io.Writer) error {
		for _, hash := range hashes {
			r, err := t.Commit(ctx, hash)
			if err != nil {
				return err
			}
			if only != "" && !has(r, only) {
				continue
			}
			if shown++; shown > o.most {
				break
			}
			if err := o.show(ctx, w, t, r); err != nil {
				return err
			}
		}
		return nil
	})
	return shown, err
}

// show prints whose a commit is.
func (o *commitsOptions) show(ctx context.Context, w io.Writer, t *maskedTracer, r *provenance.CommitReport) error {
	switch {
	case o.notes:
		return o.writeNote(ctx, t, r)
	case o.format == gitAI:
		n, err := t.Note(ctx, r)
		if err != nil || len(n.Files) == 0 {
			return err
		}
		_, err = fmt.Fprintf(w, "commit %s\n%s\n", r.Commit.Hash, n.String())
		return err
	case o.format == agentTrace:
		record, err := t.Trace(ctx, r, t.job.Version)
		if err != nil || len(record.Files) == 0 {
			return err
		}
		return job.WriteJSON(w, record)
	}
	c, err := t.commit(ctx, r)
	switch {
	case err != nil:
		return err
	case o.json:
		return job.WriteJSON(w, c)
	}
	return c.write(w, t.job)
}

// writeNote writes the note about a commit into the repository, unless it has one.
func (o *commitsOptions) writeNote(ctx context.Context, t *maskedTracer, r *provenance.CommitReport) error {
	n, err := t.Note(ctx, r)
	if err != nil || len(n.Files) == 0 {
		return err
	}
	has, err := t.Notes.Has(ctx, r.Commit.Hash)
	switch {
	case err != nil:
		return err
	case has:
		t.job.Say("%.8s has a note already", r.Commit.Hash)
		return nil
	}
	if err := t.Notes.Write(ctx, r.Commit.Hash, &n); err != nil {
		return err
	}
	t.job.Say("%.8s: wrote a note about %s", r.Commit.Hash, terminal.Count(len(n.Files), "file"))
	return nil
}

// commits returns the commits to show, and, if args name a session, its ID.
func (o *commitsOptions) commits(ctx context.Context, t *maskedTracer, args []string) (hashes []string, only skein.SessionID, err error) {
	name := "HEAD"
	if len(args) > 0 {
		name = args[0]
		hashes, err = t.Tree.Revisions(ctx, name, o.most)
		if err == nil {
			return hashes, "", nil
		}
		s, err := sessions.Named(ctx, t.job, name)
		if err != nil {
			return nil, "", fault.Advise(err, "%q is no revision of this repository, either", name)
		}
		hashes, err = t.CommitsOf(ctx, &s)
		return hashes, s.ID, err
	}
	hashes, err = t.Tree.Revisions(ctx, name, o.most)
	return hashes, "", err
}

func has(r *provenance.CommitReport, id skein.SessionID) bool {
	return slices.ContainsFunc(r.Shares, func(s provenance.CommitShare) bool { return s.Session == id })
}

// commit says whose a commit is.
func (t *maskedTracer) commit(ctx context.Context, r *provenance.CommitReport) (c commitLine, err error) {
	c = commitLine{Commit: r.Commit.Hash, Subject: r.Commit.Subject, Author: r.Commit.Author, Time: r.Commit.Time, Files: r.Files, Lines: r.Lines, Sessions: []part{}}
	for _, share := range r.Shares {
		s, err := t.session(ctx, share.Session)
		if err != nil {
			return c, err
		}
		c.Sessions = append(c.Sessions, part{s.ID, s.Name(), sessions.AgentOf(&s), share.Lines, share.Made})
	}
	return c, nil
}

// write prints c for people.
func (c *commitLine) write(w io.Writer, j *job.Job) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", j.Paint.Yellow(c.Commit[:min(len(c.Commit), 8)]), j.Paint.Bold(render.Line(c.Subject)))
	fmt.Fprintf(&b, "  %s\n", j.Paint.Dim(fmt.Sprintf("%s · %s · %s · %s", render.Line(c.Author), terminal.Stamp(c.Time, j.Now()), terminal.Count(len(c.Files), "file"), terminal.Count(c.Lines, "new line"))))
	for _, s := range c.Sessions {
		made := ""
		if s.Made {
			made = "  made the commit"
		}
		fmt.Fprintf(&b, "  %3d%%  %s  %-11s  %s%s\n", percent(s.Lines, c.Lines), j.Paint.Cyan(sessions.ShortID(s.Session)), render.Line(s.Agent), terminal.Cut(render.Line(s.Name), 50), j.Paint.Dim(made))
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
