package skillet

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format.
const Name = "skillet"

const (
	databaseName = ".agent_sessions.sqlite"
	logsName     = ".agent_session_logs"
	installed    = "skilled-crew"       // the state folder of an installed Skillet
	agentFile    = ".skilled_crew.yaml" // ending of its agent files' names
)

// Format returns the reader of Skillet's state folders.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Skillet: .skilled-agent/state of a repository, ~/.local/state/skilled-crew",
		Places: places,
		Unit:   unitOf,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: databaseName, Path: databaseName, Is: interop.StartsWith("SQLite format 3", "it has a table "+tableName, "CREATE TABLE "+tableName)},
			{Name: "a session's log", Path: logsName + "/-/*.jsonl", Is: interop.StartsWith("{", "its lines have a kind, and a user's input or a step", `"kind"`, `"timestamp"`, `"userInput"`)},
		},
		Around: around,
		Open:   open,
		Below:  below,
		Write:  write,
		Put:    put,
		Resume: resume,
	}
}

// places returns the state folders: the one that SKILLET_HOME names, or that of the
// repository and that of an installed Skillet. The repository's comes first if it
// exists, because then Skillet ran from there.
func places(h interop.Home) (dirs []string) {
	if home := h.Env("SKILLET_HOME"); home != "" {
		if abs, err := filepath.Abs(home); err == nil {
			return []string{filepath.Join(abs, "state")}
		}
	}
	state := h.Env("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(h.Dir, ".local", "state")
	}
	dirs = []string{filepath.Join(state, installed)}
	root := repository(h.Cwd)
	if root == "" {
		return dirs
	}
	of := filepath.Join(root, ".skilled-agent")
	dirs = append(dirs, filepath.Join(of, "state"))
	if _, err := os.Stat(of); err == nil {
		slices.Reverse(dirs)
	}
	return dirs
}

// resume returns the command that resumes a session. It needs the agent's file: the
// only one in the session's folder, else one that the user must name.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	agent := "AGENT" + agentFile
	if found, err := filepath.Glob(filepath.Join(s.Cwd, "*"+agentFile)); err == nil && len(found) == 1 && s.Cwd != "" {
		agent = filepath.Base(found[0])
	}
	user, name, _ := strings.Cut(w.ID, ":")
	if user == sanitise(defaultUser) { // all that is known from the log of a first turn
		user = defaultUser
	}
	return []string{"skilled_crew", "chat", "-c", agent, "--user-email", user, "--session-name", name}, s.Cwd
}

// repository returns the nearest folder at or above dir with a .git in it, and
// "" if there is none.
func repository(dir string) string {
	for dir != "" {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

// unitOf returns the database that a file belongs to: itself, or the one that is, or
// would be, beside the folder of logs.
func unitOf(name string) string {
	dir, base := path.Split(name)
	if rest, ok := strings.CutPrefix(base, databaseName); ok {
		switch rest {
		case "", "-wal", "-journal":
			return dir + databaseName
		}
		return ""
	}
	if !strings.HasSuffix(base, ".jsonl") {
		return ""
	}
	for range 2 { // USER/NAME.jsonl, or NAME.jsonl of an empty user
		dir = path.Clean(dir)
		if path.Base(dir) == logsName {
			return path.Join(path.Dir(dir), databaseName)
		}
		dir = path.Dir(dir)
	}
	return ""
}

// around returns the folder of the logs beside a database.
func around(unit string) []string { return []string{path.Join(path.Dir(unit), logsName)} }

// below returns a database's path in a SKILLET_HOME, or a state folder's own name.
func below(name string) string {
	if base := path.Base(name); base == "state" || base == installed {
		return base
	}
	return "state/" + databaseName
}

func look(ctx context.Context, path string) (interop.Unit, error) { return openUnit(ctx, path) }
