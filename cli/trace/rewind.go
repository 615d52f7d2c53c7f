package trace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

type rewindOptions struct {
	turn        int
	files, undo bool
	whole       bool
	secrets     sessions.Secrets
	job.Consent
}

// NewRewind returns the command rewind.
func NewRewind(f *job.Frame) *cobra.Command {
	var o rewindOptions
	c := &cobra.Command{
		Use:   "rewind NAME --turn N --files [flags]",
		Short: "take back what a session did to the files here",
		Long: `Take back what a session, of any agent, did to the files of the repository here
since the beginning of a turn. It changes only lines that the session changed: what
you and others did elsewhere in the same files stays. If the same lines have
changed since, it says so and does nothing at all. What was in a file that the
session wrote as a whole is known only as far as it was committed: for such files
it wants --whole.

It asks first and names the files; --dry-run prints the patch. The patch and a
copy of the files are kept in the repository's .git/skein, and
skein rewind --undo takes the last rewind back. What one rewind took back, a later one
leaves out. The session itself does not change.`,
		Example: `skein rewind last --turn 3 --files
	skein rewind 4f1d22a0 --turn 3 --files -n
	skein rewind --undo`,
		Args: job.Words(0, 1, ""),
		RunE: f.WithStore(o.run),
	}
	c.Flags().IntVar(&o.turn, "turn", 0, "the `number` of the first turn to take back")
	c.Flags().BoolVar(&o.files, "files", false, "take back the changes of files")
	c.Flags().BoolVar(&o.whole, "whole", false, "also take back files that the session wrote as a whole, though what was in them before, and not committed, is not known")
	c.Flags().BoolVar(&o.undo, "undo", false, "take the last rewind in this repository back")
	o.Consent.Flags(c)
	sessions.SecretsFlag(c, &o.secrets)
	return c
}

func (o *rewindOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	switch {
	case o.undo && (len(args) > 0 || o.turn != 0 || o.files):
		return fault.Usage("--undo takes no NAME, --turn or --files")
	case !o.undo && (len(args) != 1 || o.turn < 1 || !o.files):
		return fault.Usage("rewind needs a NAME, --turn N, from 1 on, and --files")
	}
	t, err := open(ctx, j, ".", o.secrets.Mask())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	kept := keptIn(t)
	if o.undo {
		return o.back(ctx, t, kept)
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	return o.takeBack(ctx, t, kept, &s, func(changes []provenance.FileDiff) (bool, error) {
		return o.Given(ctx, j, func() (job.Destruction, error) {
			return job.Destruction{Lines: fileLines(changes), Question: "Take these changes back?", Would: "these changes would be taken back"}, nil
		})
	})
}

// A FileRewind takes back what a session did to the files of the repository here.
type FileRewind struct {
	Dir   string // a folder of the repository; "" for the working directory
	Turn  int    // the first to take back
	Whole bool   // also files that the session wrote as a whole
	Agree func(question string) (bool, error)
}

// An UndoRequest is what a person types after /undo.
type UndoRequest struct {
	Turns        int
	Files, Whole bool
}

// ParseUndo parses [N] [--files] [--whole]. The error wraps fault.ErrUsage.
func ParseUndo(args string) (UndoRequest, error) {
	u := UndoRequest{Turns: 1}
	for _, word := range strings.Fields(args) {
		switch word {
		case "--files":
			u.Files = true
		case "--whole":
			u.Files, u.Whole = true, true
		default:
			var err error
			if u.Turns, err = strconv.Atoi(word); err != nil || u.Turns < 1 {
				return u, fault.Usage("/undo %q: want how many turns, 1 or more, and --files", word)
			}
		}
	}
	return u, nil
}

// RewindFiles takes back what session s did to files, if the person agrees. It reports
// whether nothing of it is left: it is false if the person does not agree. The error says
// what does not fit, and that nothing was done.
func RewindFiles(ctx context.Context, j *job.Job, s *skein.Session, r FileRewind) (done bool, err error) {
	t, err := open(ctx, j, cmp.Or(r.Dir, "."), sessions.Secrets(false).Mask())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	o := rewindOptions{turn: r.Turn, files: true, whole: r.Whole}
	done = true
	err = o.takeBack(ctx, t, keptIn(t), s, func(changes []provenance.FileDiff) (bool, error) {
		done, err = r.Agree("Take these changes of files back?\n" + strings.Join(fileLines(changes), "\n"))
		return done, err
	})
	return done && err == nil, err
}

// takeBack takes back what session s did, if agree says so.
func (o *rewindOptions) takeBack(ctx context.Context, t *maskedTracer, kept rewinds, s *skein.Session, agree func([]provenance.FileDiff) (bool, error)) error {
	j := t.job
	back, err := kept.of(s.ID)
	if err != nil {
		return err
	}
	changes, err := t.Diff(ctx, s, o.turn, 0, back...)
	if err != nil {
		return err
	}
	if whole := wholeFiles(changes); len(whole) > 0 && !o.whole && !o.DryRun {
		return fault.Advise(fault.Usage("nothing was done: the session wrote these files as a whole, and what was in them before is known only as far as it was committed: %s", render.Line(strings.Join(whole, ", "))),
			"look at what would be taken back: skein rewind %s --turn %d --files --dry-run\ndo it with --whole", sessions.ShortID(s.ID), o.turn)
	}
	patch, err := t.Backward(ctx, changes)
	switch {
	case err != nil:
		return fault.Advise(&fault.StatedError{Text: "nothing was done: " + err.Error(), Kind: err}, "see what the session changed: skein diff %s", sessions.ShortID(s.ID))
	case patch == "":
		j.Say("the session is not known to have changed a file of this repository since turn %d", o.turn)
		return nil
	}
	if o.DryRun {
		_, err := fmt.Fprint(j.Stdout, t.hide.Text(patch))
		return err
	}
	ok, err := agree(changes)
	if err != nil || !ok {
		return err
	}
	file, err := kept.add(j, s, o.turn, patch, changes)
	if err != nil {
		return err
	}
	if err := t.Tree.Apply(ctx, patch); err != nil {
		return errors.Join(err, os.Remove(file), os.Remove(noteOf(file)))
	}
	j.Say("took back what the session did in %s since turn %d; skein rewind --undo restores it", terminal.Count(len(fileLines(changes)), "file"), o.turn)
	return nil
}

func wholeFiles(changes []provenance.FileDiff) (all []string) {
	for _, f := range changes {
		if f.Whole && !slices.Contains(all, f.Path) {
			all = append(all, f.Path)
		}
	}
	return all
}

// fileLines names the files that were changed.
func fileLines(changes []provenance.FileDiff) (all []string) {
	for _, f := range changes {
		line := render.Line(f.Path)
		if f.Was.Mode == "" {
			line += " (it is new, and will be deleted)"
		}
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// back takes the last rewind back.
func (o *rewindOptions) back(ctx context.Context, t *maskedTracer, kept rewinds) error {
	file, patch, err := kept.last()
	if err != nil {
		return err
	}
	if file == "" {
		return fault.Advise(fault.Missing("nothing was rewound in this repository"), "rewind a session first: skein rewind NAME --turn N --files")
	}
	if o.DryRun {
		_, err := fmt.Fprint(t.job.Stdout, t.hide.Text(patch))
		return err
	}
	if err := t.Undo(ctx, patch); err != nil {
		return fault.Advise(&fault.StatedError{Text: "nothing was done: " + err.Error(), Kind: err}, "the patch is in %s", t.job.Tilde(file))
	}
	t.job.Say("restored what was taken back")
	return errors.Join(os.Rename(file, strings.TrimSuffix(file, ".patch")+".undone"), os.Remove(noteOf(file)))
}

// rewinds are the patches of rewinds, and the files that they changed, in a folder that
// belongs to the repository: skein's own folders hold no text of them.
type rewinds struct{ dir, root string }

func keptIn(t *maskedTracer) rewinds {
	return rewinds{filepath.Join(t.Tree.Dir, "skein", "rewinds"), t.Tree.Root}
}

// A rewindNote says what a rewind took back, so that another one does not try to take it
// back again. It is kept as long as that holds.
type rewindNote struct {
	Session skein.SessionID `json:"session"`
	provenance.TakenBack
}

// noteOf returns the file of the note about the rewind whose patch is in a file.
func noteOf(patch string) string { return strings.TrimSuffix(patch, ".patch") + ".json" }

// of returns what rewinds took back of a session.
func (r rewinds) of(id skein.SessionID) (all []provenance.TakenBack, err error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(r.dir, e.Name())
		if filepath.Ext(file) != ".json" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var n rewindNote
		if err := json.Unmarshal(text, &n); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if n.Session == id {
			all = append(all, n.TakenBack)
		}
	}
	return all, nil
}

// maxRewinds is how many are kept.
const maxRewinds = 20

// add keeps a patch, and beside it a copy of the files that it changes. It returns the
// patch's file.
func (r rewinds) add(j *job.Job, s *skein.Session, turn int, patch string, changes []provenance.FileDiff) (file string, err error) {
	name := filepath.Base(j.Now().UTC().Format("20060102T150405.000") + "-" + sessions.ShortID(s.ID))
	for _, f := range changes {
		text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(f.Path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := filepath.Join(r.dir, name, filepath.FromSlash(f.Path))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", err
	}
	file = filepath.Join(r.dir, name+".patch")
	note, err := json.Marshal(rewindNote{s.ID, provenance.TakenBack{Turn: turn, Last: s.Last}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(file, []byte(patch), 0o600), os.WriteFile(noteOf(file), note, 0o600)); err != nil {
		return "", err
	}
	return file, r.prune()
}

// prune removes the oldest rewinds but for those that are kept.
func (r rewinds) prune() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range slices.Backward(entries) {
		if filepath.Ext(e.Name()) == ".json" {
			continue // what was taken back stays so
		}
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".patch"), ".undone")
		if seen[name] = true; len(seen) > maxRewinds {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
	return err
}

// last returns the newest patch that was not undone; "" if there is none.
func (r rewinds) last() (file, patch string, err error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	for _, e := range slices.Backward(entries) {
		if filepath.Ext(e.Name()) != ".patch" {
			continue
		}
		file = filepath.Join(r.dir, e.Name())
		text, err := os.ReadFile(file)
		return file, string(text), err
	}
	return "", "", nil
}
