package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
)

// gitPart is what changes in a repository are listed as, beside the agents.
const gitPart = "git"

const shebang = "#!/bin/sh\n"

// errNoShell means that a hook is not written for a shell, or is switched off.
var errNoShell = errors.New("the hook that is there is no script for a shell, or is switched off")

// shells matches the first line of a script for a shell.
var shells = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#!.*[/ ](ba|da|k|z|a)?sh( |\r?\n)`) })

// withShell puts lines at the beginning of a script, below its first line if that names
// the shell. The error is errNoShell if the script is not for one.
func withShell(script []byte, lines string) ([]byte, error) {
	switch {
	case len(script) == 0:
		return []byte(shebang + lines), nil
	case bytes.Contains(script, []byte(lines)):
		return script, nil
	case !bytes.HasPrefix(script, []byte("#!")):
		return append([]byte(lines), script...), nil
	case !shells().Match(script):
		return nil, errNoShell
	}
	first := bytes.IndexByte(script, '\n') + 1
	return []byte(string(script[:first]) + lines + string(script[first:])), nil
}

// gitHooks are the hooks that get the message of a commit: the first before the person
// edits it, the other one after that, when it is sure that there will be one.
var gitHooks = []string{"prepare-commit-msg", "commit-msg"}

// gitEdits returns the changes of the hooks of the repository that a folder is in. The
// error wraps [skein.ErrNotFound] if it is in none.
func gitEdits(ctx context.Context, m computer, dir string) (all []fileEdit, err error) {
	out, err := execute(ctx, "git", "-C", dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-path", "hooks")
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, skein.ErrNotFound, err)
	}
	common, hooks, _ := strings.Cut(out, "\n")
	common, hooks = filepath.FromSlash(strings.TrimSpace(common)), filepath.FromSlash(strings.TrimSpace(hooks))
	top, err := execute(ctx, "git", "-C", dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, skein.ErrNotFound, err)
	}
	cmd := m.command("trailer")
	if !within(hooks, common) && !within(hooks, filepath.FromSlash(strings.TrimSpace(top))) { // of several repositories
		cmd = append(cmd, "--only", common)
	}
	for _, name := range gitHooks {
		all = append(all, fileEdit{Agent: gitPart, What: name, Path: filepath.Join(hooks, name), Shell: m.trailerLines(cmd)})
	}
	return all, nil
}

// within reports whether a path is in a folder.
func within(path, dir string) bool {
	in, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(in)
}

// trailerLines returns the lines of a hook. They run the command twice, because the rest
// of the script may end with exec, and may write the message anew; the second time changes
// nothing then.
func (m computer) trailerLines(cmd []string) string {
	words := make([]string, len(cmd))
	for i, w := range cmd {
		words[i] = m.shellWord(w)
	}
	return `# skein setup --git added this, skein setup --undo takes it away: it names the
# sessions that wrote a commit in its message.
skein_message=$1
skein_trailer() { ` + strings.Join(words, " ") + ` "$skein_message" >/dev/null 2>&1 || true; }
skein_trailer
trap skein_trailer EXIT
# End of what skein added.
`
}

// setUpGit does what setup does, in the repository here.
func (o *options) setUpGit(ctx context.Context, j *job.Job, done *journal) error {
	if len(o.only)+len(o.except) > 0 || o.foreground {
		return fault.Usage("--git takes no --only, --except or --foreground")
	}
	m, err := o.machine(j)
	if err != nil {
		return err
	}
	edits, err := hooksHere(ctx, j, m)
	if err != nil {
		return err
	}
	if o.undo {
		return o.takeBack(ctx, j, done, func(d *fileEdit) bool {
			for i := range edits {
				if edits[i].Path == d.Path {
					return true
				}
			}
			return false
		})
	}
	var all []setupStep
	for i := range edits {
		s := setupStep{Agent: gitPart, What: edits[i].What, Path: edits[i].Path, change: &edits[i], State: toDo}
		if s.look(done); s.State == toDo && !runs(s.Path) {
			s.State, s.Error = failed, errNoShell.Error()
		}
		all = append(all, s)
	}
	return o.doAll(ctx, j, m, done, all)
}

// hooksHere returns the changes of the hooks of the repository here.
func hooksHere(ctx context.Context, j *job.Job, m computer) ([]fileEdit, error) {
	dir, err := j.Getwd()
	if err != nil {
		return nil, err
	}
	edits, err := gitEdits(ctx, m, dir)
	if errors.Is(err, skein.ErrNotFound) {
		err = fault.Advise(&fault.StatedError{Text: j.Tilde(dir) + " is not in a Git repository with a working tree", Kind: err}, "run the command in the folder of a repository")
	}
	return edits, err
}

// runs reports whether Git runs a hook: if it may be executed, or there is none.
func runs(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && (info.Mode()&0o111 != 0 || filepath.Separator == '\\')
}
