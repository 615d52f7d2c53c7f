package sessionlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/store/inspect"
)

// examine returns the findings of an examination, one per line.
func (p *place) examine(repair bool) (found []string) {
	p.t.Helper()
	l := sessionlog.New(p.dir, p.store)
	for f, err := range l.Examine(p.t.Context(), inspect.Examination{Repair: repair}) {
		if err != nil {
			p.t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%s %s %s mendable=%v mended=%v", f.Level, f.Session, f.Text, f.Mendable, f.Mended))
	}
	return found
}

func TestExamineSaysHowALogDiffers(t *testing.T) {
	change := func(do func(whole string) string) func(p *place) {
		return func(p *place) {
			if err := os.WriteFile(p.file("s1"), []byte(do(p.read("s1"))), 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(p *place)
		want string
	}{
		"lost":    {func(p *place) { _ = os.Remove(p.file("s1")) }, "its log is missing"},
		"torn":    {change(func(s string) string { return s[:len(s)-9] }), "its log is 1 line behind"},
		"longer":  {change(func(s string) string { return s + "{}\n" }), "its log should end after line 16"},
		"changed": {change(func(s string) string { return strings.Replace(s, "I look", "I took", 1) }), "its log differs from the store from line 5 on"},
		"behind": {func(p *place) {
			p.add("s1", skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: "T", By: skein.ByPerson}))
		}, "its log is 1 line behind"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			events := thread()
			m, err := skein.Decode[skein.Message](events[3])
			if err != nil {
				t.Fatal(err)
			}
			m.Usage = &skein.Usage{Input: 10, Output: 1}
			events[3] = skein.Say(noon, m)
			p.add("s1", events...)
			if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			whole := []string{"ok  1 agree with the store mendable=false mended=false"}
			if got := p.examine(false); !slices.Equal(got, whole) {
				t.Fatalf("Examine of a whole log finds %q, want %q", got, whole)
			}
			c.do(p)
			want := "warning s1 " + c.want + " mendable=true mended=false"
			if got := p.examine(false); got[0] != want {
				t.Errorf("Examine finds %q, want %q", got, want)
			}
			if got := p.examine(true); !strings.HasSuffix(got[0], "mendable=false mended=true") {
				t.Errorf("Examine with Repair finds %q, want it mended", got)
			}
			if got := p.examine(false); !slices.Equal(got, whole) {
				t.Errorf("Examine after Repair finds %q, want %q", got, whole)
			}
			if got, want := p.read("s1"), p.whole("s1"); got != want {
				t.Errorf("Repair makes the log\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestExamineLeavesALogInUseToWhoUsesIt(t *testing.T) {
	p := newPlace(t)
	p.add("s1", thread()...)
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p.file("s1"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Acquire(t.Context(), "s1", skein.LeaseRequest{Program: "skein chat"}); err != nil {
		t.Fatal(err)
	}
	if got := p.examine(true); !strings.Contains(got[0], "the program that is working on the session") || len(p.read("s1")) != 10 {
		t.Errorf("Examine with Repair of a log in use finds %q and leaves %d bytes, want it untouched", got, len(p.read("s1")))
	}
}

// A deleted session's log is removed; that of another store's session stays.
func TestSweepRemovesTheLogsOfTheDead(t *testing.T) {
	p, other := newPlace(t), newPlace(t)
	other.dir = p.dir
	for id, at := range map[skein.SessionID]*place{"dead": p, "alive": p, "elsewhere": other} {
		at.add(id, thread()...)
		if err := sessionlog.New(p.dir, at.store).Mend(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.store.Delete(t.Context(), "dead", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"warning dead was deleted, but its log was not mendable=true mended=false",
		"warning elsewhere has a log, but is not in this store mendable=false mended=false",
		"ok  1 agree with the store mendable=false mended=false",
	}
	if got := p.examine(false); !slices.Equal(got, want) {
		t.Errorf("Examine finds %q, want %q", got, want)
	}
	if err := sessionlog.New(p.dir, p.store).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := p.names(), []string{"alive.jsonl", "elsewhere.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("after Sweep there are %q, want %q", got, want)
	}
	if err := sessionlog.Remove(p.dir, "john@example.com", "alive"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.names(), []string{"elsewhere.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("after Remove there are %q, want %q", got, want)
	}
}

// names returns the names of all logs.
func (p *place) names() []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.dir, "*", "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	return found
}

// Text that a scrub removed from the store is in no log after a repair.
func TestAScrubbedSessionsLogIsWrittenAnew(t *testing.T) {
	p := newPlace(t)
	l := sessionlog.New(p.dir, p.store)
	if err := l.Append(t.Context(), "s1", p.add("s1", thread()...)...); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Scrub(t.Context(), "s1", []string{"thanks"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), "s1", p.add("s1", skein.Say(noon, skein.UserSays("on")))...); err != nil {
		t.Fatal(err)
	}
	got := p.read("s1")
	if strings.Contains(got, "thanks") || strings.Count(got, `,"revision":1`) != strings.Count(got, "\n") {
		t.Errorf("after a scrub the log is\n%s\nwant no secret, and revision 1 in every line", got)
	}
}

func TestAClearedLogStaysEmpty(t *testing.T) {
	p := newPlace(t)
	l := sessionlog.New(p.dir, p.store)
	if err := l.Append(t.Context(), "s1", p.add("s1", thread()...)...); err != nil {
		t.Fatal(err)
	}
	p.add("s1", sessionlog.ClearedEvent(noon))
	if err := sessionlog.Empty(p.dir, "john@example.com", "s1"); err != nil {
		t.Fatal(err)
	}
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if got := p.read("s1"); got != "" {
		t.Errorf("a cleared log is mended to\n%s\nwant nothing", got)
	}
	if got := p.examine(false); len(got) != 1 {
		t.Errorf("Examine of a cleared log finds %q, want nothing wrong", got)
	}
}

func TestNamesAreSafeAndNeverShared(t *testing.T) {
	dir := t.TempDir()
	s := newPlace(t)
	s.dir = dir
	paths := map[string]string{}
	for i, u := range []skein.User{"local", "john@example.com", "john.example.com", "..", "con", "ÄÖ", "ann", "Ann"} {
		for _, id := range []skein.SessionID{"0199abcd-1", "01HXYZ", "01hxyz", "01HXYz", "a.b", "a:b", "aux", "...", "é"} {
			if i > 0 {
				id += skein.SessionID(fmt.Sprint("~", i))
			}
			s.add(id, skein.NewEvent(skein.KindCreated, noon, skein.Created{User: u}))
			if err := sessionlog.New(dir, s.store).Mend(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			path, err := sessionlog.Path(dir, u, id)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(dir, path)
			name := filepath.ToSlash(rel)
			if err != nil || strings.Count(name, "/") != 1 || strings.Trim(strings.TrimSuffix(name, ".jsonl"), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/") != "" {
				t.Errorf("Path(%q, %q) = %q, want two names of letters, digits, _ and -", u, id, name)
			}
			folded := strings.ToLower(name) // as on some file systems
			if runtime.GOOS == "linux" {
				folded = filepath.ToSlash(filepath.Dir(rel)) + "/" + strings.ToLower(filepath.Base(rel))
			}
			if other, taken := paths[folded]; taken {
				t.Errorf("Path(%q, %q) = %q, which is %s too", u, id, name, other)
			}
			paths[folded] = fmt.Sprintf("%q of %q", id, u)
		}
	}
	for path := range paths {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path)))
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", path, info.Mode())
		}
	}
}

// A fork that inherited its deleted parent's events and usage need not have run
// itself.
func TestExamineMissesNoLogOfAForkThatWasNotRun(t *testing.T) {
	p := newPlace(t)
	said := skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Usage: &skein.Usage{Input: 10, Output: 1}, Parts: []skein.Part{skein.TextPart("hello")}})
	p.add("parent", skein.NewEvent(skein.KindCreated, noon, skein.Created{}), skein.Say(noon, skein.UserSays("hi")), said)
	p.add("fork", skein.NewEvent(skein.KindCreated, noon, skein.Created{Program: "skein", Parent: &skein.Parent{Session: "parent", Seq: 3, Why: skein.Fork}}),
		skein.Say(noon, skein.UserSays("hi again")))
	if _, err := p.store.Delete(t.Context(), "parent", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if s, err := p.store.Session(t.Context(), "fork"); err != nil || s.Usage.Requests == 0 {
		t.Fatalf("Session(fork) = %+v, %v, want it to have the usage of what it shows", s.Usage, err)
	}
	if got := p.examine(false); len(got) != 0 {
		t.Errorf("Examine finds %q, want nothing", got)
	}
}
