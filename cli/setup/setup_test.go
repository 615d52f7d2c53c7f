package setup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testMachine(t *testing.T, bin string) computer {
	t.Helper()
	home := t.TempDir()
	return computer{OS: "linux", Home: home, Env: func(string) string { return "" }, Bin: bin, Config: filepath.Join(home, ".config")}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func doAll(t *testing.T, m computer, j *journal) {
	t.Helper()
	for _, a := range programs() {
		for _, c := range a.changes(m) {
			if err := j.do(c, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// After the program moved, setup enters its new place, and undo still gives back
// the files as they were before the first setup.
func TestAMovedProgramIsEnteredAgain(t *testing.T) {
	m := testMachine(t, "/old/skein")
	const before = "{\n  \"mcpServers\": {\"other\": {}} // mine\n}\n"
	file := filepath.Join(m.Home, ".claude.json")
	writeFile(t, file, before)
	j := &journal{path: filepath.Join(m.Home, "state", "setup.json")}
	doAll(t, m, j)
	count := len(j.All)
	m.Bin = "/new/skein"
	doAll(t, m, j)
	if got := readFile(t, file); strings.Contains(got, "/old") || !strings.Contains(got, "/new/skein") {
		t.Errorf("after the program moved, %s has\n%s", file, got)
	}
	if len(j.All) != count {
		t.Errorf("the journal has %d changes, want %d", len(j.All), count)
	}
	again, err := readJournal(j.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range slices.Backward(again.All) { // as setup --undo does
		if err := d.undo(); err != nil {
			t.Errorf("undo of %s: %v", d.Path, err)
		}
	}
	if got := readFile(t, file); got != before {
		t.Errorf("after undo, %s has\n%s", file, got)
	}
	entries, err := os.ReadDir(m.Home)
	if err != nil || len(entries) != 2 { // .claude.json, state
		t.Errorf("after undo, the home folder has %v (%v)", entries, err)
	}
}

// People keep such files elsewhere, and only link to them.
func TestALinkedFileStaysALink(t *testing.T) {
	m := testMachine(t, "/skein")
	real, link := filepath.Join(m.Home, "dotfiles", "gemini.json"), filepath.Join(m.Home, ".gemini", "settings.json")
	writeFile(t, real, "{}")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	j := &journal{path: filepath.Join(m.Home, "setup.json")}
	doAll(t, m, j)
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", st, err)
	}
	if got := readFile(t, real); !strings.Contains(got, "/skein") {
		t.Errorf("the file behind the link has %s", got)
	}
	for _, d := range j.All {
		if err := d.undo(); err != nil {
			t.Error(err)
		}
	}
	if got := readFile(t, real); got != "{}" {
		t.Errorf("after undo, the file behind the link has %s", got)
	}
}

// A file that is written and not yet in the journal could never be undone.
func TestTheJournalKnowsAChangeBeforeItIsMade(t *testing.T) {
	m := testMachine(t, "/skein")
	writeFile(t, filepath.Join(m.Home, "state"), "a file where the folder should be")
	j := &journal{path: filepath.Join(m.Home, "state", "setup.json")}
	c := m.skill(filepath.Join(m.Home, ".codex"))
	if err := j.do(c, time.Unix(1, 0)); err == nil {
		t.Error("a change without a journal was made")
	}
	if _, err := os.Lstat(c.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v, want that it was not written", c.Path, err)
	}
}

func TestEachSystemKeepsTheWatcherRunning(t *testing.T) {
	ok := func(context.Context, string, ...string) (string, error) { return "", nil }
	for system, want := range map[string][]string{
		"linux":   {`ExecStart="/my apps/skein" "import" "--watch" "--store" "/a/100%%.db"`, "Restart=always", "CPUQuota=50%", "Nice=19"},
		"darwin":  {"<string>/my apps/skein</string>", "<string>--watch</string>", "<key>KeepAlive</key>", "<string>Background</string>"},
		"windows": {`"/my apps/skein" "import" "--watch" "--store" "/a/100%.db"`, "ONLOGON"},
	} {
		m := testMachine(t, "/my apps/skein")
		m.OS, m.Flags = system, []string{"--store", "/a/100%.db"}
		s, err := watcher(t.Context(), m, ok)
		if err != nil {
			t.Errorf("%s: %v", system, err)
			continue
		}
		text := s.Text
		for _, c := range s.start {
			text += "\n" + strings.Join(c, " ")
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: the service lacks %s:\n%s", system, w, text)
			}
		}
		if len(s.stop) == 0 || len(s.look) == 0 {
			t.Errorf("%s: the service cannot be stopped, or looked at", system)
		}
	}
	m := testMachine(t, "/skein")
	no := func(context.Context, string, ...string) (string, error) { return "", errors.New("no bus") }
	if _, err := watcher(t.Context(), m, no); !errors.Is(err, errNoService) {
		t.Errorf("without a user's systemd: %v, want %v", err, errNoService)
	}
	m.OS = "plan9"
	if _, err := watcher(t.Context(), m, ok); !errors.Is(err, errNoService) {
		t.Errorf("on another system: %v, want %v", err, errNoService)
	}
}

// What an agent's own tool wrote around our entry is not touched when it goes.
func TestUndoLeavesWhatTheAgentWrote(t *testing.T) {
	m := testMachine(t, "/skein")
	file := filepath.Join(m.Home, ".claude.json")
	writeFile(t, file, "{}")
	j := &journal{path: filepath.Join(m.Home, "setup.json")}
	doAll(t, m, j)
	now := bytes.Replace([]byte(readFile(t, file)), []byte("{"), []byte("{\"numStartups\": 7,"), 1)
	writeFile(t, file, string(now))
	for _, d := range j.All {
		if err := d.undo(); err != nil {
			t.Error(err)
		}
	}
	if got := readFile(t, file); got != `{"numStartups": 7}` {
		t.Errorf("after undo, the file has %s", got)
	}
}
