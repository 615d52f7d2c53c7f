package provenance

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/git"
)

// A CommitShare is what one session has in a commit.
type CommitShare struct {
	Session skein.SessionID
	Lines   int  // that it is known to have written
	Made    bool // it made the commit
}

// A CommitReport says which sessions a commit has lines of.
type CommitReport struct {
	Commit *git.Commit
	Files  []string
	Lines  int           // that it adds
	Shares []CommitShare // most lines first
	Added  []Report      // the lines that it adds, by file
}

// Commit says which sessions have a share in a commit. A merge has no lines of its own.
// The error is Git's or the store's.
func (t *Tracer) Commit(ctx context.Context, hash string) (*CommitReport, error) {
	added, err := t.Tree.Added(ctx, hash)
	if err != nil {
		return nil, err
	}
	return t.shared(ctx, added)
}

// Staged is as Commit, for the commit that would be made now. The error is Git's or the
// store's.
func (t *Tracer) Staged(ctx context.Context) (*CommitReport, error) {
	added, err := t.Tree.Staged(ctx)
	if err != nil {
		return nil, err
	}
	return t.shared(ctx, added)
}

// shared says which sessions have a share in what a commit adds.
func (t *Tracer) shared(ctx context.Context, added *git.AddedLines) (*CommitReport, error) {
	r := &CommitReport{Commit: added.Commit, Files: added.Files}
	lines := map[skein.SessionID]int{}
	for begin := 0; begin < len(added.Lines); {
		end := begin
		for end < len(added.Lines) && added.Lines[end].Path == added.Lines[begin].Path {
			end++
		}
		answers, err := t.answers(ctx, added.Lines[begin].Path, added.Lines[begin:end])
		if err != nil {
			return nil, err
		}
		r.Added = append(r.Added, Report{added.Lines[begin].Path, added.Lines[begin:end], answers})
		for _, a := range answers {
			if a.Certainty.Certain() && a.Certainty != Made {
				lines[a.Write.Session]++
			}
		}
		r.Lines += end - begin
		begin = end
	}
	maker, err := t.rule.Maker(r.Commit)
	if err != nil {
		return nil, err
	}
	if maker != nil {
		lines[maker.Session] += 0
	}
	for id, n := range lines {
		r.Shares = append(r.Shares, CommitShare{id, n, maker != nil && maker.Session == id})
	}
	slices.SortFunc(r.Shares, func(a, b CommitShare) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Session, b.Session))
	})
	return r, nil
}

// maxTouching is how many commits after a session are looked at for lines of it.
const maxTouching = 300

// CommitsOf returns the hashes of the commits that session x made, as far as they are
// still there, and of those, on any branch, that touch files which it changed, that have
// lines of it in other files, or whose notes name it; the oldest first. It looks at the
// first 300 of each kind since the session began. The error is Git's or the store's.
func (t *Tracer) CommitsOf(ctx context.Context, x *skein.Session) ([]string, error) {
	writes, err := t.writes(ctx, skein.Query{Session: x.ID, Role: skein.RoleAssistant})
	if err != nil {
		return nil, err
	}
	files, since := t.filesOf(x, writes), x.Created-slack
	all, err := t.Tree.Touching(ctx, files, since)
	if err != nil {
		return nil, err
	}
	all = all[:min(len(all), maxTouching)]
	made, err := t.madeBy(ctx, x)
	if err != nil {
		return nil, err
	}
	noted, err := t.notedOf(ctx, x)
	if err != nil {
		return nil, err
	}
	elsewhere, err := t.withLinesOf(ctx, writes, since, all)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(all, made, noted, elsewhere)
	times := map[string]skein.Time{}
	for _, hash := range all {
		whole, at, err := t.ancestry.Find(hash)
		if err != nil {
			return nil, err
		}
		if whole != "" {
			times[whole] = at
		}
	}
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a, b))
	}), nil
}

// madeBy returns the hashes of the commits that session x reported, and of those that
// have the subject and the time of one that is not there any more: a rebase keeps both.
// The error is Git's or the store's.
func (t *Tracer) madeBy(ctx context.Context, x *skein.Session) (all []string, err error) {
	lost := map[string][]skein.Time{} // by subject: when it was reported
	err = t.each(ctx, skein.Query{Session: x.ID, Role: skein.RoleTool}, func(h *skein.Hit, _ *skein.Session) error {
		m := messageOf(h.Event)
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			for made := range edits.Commits(p.Result.Text.UTF8()) {
				whole, _, err := t.ancestry.Find(made.Hash)
				if err != nil {
					return err
				}
				if whole != "" {
					all = append(all, whole)
				} else {
					lost[made.Subject] = append(lost[made.Subject], h.Time)
				}
			}
		}
		return nil
	})
	if err != nil || len(lost) == 0 {
		return all, err
	}
	commits, err := t.Tree.Since(ctx, x.Created-slack, git.Branches, git.Remotes)
	for _, c := range commits {
		if slices.ContainsFunc(lost[c.Subject], func(at skein.Time) bool { return max(at-c.Time, c.Time-at) <= 2*slack }) {
			all = append(all, c.Hash)
		}
	}
	return all, err
}

// filesOf returns the files that the writes of session x changed, relative to the root.
func (t *Tracer) filesOf(x *skein.Session, writes []Write) (files []string) {
	for i := range writes {
		for _, p := range []string{writes[i].Edit.Path, writes[i].Edit.From} {
			if name := t.inside(x, &writes[i].Edit, p); name != "" && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
}

// withLinesOf returns those of the first 300 commits here since a time, but for the known
// ones, that may have moved lines of the writes into other files: those that Git can read,
// which in a partial clone are not all. The error is Git's.
func (t *Tracer) withLinesOf(ctx context.Context, writes []Write, since skein.Time, known []string) (all []string, err error) {
	wrote := map[string]bool{}
	for i := range writes {
		for _, l := range writes[i].Edit.Added {
			if l = strings.TrimSpace(l); len(l) >= shortLine {
				wrote[l] = true
			}
		}
	}
	if len(wrote) < enoughMoved {
		return nil, nil
	}
	commits, err := t.Tree.Since(ctx, since, git.Branches)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, c := range commits {
		if !slices.Contains(known, c.Hash) && len(hashes) < maxTouching {
			hashes = append(hashes, c.Hash)
		}
	}
	found := map[string]map[string]bool{}
	err = t.Tree.EachAdded(ctx, hashes, func(hash, line string) {
		if line = strings.TrimSpace(line); wrote[line] {
			if found[hash] == nil {
				found[hash] = map[string]bool{}
			}
			found[hash][line] = true
		}
	})
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	for hash, lines := range found {
		long := slices.ContainsFunc(slices.Collect(maps.Keys(lines)), func(l string) bool { return len(l) >= longLine })
		if long && len(lines) >= enoughMoved {
			all = append(all, hash)
		}
	}
	return all, err
}
