package codex

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// A home is a folder of rollouts and the store they are imported into.
type home struct {
	t     *testing.T
	dir   string
	store skein.Store
	clock time.Time
}

func newHome(t *testing.T) *home {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return &home{t: t, dir: t.TempDir(), store: s, clock: time.Now().Add(-time.Hour)}
}

// put writes a file that is newer than all before.
func (h *home) put(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.clock = h.clock.Add(time.Second)
	if err := os.Chtimes(path, h.clock, h.clock); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) load() interop.Report {
	h.t.Helper()
	rep, err := importer.Import(h.t.Context(), h.store, []interop.Format{Format()}, []string{h.dir}, interop.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	return rep
}

func (h *home) session(id string) skein.Session {
	h.t.Helper()
	s, err := h.store.Session(h.t.Context(), skein.SessionID(id))
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// words returns what was said in a session, by whom.
func (h *home) words(id string) string {
	h.t.Helper()
	var evs []skein.Event
	for e, err := range h.store.Events(h.t.Context(), skein.SessionID(id), 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		h.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		if w := e.Message.Words(); w != "" && !e.Message.Synthetic {
			fmt.Fprintf(&b, "%s: %s\n", e.Message.Role, w)
		}
	}
	return b.String()
}

// paid returns all tokens of all sessions.
func (h *home) paid() (sum skein.Usage) {
	h.t.Helper()
	for s, err := range h.store.Sessions(h.t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		sum = sum.Plus(s.Usage)
	}
	return sum
}

func (h *home) exact(path, want string) {
	h.t.Helper()
	var b bytes.Buffer
	if err := writeback.WriteSource(h.t.Context(), h.store, Name, path, &b); err != nil {
		h.t.Fatal(err)
	}
	if b.String() != want {
		h.t.Errorf("WriteSource(%s) gives %d bytes, want the %d that were read", path, b.Len(), len(want))
	}
}

func text(t *testing.T, name string) string { return strings.Join(testLines(t, name), "\n") + "\n" }

func TestAForkPointsToItsParentAndPaysOnlyItsOwn(t *testing.T) {
	for _, order := range []string{"parent first", "fork first", "one import each"} {
		for _, file := range []string{wrappedFile, newestFile} {
			t.Run(order+" "+file[8:12], func(t *testing.T) {
				checkFork(t, file, order)
			})
		}
	}
}

func checkFork(t *testing.T, file, order string) {
	h := newHome(t)
	lines, id := testLines(t, file), idOfName(file)
	name, fork := forkOf(forkID, id, `"cli"`, lines[:20], ownPrompt, count(tok(70, 0, 7, 0), tok(9000, 0, 900, 0)))
	parent := strings.Join(lines, "\n") + "\n" + response(`{"type":"message","role":"assistant","content":"later"}`) + "\n"
	var path string
	switch order {
	case "parent first":
		h.put(file, parent)
		path = h.put(name, fork)
	case "fork first":
		path = h.put(name, fork)
		h.put(file, parent)
	default:
		h.put(file, parent)
		h.load()
		path = h.put(name, fork)
	}
	h.load()
	alone := newHome(t)
	alone.put(file, parent)
	alone.load()
	f := h.session(forkID)
	if f.Parent == nil || f.Parent.Why != skein.Fork || f.Parent.Session != skein.SessionID(id) {
		t.Fatalf("fork has the parent %+v, want a fork of %s", f.Parent, id)
	}
	want := skein.Usage{Input: 70, Output: 7, Requests: 1}
	if f.Usage != want {
		t.Errorf("fork used %+v, want %+v", f.Usage, want)
	}
	if got, want := h.paid(), alone.paid().Plus(want); got != want {
		t.Errorf("all used %+v, want %+v", got, want)
	}
	if got, want := h.words(id), alone.words(id); got != want {
		t.Errorf("parent says\n%s\nwant\n%s", got, want)
	}
	if got := h.words(forkID); !strings.HasSuffix(got, "user: something else\n") || strings.Contains(got, "later") {
		t.Errorf("fork says\n%s\nwant the parent's beginning and then: something else", got)
	}
	h.exact(path, fork)
	if rep := h.load(); rep.Events != 0 {
		t.Errorf("a second import adds %d events, want 0", rep.Events)
	}
}

func TestASubAgentHangsOnTheCallThatStartedIt(t *testing.T) {
	h := newHome(t)
	for _, file := range testFiles(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h.put(filepath.Base(file), string(b))
	}
	h.load()
	s := h.session("019de000-4444-7ddd-8ddd-00000000e004")
	want := skein.Parent{Session: skein.SessionID(idOfName(newestFile)), Why: skein.Child, Call: "call_n7"}
	if s.Parent == nil || s.Parent.Session != want.Session || s.Parent.Why != want.Why || s.Parent.Call != want.Call || s.Parent.Seq == 0 {
		t.Errorf("sub-agent has the parent %+v, want %+v and the seq of the call", s.Parent, want)
	}
	if got := h.session(idOfName(wrappedFile)); got.Title != "Column names" {
		t.Errorf("title from the index is %q, want Column names", got.Title)
	}
	if got := h.session(idOfName(newestFile)); got.Title != "Grey dot" || got.Cwd != "/home/ada/orchard/art" || got.Model != "gpt-5.4-mini" {
		t.Errorf("newest session is %+v, want the title Grey dot, the last directory and model", got)
	}
}

func TestAnImportInPiecesEqualsOneAtOnce(t *testing.T) {
	lines := testLines(t, newestFile)
	once, pieces := newHome(t), newHome(t)
	whole := strings.Join(lines, "\n")
	path := once.put(newestFile, whole)
	once.load()
	once.exact(path, whole)
	for i := range lines {
		part := strings.Join(lines[:i+1], "\n")
		pieces.put(newestFile, part[:len(part)-len(lines[i])/2])
		pieces.load()
	}
	path = pieces.put(newestFile, whole)
	pieces.load()
	pieces.exact(path, whole)
	id := idOfName(newestFile)
	if a, b := events(t, once, id), events(t, pieces, id); a != b {
		t.Errorf("in pieces:\n%s\nat once:\n%s", b, a)
	}
}

func events(t *testing.T, h *home, id string) string {
	t.Helper()
	var b strings.Builder
	for e, err := range h.store.Events(t.Context(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != skein.KindCreated {
			fmt.Fprintf(&b, "%d %s %s %s\n", e.Seq, e.Kind, e.ClientID, e.Payload)
		}
	}
	return b.String()
}

func TestAFileThatIsMovedOrCompressedIsTheSameSession(t *testing.T) {
	h := newHome(t)
	all, id := text(t, wrappedFile), idOfName(wrappedFile)
	path := h.put("sessions/2025/09/10/"+wrappedFile, all)
	h.load()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := h.put("sessions/2025/09/10/"+wrappedFile+".zst", string(enc.EncodeAll([]byte(all), nil)))
	if rep := h.load(); rep.Events != 0 || rep.Sessions != 0 {
		t.Errorf("import of the compressed file beside the plain one adds %d events, want 0", rep.Events)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if rep := h.load(); rep.Events != 0 {
		t.Errorf("import after the plain file is gone adds %d events, want 0", rep.Events)
	}
	h.exact(packed, all)
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	more := all + response(`{"type":"message","role":"user","content":"and now?"}`) + "\n"
	h.put("archived_sessions/"+wrappedFile, more)
	h.load()
	if got := h.words(id); !strings.HasSuffix(got, "user: and now?\n") || h.session(id).Parent != nil {
		t.Errorf("after a move and one more line the session says\n%s\nwith the parent %v, want the line, and none", got, h.session(id).Parent)
	}
}

func TestASubAgentWithItsParentsHistoryIsAForkThatTheCallNames(t *testing.T) {
	h := newHome(t)
	lines, id := testLines(t, newestFile), idOfName(newestFile)
	name, child := forkOf("019de000-4444-7ddd-8ddd-00000000e004", id, `{"subagent":{"thread_spawn":{"parent_thread_id":"`+id+`","depth":1}}}`, lines[:56], ownPrompt)
	h.put(name, child)
	h.put(newestFile, strings.Join(lines, "\n"))
	h.load()
	s := h.session("019de000-4444-7ddd-8ddd-00000000e004")
	if s.Parent == nil || s.Parent.Why != skein.Fork || s.Parent.Session != skein.SessionID(id) || s.Surface != "subagent" {
		t.Errorf("sub-agent is %q with the parent %+v, want subagent and a fork of %s", s.Surface, s.Parent, id)
	}
	if !strings.Contains(events(t, h, id), `"child":"019de000-4444-7ddd-8ddd-00000000e004"`) {
		t.Error("no tool event of the parent names the sub-agent")
	}
}

func TestEachDamagedLineIsCountedAndNamed(t *testing.T) {
	h := newHome(t)
	torn := `{"timestamp":"2026-04-28T09:40:00.000Z","type":"event_msg","payload":{"type":"task_comp`
	path := h.put(newestFile, text(t, newestFile)+torn)
	rep := h.load()
	h.exact(path, text(t, newestFile)+torn)
	var got []int
	for _, d := range rep.Damage {
		got = append(got, d.Line)
	}
	if want := []int{64, 67, 68, 70, 73}; !slices.Equal(got, want) || rep.Damaged != len(want) {
		t.Errorf("import names %d damaged lines, %v, want %v", rep.Damaged, rep.Damage, want)
	}
}
