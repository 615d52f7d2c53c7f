package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A resumption is the command by which an agent resumes a session.
type resumption struct {
	command []string
	dir     string // to run it in; "" for the current one
}

// program returns the path of the agent's program.
func (r resumption) program() (string, error) {
	at, err := exec.LookPath(r.command[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", &told{fmt.Sprintf("there is no program %s on the PATH", r.command[0]), skein.ErrNotFound}
	case err != nil:
		return "", fmt.Errorf("program %s: %w", r.command[0], err)
	}
	return at, nil
}

// folder returns an error if the agent cannot run in its folder.
func (r resumption) folder() error {
	if r.dir == "" {
		return nil
	}
	info, err := os.Stat(r.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing("the session's folder %s is not there any more", r.dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s, the session's folder, is no folder any more", r.dir)
	}
	return nil
}

// run replaces this program with the agent. It returns only if that fails.
func (r resumption) run(env *Env) error {
	at, err := r.program()
	if err != nil {
		return err
	}
	if err := r.folder(); err != nil {
		return err
	}
	vars := os.Environ()
	if r.dir != "" {
		if err := os.Chdir(r.dir); err != nil {
			return err
		}
		vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, "PWD=") })
		vars = append(vars, "PWD="+r.dir)
	}
	if err := replace(env, at, r.command, vars); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// tell prints the command for the person to run in a shell.
func (r resumption) tell(j *job, f interop.Format) error {
	if len(r.command) == 0 {
		j.say("%s has no command for that; it finds the session by itself", f.Name)
		return nil
	}
	if _, err := fmt.Fprintln(j.Stdout, r.line(j.OS)); err != nil {
		return err
	}
	if err := r.folder(); err != nil {
		j.say("%v; go where %s is to work instead", err, r.command[0])
	}
	if _, err := r.program(); err != nil {
		j.say("%v", err)
	}
	return nil
}

// line returns the command as one types it. In a POSIX shell it is one line.
// Windows shells do not agree on how to join commands, so there the folder is on a
// line before it.
func (r resumption) line(system string) string {
	quote, join := shellWord, " && "
	if system == "windows" {
		quote, join = windowsWord, "\n"
	}
	var words []string
	for _, w := range r.command {
		words = append(words, quote(w))
	}
	line := strings.Join(words, " ")
	if r.dir != "" {
		dir := quote(r.dir)
		if strings.HasPrefix(r.dir, "-") {
			dir = "-- " + dir
		}
		line = "cd " + dir + join + line
	}
	return line
}

// shellWord returns s as one word of a POSIX shell's command line.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune("~=", r) || special(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// windowsWord returns s as one word of a command line of cmd and PowerShell, as far
// as they agree.
func windowsWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r != '\\' && special(r) }) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	return !strings.ContainsRune("/._-+:@%,=~", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
