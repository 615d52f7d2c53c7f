package codex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format.
const Name = "codex"

// Format returns the reader of Codex's rollouts. A rollout's name begins with the
// time when its thread was created, so a fork and a sub-agent come after their
// parent, which often outlives them.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenAI Codex CLI, Desktop and IDE: ~/.codex/sessions, archived_sessions",
		Places: places,
		Match:  match,
		PlacedFiles: []interop.PlacedFile{
			{Name: "session_index.jsonl", Is: interop.StartsWith("{", "its lines have an id and a thread_name", `"id"`, `"thread_name"`)},
			{Name: "the exec --json output", Is: interop.Printed("Codex", "it has a line of type thread.started with a thread_id", func(o loose.Object) bool {
				return o.Str("type") == "thread.started" && o.Has("thread_id")
			})},
		},
		Kin:    kin(),
		Order:  filepath.Base,
		Open:   open,
		Below:  below,
		Write:  write,
		Lock:   lock,
		Resume: resume,
	}
}

func places(h interop.Home) []string {
	home := h.Env("CODEX_HOME")
	if home == "" {
		home = filepath.Join(h.Dir, ".codex")
	}
	return []string{
		filepath.Join(home, "sessions"),
		filepath.Join(home, "archived_sessions"),
		filepath.Join(home, "session_index.jsonl"),
	}
}

// match recognizes a rollout by its name and its beginning or, under another name, by
// the beginning alone.
func match(name string, head []byte) interop.Guess {
	base := path.Base(name)
	first, _ := interop.FirstLine(head)
	switch o, _ := loose.Parse(first); {
	case base == "session_index.jsonl" && has(head, `"thread_name"`):
		return interop.KnownBy("its lines have a thread_name")
	case has(head, `"payload"`) && has(head, `"session_meta"`):
		return interop.KnownBy("it has a session_meta")
	case o.Has("id", "timestamp", "instructions") && !o.Has("type"):
		return interop.KnownBy("it begins with an ID, a time and instructions, as those of early versions do")
	case !strings.HasPrefix(base, "rollout-") || !strings.HasSuffix(base, ".jsonl"):
		return interop.Guess{}
	case len(head) == 0, has(head, `"payload"`) && has(head, `"timestamp"`), has(head, `"record_type"`), has(head, `"type"`):
		return interop.PlacedBy("it is called rollout-….jsonl")
	}
	return interop.Guess{}
}

// kin returns the programs that write rollouts like Codex's.
func kin() []interop.SimilarProgram {
	return []interop.SimilarProgram{
		{Program: "TraeX", Dirs: []string{".trae", ".trae-cn"}, Signs: []string{`"originator":"trae`}},
		{Program: "Every Code", Dirs: []string{".code"}, Signs: []string{`"originator":"code_`}},
		{Program: "Augure Code", Dirs: []string{".augure"}, Signs: []string{`"originator":"augure`}},
	}
}

func has(head []byte, s string) bool { return bytes.Contains(head, []byte(s)) }

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

// lock takes the lock that Codex holds on a thread while it has the thread open:
// thread-writer-locks/<thread>.lock, which exists only that long. Creating and
// removing such a file is guarded by .coordination.lock. Versions without such a
// folder lock nothing.
func lock(_ context.Context, file, _ string) (unlock func() error, err error) {
	id := idOfName(file)
	home, ok := homeOf(filepath.ToSlash(file))
	dir := filepath.Join(filepath.FromSlash(home), "thread-writer-locks")
	if _, err := os.Stat(dir); id == "" || !ok || errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	} else if err != nil {
		return nil, err
	}
	guard := flock.New(filepath.Join(dir, ".coordination.lock"))
	own := flock.New(filepath.Join(dir, id+".lock"))
	err = guarded(guard, func() error {
		ok, err := own.TryLock()
		if err == nil && !ok {
			err = fmt.Errorf("%w: thread %s by Codex", skein.ErrLocked, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		return guarded(guard, func() error { return errors.Join(own.Unlock(), os.Remove(own.Path())) })
	}, nil
}

func guarded(guard *flock.Flock, do func() error) error {
	if err := guard.Lock(); err != nil {
		return err
	}
	return errors.Join(do(), guard.Unlock())
}

// homeOf returns the Codex home that a rollout is in, and false if there is none.
func homeOf(file string) (string, bool) {
	below := below(file)
	if home, ok := strings.CutSuffix(file, "/"+below); ok && below != path.Base(file) {
		return home, true
	}
	return "", false
}
