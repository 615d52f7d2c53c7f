package entire

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "entire"

// Format returns the format of Entire's checkpoints, whose transcripts are in one of the
// formats of agents that are files of lines.
func Format(agents []interop.Format) interop.Format {
	known := transcripts{agents}
	return interop.Format{
		Name:   Name,
		Doc:    "Entire: the checkpoints in a Git repository, if you name it",
		Places: func(interop.Home) []string { return nil },
		Unit:   unitOf,
		Look:   known.look,
		Open:   known.open,
	}
}

// unitOf returns the folder of Git that a file with references of checkpoints is in.
func unitOf(name string) string {
	if dir, file := path.Split(name); file == "packed-refs" {
		return path.Clean(dir)
	}
	dir, ref, ok := strings.Cut(name, "/refs/")
	if !ok || !isCheckpoints("refs/"+ref) || path.Base(dir) == "logs" { // what the references were before
		return ""
	}
	return dir
}

// branch is where checkpoints are on a branch of their own.
const branch = "entire/checkpoints/v1"

// isCheckpoints reports whether a reference is of checkpoints.
func isCheckpoints(ref string) bool {
	return isBranch(ref) || checkpointOf(ref) != ""
}

// isBranch reports whether a reference is the branch of checkpoints, here or of a remote.
func isBranch(ref string) bool {
	return ref == "refs/heads/"+branch || strings.HasPrefix(ref, "refs/remotes/") && strings.HasSuffix(ref, "/"+branch)
}

// checkpointOf returns the ID of the checkpoint that has a reference of its own; "" if it
// is not one.
func checkpointOf(ref string) string {
	shard, id, _ := strings.Cut(strings.TrimPrefix(ref, "refs/entire/checkpoints/"), "/")
	if !strings.HasPrefix(ref, "refs/entire/checkpoints/") || shard == "" || !strings.HasSuffix(id, shard) || strings.Contains(id, "/") {
		return ""
	}
	return id
}

// headLen is how much of a file a format is shown to recognize it, in bytes.
const headLen = 4096

// transcripts are the formats of agents.
type transcripts struct{ agents []interop.Format }

// of returns the format of a transcript that begins with head; nil if none knows it.
func (t transcripts) of(name string, head []byte) (best *interop.Format) {
	head = head[:min(len(head), headLen)]
	sure := interop.Alike
	for i := range t.agents {
		f := &t.agents[i]
		if f.Match == nil || f.Open == nil || f.Load != nil {
			continue
		}
		if g := f.Match(name, head); g.Sure > sure {
			best, sure = f, g.Sure
		}
	}
	return best
}

// named returns the format with a name; nil if there is none.
func (t transcripts) named(name string) *interop.Format {
	for i := range t.agents {
		if f := &t.agents[i]; f.Name == name && f.Open != nil && f.Load == nil {
			return f
		}
	}
	return nil
}

// fileOf is the name that an agent gives to the file of a session.
func fileOf(unit, session string) string { return filepath.Join(unit, session+".jsonl") }
