package write

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// NewProject returns the command project.
func NewProject(f *job.Frame) *cobra.Command {
	var o projectOptions
	c := &cobra.Command{
		Use:   "project [flags]",
		Short: "list the projects, or move the sessions of one",
		Long: `List the projects that have sessions: the repositories, each with all of its
clones, and the folders that belong to none. A folder that is gone is marked: if
it was moved, skein project mv moves its sessions after it.`,
		Example: `skein project
	skein project mv ~/old/shop ~/shop`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.list),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	mv := &cobra.Command{
		Use:   "mv OLD NEW",
		Short: "move the sessions of a folder to another",
		Long: `Say that the project in the folder OLD is in the folder NEW now. Its sessions, and
those of projects below it, belong to NEW from then on, and so does its thread: the
next skein chat there continues it. If NEW has sessions already, those of OLD join
them. No file is moved.`,
		Example: `skein project mv ~/old/shop ~/shop
	skein project mv ~/old/shop . --dry-run`,
		Args: job.Words(2, 2, "the OLD and the NEW folder"),
		RunE: f.WithStore(o.move),
	}
	mv.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show which sessions would be moved, and move none")
	job.JSONFlag(mv, &o.moveJSON)
	c.AddCommand(mv)
	return c
}

type projectOptions struct{ json, moveJSON, dryRun bool }

// A project is a repository, or a folder that belongs to none, in JSON.
type project struct {
	Repository string          `json:"repository,omitempty"`
	Folders    []projectFolder `json:"folders"` // the one with the newest session first
	Sessions   int             `json:"sessions"`
	Updated    skein.Time      `json:"updated_at,omitzero"`
}

// A projectFolder is the folder of a clone.
type projectFolder struct {
	Path     string `json:"path"`
	Sessions int    `json:"sessions"`
	Gone     bool   `json:"gone,omitempty"` // there is no such folder on this machine
}

func (o *projectOptions) list(ctx context.Context, j *job.Job, _ []string) error {
	all, err := projects(ctx, j)
	if err != nil {
		return err
	}
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "PROJECT", Min: 16, Whole: true}, {Title: "SESSIONS", Right: true, Rank: 1}, {Title: "UPDATED", Rank: 2, Paint: j.Paint.Dim}, {Title: "FOLDERS", Rank: 3, Min: 16, Left: true, Whole: true},
	}}
	for _, p := range all {
		if o.json {
			if err := job.WriteJSON(j.Stdout, p); err != nil {
				return err
			}
			continue
		}
		var folders []string
		for _, f := range p.Folders {
			text := render.Line(j.Tilde(f.Path))
			if f.Gone {
				text += " (gone)"
			}
			folders = append(folders, text)
		}
		name, rest := render.Line(p.Repository), strings.Join(folders, ", ")
		if name == "" {
			name, rest = folders[0], ""
		}
		t.Rows = append(t.Rows, []string{name, render.Count(int64(p.Sessions)), terminal.Ago(p.Updated, j.Now()), rest})
	}
	if o.json {
		return nil
	}
	return j.Table(j.Stdout, t)
}

// projects returns all projects, the one with the newest session first.
func projects(ctx context.Context, j *job.Job) ([]*project, error) {
	var all []*project
	known := map[string]*project{}
	for s, err := range j.Store.Sessions(ctx, skein.Filter{NoChildren: true}) {
		if err != nil {
			return nil, err
		}
		s = sessions.Secrets(false).Mask().Session(s)
		name := cmp.Or(s.Checkout.Repository, s.Project)
		if name == "" {
			continue
		}
		p := known[name]
		if p == nil {
			p = &project{Repository: s.Checkout.Repository, Updated: s.Updated}
			known[name] = p
			all = append(all, p)
		}
		p.Sessions++
		i := slices.IndexFunc(p.Folders, func(f projectFolder) bool { return f.Path == s.Project })
		if i < 0 {
			_, err := os.Lstat(s.Project)
			i, p.Folders = len(p.Folders), append(p.Folders, projectFolder{Path: s.Project, Gone: errors.Is(err, fs.ErrNotExist)})
		}
		p.Folders[i].Sessions++
	}
	return all, nil
}

func (o *projectOptions) move(ctx context.Context, j *job.Job, args []string) error {
	from, err := j.Absolute(args[0])
	if err != nil {
		return err
	}
	to, err := j.Absolute(args[1])
	if err != nil {
		return err
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return fault.Advise(fault.Missing("there is no folder %s", j.Tilde(to)), "move the folder first; then this command moves its sessions")
	}
	if from == to {
		return fault.Usage("%s is the same folder", args[1])
	}
	m := thread.ProjectMove{From: from, To: to, DryRun: o.dryRun}
	if o.moveJSON {
		m.Each = func(s thread.MovedSession) error { return job.WriteJSON(j.Stdout, s) }
	}
	n, err := m.Do(ctx, j)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.Advise(fault.Missing("no session belongs to %s", j.Tilde(from)), "see the projects that have sessions: skein project")
	}
	if o.dryRun {
		j.Say("nothing was done: %s of %s would belong to %s", terminal.Count(n, "session"), j.Tilde(from), j.Tilde(to))
		return nil
	}
	j.Say("%s of %s now belong to %s", terminal.Count(n, "session"), j.Tilde(from), j.Tilde(to))
	return nil
}
