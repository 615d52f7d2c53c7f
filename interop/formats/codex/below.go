package codex

import (
	"path"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// below returns a file's path below Codex's home: in sessions or archived_sessions;
// for a rollout found elsewhere, in the folder of the day in its name.
func below(name string) string {
	at := max(strings.LastIndex(name, "/sessions/"), strings.LastIndex(name, "/archived_sessions/"))
	if at >= 0 {
		return name[at+1:]
	}
	base := path.Base(name)
	if nameParts().MatchString(base) {
		day := base[len("rollout-"):][:len("2006-01-02")]
		return "sessions/" + strings.ReplaceAll(day, "-", "/") + "/" + base
	}
	return base
}

// resume returns the command that resumes a session in its folder.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"codex", "resume", w.ID}, first(s.Cwd, s.Project)
}
