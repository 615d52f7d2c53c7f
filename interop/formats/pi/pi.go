package pi

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "pi"

// Format returns the format of the sessions of pi and of Oh My Pi. A file's
// name begins with the time when its session was made, so a fork comes after
// what it was forked from.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "pi's sessions (~/.pi/agent/sessions), Oh My Pi's too (~/.omp)",
		Places: places,
		Match:  match,
		Kin:    kin(),
		Order:  filepath.Base,
		Open:   open,
		Below:  below,
		Write:  write,
		Resume: resume,
	}
}

func places(h interop.Home) []string {
	var all []string
	add := func(parts ...string) {
		if p := filepath.Join(parts...); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if dir := h.Env("PI_CODING_AGENT_SESSION_DIR"); dir != "" {
		add(untilde(h, dir))
	} else if dir := h.Env("PI_CODING_AGENT_DIR"); dir != "" {
		add(untilde(h, dir), "sessions")
	} else {
		add(h.Dir, ".pi", "agent", "sessions")
	}
	config := h.Env("PI_CONFIG_DIR")
	if config == "" {
		config = ".omp"
	}
	add(h.Dir, config, "agent", "sessions")
	add(h.Dir, config, "profiles")
	if data := h.Env("XDG_DATA_HOME"); data != "" {
		add(data, "omp", "sessions")
	}
	return all
}

// untilde returns a path with the home folder in place of ~, as pi reads it.
func untilde(h interop.Home, dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(h.Dir, rest)
	}
	return dir
}

// folders returns the folders in a path where sessions usually are.
func folders() []string { return []string{".pi/agent/sessions", ".omp/agent/sessions"} }

// match recognizes a file by its header, or by Oh My Pi's line before it; one with a
// damaged beginning, by its place.
func match(name string, head []byte) interop.Guess {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	o, err := loose.Parse(bytes.TrimSpace(line))
	switch {
	case loose.Str(o.Get("type")) == typeHeader && o.Has("id", "timestamp"), err == nil && isSlot(o):
		return interop.KnownBy("it begins with the header of a session")
	case path.Ext(name) != ".jsonl":
		return interop.Guess{}
	case slices.ContainsFunc(folders(), func(dir string) bool { return strings.Contains(name, "/"+dir+"/") }):
		return interop.PlacedBy("it is in agent/sessions")
	}
	return interop.Guess{}
}

// kin returns the programs that keep their sessions as pi does.
func kin() []interop.SimilarProgram {
	claw := interop.SimilarProgram{
		Program: "OpenClaw", Dirs: []string{".openclaw", ".clawdbot", ".moltbot"},
		Signs:  []string{`"customtype":"openclaw`, `"customtype":"model-snapshot"`, `"provider":"openclaw"`},
		Except: folders(),
	}
	for _, dir := range claw.Dirs { // its folder is that of the session; a conversation may mention it, and pi may run there
		claw.Header = append(claw.Header, "/"+dir+"/", "/"+dir+`"`, `\\`+dir+`\\`, `\\`+dir+`"`)
	}
	return []interop.SimilarProgram{claw}
}

// below returns a file's path below the agent's folder: in sessions, in the folder of
// its project.
func below(name string) string {
	if at := strings.LastIndex(name, "/sessions/"); at >= 0 {
		return name[at+1:]
	}
	return path.Base(name)
}

// resume returns the command that resumes a session: pi takes an ID, in the session's
// folder, because elsewhere it offers a copy.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	dir = s.Cwd
	if dir == "" {
		dir = s.Project
	}
	if s.Origin != nil && s.Origin.Format == Name && strings.Contains(filepath.ToSlash(s.Origin.Path), "/.omp/") {
		return []string{"omp", "--resume", w.ID}, dir
	}
	return []string{"pi", "--session", w.ID}, dir
}
