package amplifier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// A sessionUnit is a session's folder. Its lines are those of package folder,
// in an order of their own: first those of the log and of the transcript,
// merged by their times, then the other files.
type sessionUnit struct {
	*folder.Tree
	path string
}

// look opens a session's folder. The error wraps [interop.ErrTorn] while the metadata
// is missing or being written.
func look(ctx context.Context, path string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "folder %s", path)
	unit := filepath.ToSlash(path)
	t, err := folder.Open(ctx, path, func(name string) bool { return unitOf(unit+"/"+name) != unit && unitOf(unit+"/"+name) != "" })
	if err != nil {
		return nil, err
	}
	u := &sessionUnit{t, path}
	if !u.ours() {
		return nil, errors.Join(interop.ErrOther, t.Close())
	}
	if err := u.await(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return u, nil
}

// await waits for the end of the first save, which writes the transcript and then the
// metadata: without the metadata, a fork would be read as a session without a parent.
// Before the save there is only a log, which names a parent. The error wraps
// [interop.ErrTorn].
func (u *sessionUnit) await() error {
	f, ok := u.File(metadata)
	if !ok {
		if said, saving := u.File(transcript); saving {
			return interop.Await([]folder.File{said}, metadata)
		}
		return nil
	}
	if f.Size > maxSmall || !interop.IsFresh(f.Mtime) {
		return nil
	}
	if data, err := readSmall(filepath.Join(u.path, metadata)); err == nil && !json.Valid(data) {
		return interop.ErrTorn
	}
	return nil // the reader reports anything else that is wrong with it
}

// ours reports whether the folder looks like one of Amplifier's: a transcript,
// metadata with a session's ID, or its log.
func (u *sessionUnit) ours() bool {
	if strings.Contains(filepath.ToSlash(u.path), "/.amplifier/projects/") {
		return true
	}
	if f, ok := u.File(transcript); ok && f.Size == 0 {
		return true
	}
	for name, is := range map[string]func(head []byte) bool{
		transcript: isTranscript, transcript + backup: isTranscript, metadata: isMetadata, metadata + backup: isMetadata, eventLog: isLog,
	} {
		if b, err := readHead(filepath.Join(u.path, name)); err == nil && is(b) {
			return true
		}
	}
	return false
}

// isTranscript reports whether a file's lines are bare messages: those of other
// programs have a type, or are wrapped.
func isTranscript(head []byte) bool {
	for line := range bytes.Lines(head) {
		o, _ := parse(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))) // if it is cut off, what there is
		if o.str("role") != "" && (o.get("content") != nil || o.get("tool_calls") != nil) {
			return o.get("type") == nil && o.get("uuid") == nil && o.get("created") == nil
		}
	}
	return false
}

// isMetadata reports whether a file is a session's metadata.
func isMetadata(head []byte) bool {
	o, _ := parse(bytes.TrimSpace(head))
	return o.str("session_id") != "" && (o.get("created") != nil || o.get("parent_id") != nil || o.get("bundle") != nil) && o.get("type") == nil
}

func isLog(head []byte) bool { return bytes.Contains(head, []byte(`"amplifier.log"`)) }

// Sources implements [interop.Unit]; there are no errors.
func (u *sessionUnit) Sources(context.Context) ([]interop.Source, error) {
	var size int64
	for _, f := range u.Files {
		size += f.Size
	}
	return []interop.Source{{Size: size}}, nil
}

// Open implements [interop.Unit]; there are no errors.
func (u *sessionUnit) Open(context.Context, string) (io.ReadCloser, error) {
	var rest []folder.File
	m := &merger{}
	for _, f := range u.Files {
		switch f.Name {
		case transcript:
			m.said.in = u.lines(f)
		case eventLog:
			m.logged.in = u.lines(f)
		default:
			rest = append(rest, f)
		}
	}
	slices.SortStableFunc(rest, func(a, b folder.File) int { return rank(a.Name) - rank(b.Name) })
	return io.NopCloser(io.MultiReader(m, u.Lines(rest, byLine), u.Dirs())), nil
}

// rank sorts the files that follow the conversation.
func rank(name string) int {
	for i, n := range []string{metadata, metadata + backup, transcript + backup} {
		if name == n {
			return i
		}
	}
	return 3
}

// byLine reports whether each line of a file is a record.
func byLine(name string) bool {
	return name == transcript || name == eventLog || name == transcript+backup
}

func (u *sessionUnit) lines(f folder.File) *folder.Reader {
	return u.Lines([]folder.File{f}, byLine)
}

// Skips implements [interop.Unit].
func (u *sessionUnit) Skips() (all []interop.Skip) {
	for _, s := range u.Tree.Skips {
		all = append(all, interop.Skip{Path: filepath.Join(u.path, filepath.FromSlash(s.Name)), Why: s.Why})
	}
	return all
}

// maxSmall is the size of the longest metadata that is read ahead of its turn, in
// bytes.
const maxSmall = 1 << 20

// readSmall reads a small regular file.
func readSmall(path string) ([]byte, error) { return readAtMost(path, maxSmall) }

func readHead(path string) ([]byte, error) { return readAtMost(path, 4096) }

func readAtMost(path string, n int64) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNoFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

var errNoFile = errors.New("not a regular file")

// guess returns what is says as a guess.
func guess(is func(head []byte) bool, why string) func(head []byte) interop.Guess {
	return func(head []byte) (g interop.Guess) {
		if is(head) {
			g = interop.KnownBy(why)
		}
		return g
	}
}

// guessTranscript knows a transcript by the metadata of its messages; many programs
// write bare messages without.
func guessTranscript(head []byte) interop.Guess {
	first, _ := interop.FirstLine(head)
	o, _ := parse(first)
	switch at, _ := parse(o.get("metadata")); {
	case !isTranscript(head):
		return interop.Guess{}
	case at.str("timestamp") != "" || o.str("timestamp") != "":
		return interop.KnownBy("its lines have a role, content and the time")
	}
	return interop.Guess{Sure: interop.Alike, Why: "its lines have a role and content, as those of many programs"}
}
