package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

func TestFolders(t *testing.T) {
	for _, c := range []struct {
		os   string
		vars map[string]string
		want dirs
	}{
		{"linux", map[string]string{"HOME": "/h"}, dirs{"/h", "/h/.local/share/skein", "/h/.local/state/skein", "/h/.cache/skein", "/h/.config/skein"}},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "relative", "XDG_CONFIG_HOME": "/c"}, dirs{"/h", "/d/skein", "/s/skein", "/h/.cache/skein", "/c/skein"}},
		{"darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d"}, dirs{"/h", "/h/Library/Application Support/skein", "/h/Library/Application Support/skein", "/h/Library/Caches/skein", "/h/Library/Application Support/skein"}},
		{"windows", map[string]string{"USERPROFILE": "/h", "APPDATA": "/r", "LOCALAPPDATA": "/l"}, dirs{"/h", "/r/skein", "/l/skein", "/l/skein/cache", "/r/skein"}},
		{"linux", map[string]string{"HOME": "/h", "SKEIN_HOME": "/one"}, dirs{"/h", "/one", "/one/state", "/one/cache", "/one/config"}},
	} {
		for name, v := range c.vars {
			c.vars[name] = native(v)
		}
		got, err := findDirs(&Env{OS: c.os, Getenv: func(name string) string { return c.vars[name] }})
		want := dirs{native(c.want.Home), native(c.want.Data), native(c.want.State), native(c.want.Cache), native(c.want.Config)}
		if err != nil || got != want {
			t.Errorf("findDirs(%s, %v) = %+v, %v; want %+v", c.os, c.vars, got, err, want)
		}
	}
	if _, err := findDirs(&Env{OS: "linux", Getenv: func(string) string { return "" }}); err == nil {
		t.Error("findDirs without HOME: no error")
	}
}

// native returns an absolute path in this system's form.
func native(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

func TestPlacesOfAStore(t *testing.T) {
	for text, want := range map[string]string{
		"a.db": "/b/a.db", "/x/a.db": "/x/a.db", "sqlite:a.db": "/b/a.db", "sqlite:///x/a.db": "/x/a.db", "~/a.db": "/h/a.db",
		"./host=x": "/b/host=x", "sqlite:host=x": "/b/host=x", "a=b.db": "/b/a=b.db",
		"postgres:x": "", "https:x": "", "nonsense:x": "", "sqlite:": "", "": "",
	} {
		got, err := parsePlace(text, native("/b"), native("/h"))
		if (err == nil) != (want != "") || err == nil && got.Path != filepath.Clean(native(want)) {
			t.Errorf("parsePlace(%q) = %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestAddressesOfAStoreStayAsTheyAre(t *testing.T) {
	for text, scheme := range map[string]string{"postgres://x/y": "postgres", "postgresql://a,b/y?z=1": "postgres", "host=x password='a b' dbname=y": "postgres", "service=team": "postgres", "https://h:7433": "https"} {
		if got, err := parsePlace(text, "/b", "/h"); err != nil || got.Scheme != scheme || got.Path != text {
			t.Errorf("parsePlace(%q) = %+v, %v; want it as it is, scheme %s", text, got, err, scheme)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", -30 * time.Second: "just now", time.Minute: "1m ago", 90 * time.Minute: "1h ago",
		25 * time.Hour: "1d ago", 8 * 24 * time.Hour: "Nov 13", 365 * 24 * time.Hour: "2025-11-21", -time.Hour: "2026-11-21",
	} {
		if got := ago(skein.At(now.Add(-before)), now); got != want {
			t.Errorf("ago(%v before) = %q, want %q", before, got, want)
		}
	}
	if got := ago(0, now); got != "" {
		t.Errorf("ago of an unknown time = %q, want nothing", got)
	}
}

func TestATableFitsItsTerminal(t *testing.T) {
	tab := table{
		columns: []column{{title: "ID", rank: 1}, {title: "TITLE", min: 8}, {title: "N", rank: 2, right: true}, {title: "PATH", rank: 3, min: 6, left: true}},
		rows:    [][]string{{"abcd", "a title of some length", "7", "/a/path/to/see"}, {"efgh", "東京のタイトル", "12", "/b"}},
	}
	for width, want := range map[int]string{
		0:  "ID    TITLE                    N  PATH\nabcd  a title of some length   7  /a/path/to/see\nefgh  東京のタイトル          12  /b\n",
		30: "ID    TITLE          N  PATH\nabcd  a title of …   7  …o/see\nefgh  東京のタイ…   12  /b\n",
		18: "ID    TITLE      N\nabcd  a title…   7\nefgh  東京の…   12\n",
		9:  "TITLE\na title …\n東京のタ…\n",
	} {
		var b strings.Builder
		if err := tab.write(&b, tab.fit(tab.natural(), width), nil); err != nil || b.String() != want {
			t.Errorf("in %d columns:\n%swant\n%s(%v)", width, b.String(), want, err)
		}
	}
}

func TestAWordWithAHyphenIsNoFlag(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"search a -b --each -h", "search a ~b --each -h"},
		{"tag x -y", "tag x ~y"},
		{"--store s search -x", "--store s search ~x"},
		{"search -- -x", "search -- -x"},
		{"list -a", "list -a"},
		{"show search -x", "show search -x"},
		{"search --limit -1 -x", "search --limit -1 ~x"},
		{"search --tool -x --each -y --store -z", "search --tool -x --each ~y --store -z"},
	} {
		f := &frame{env: &Env{}}
		got := strings.ReplaceAll(strings.Join(protect(newRoot(f), strings.Fields(c.in)), " "), minus, "~")
		if got != c.want {
			t.Errorf("protect(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestWhatIsCalledAlmostSo(t *testing.T) {
	ss := []skein.Session{{ID: "4f1d22a0", Title: "Fix the flaky test"}, {ID: "99999999", Title: "Dark mode"}}
	for name, want := range map[string][]skein.SessionID{"4f1d22b0": {"4f1d22a0"}, "flaky tests": {"4f1d22a0"}, "drak mode": {"99999999"}, "nowhere": nil} {
		var got []skein.SessionID
		for _, s := range nearest(name, ss) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("nearest(%q) = %v, want %v", name, got, want)
		}
	}
}
