package amplifier

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "amplifier"

// Format returns the format of Amplifier's session folders.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Amplifier's session folders (~/.amplifier/projects)",
		Places: places,
		Order:  order,
		Open:   open,
		Unit:   unitOf,
		PlacedFiles: []interop.PlacedFile{
			{Name: transcript, Path: "projects/-/sessions/*/" + transcript, Is: guessTranscript},
			{Name: eventLog, Is: guess(isLog, "its lines have the schema amplifier.log")},
			{Name: metadata, Is: guess(isMetadata, "it has a session_id, and a bundle, a parent or a time")},
		},
		Look:   look,
		Below:  below,
		Put:    interop.PutLogs(func(name string) bool { return name == eventLog }),
		Write:  write,
		Resume: resume,
	}
}

func places(h interop.Home) []string {
	dir := filepath.Join(h.Dir, ".amplifier")
	if env := h.Env("AMPLIFIER_HOME"); env != "" {
		dir = env
	}
	return []string{filepath.Join(dir, "projects")}
}

// The files of a session.
const (
	transcript = "transcript.jsonl"
	metadata   = "metadata.json"
	eventLog   = "events.jsonl"
	backup     = ".backup"
)

// unitOf returns the session folder that a file belongs to: below
// projects/<slug>/sessions, or wherever a transcript is.
func unitOf(file string) string {
	if _, at := sessionIn(file); at > 0 {
		return file[:at]
	}
	switch path.Base(file) {
	case transcript, transcript + backup:
		return path.Dir(file)
	}
	return ""
}

// sessionIn returns where the last projects/<slug>/sessions/<id> that is followed by
// something begins and ends in a path: the last, because a project may itself hold
// such a tree. It returns 0, 0 if there is none.
func sessionIn(file string) (from, to int) {
	for rest := file; ; {
		at := strings.LastIndex(rest, "/projects/")
		if at < 0 {
			return 0, 0
		}
		part := strings.SplitN(file[at+1:], "/", 5) // projects, slug, sessions, id, and below
		if len(part) == 5 && part[2] == "sessions" && part[1] != "" && part[3] != "" && !strings.HasPrefix(part[3], ".") && part[4] != "" {
			return at + 1, len(file) - len(part[4]) - 1
		}
		rest = rest[:at]
	}
}

// below returns projects/<slug>/sessions/<id>.
func below(unit string) string {
	from, to := sessionIn(unit + "/x")
	switch {
	case to > 0:
		return unit[from:to]
	case path.Base(unit) == "projects": // the folder of all of them
		return "projects"
	}
	return ""
}

// order puts a fork after what it was forked from, even if that went on, and a
// sub-agent's session after its parent.
func order(unit string) string {
	b, err := readSmall(filepath.Join(unit, metadata))
	if err != nil {
		return ""
	}
	o, _ := parse(bytes.TrimSpace(b))
	at := moment(o.str("created")).String()
	if strings.Contains(filepath.Base(unit), "_") {
		at += "_"
	}
	return at
}

func resume(s interop.Spot, sess skein.Session) (command []string, dir string) {
	return []string{"amplifier", "session", "resume", s.ID}, sess.Cwd
}

// Slug returns the name of the folder in which Amplifier keeps the sessions of a
// working directory: its path, absolute and without symbolic links, with hyphens for
// slashes and backslashes, without colons, with a hyphen in front. It cannot be
// reversed: /a-b and /a/b have the same slug.
func Slug(dir string) string {
	s := strings.NewReplacer("/", "-", `\`, "-", ":", "").Replace(dir)
	if !strings.HasPrefix(s, "-") {
		s = "-" + s
	}
	return s
}
