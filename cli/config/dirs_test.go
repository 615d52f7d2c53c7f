package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFolders(t *testing.T) {
	for _, c := range []struct {
		os   string
		vars map[string]string
		want Dirs
	}{
		{"linux", map[string]string{"HOME": "/h"}, Dirs{"/h", "/h/.local/share/skein", "/h/.local/state/skein", "/h/.cache/skein", "/h/.config/skein"}},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "relative", "XDG_CONFIG_HOME": "/c"}, Dirs{"/h", "/d/skein", "/s/skein", "/h/.cache/skein", "/c/skein"}},
		{"darwin", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d"}, Dirs{"/h", "/h/Library/Application Support/skein", "/h/Library/Application Support/skein", "/h/Library/Caches/skein", "/h/Library/Application Support/skein"}},
		{"windows", map[string]string{"USERPROFILE": "/h", "APPDATA": "/r", "LOCALAPPDATA": "/l"}, Dirs{"/h", "/r/skein", "/l/skein", "/l/skein/cache", "/r/skein"}},
		{"linux", map[string]string{"HOME": "/h", "SKEIN_HOME": "/one"}, Dirs{"/h", "/one", "/one/state", "/one/cache", "/one/config"}},
	} {
		for name, v := range c.vars {
			c.vars[name] = native(v)
		}
		got, err := FindDirs(&Env{OS: c.os, Getenv: func(name string) string { return c.vars[name] }})
		want := Dirs{native(c.want.Home), native(c.want.Data), native(c.want.State), native(c.want.Cache), native(c.want.Config)}
		if err != nil || got != want {
			t.Errorf("findDirs(%s, %v) = %+v, %v; want %+v", c.os, c.vars, got, err, want)
		}
	}
	if _, err := FindDirs(&Env{OS: "linux", Getenv: func(string) string { return "" }}); err == nil {
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
		got, err := ParsePlace(text, native("/b"), native("/h"))
		if (err == nil) != (want != "") || err == nil && got.Path != filepath.Clean(native(want)) {
			t.Errorf("parsePlace(%q) = %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestAddressesOfAStoreStayAsTheyAre(t *testing.T) {
	for text, scheme := range map[string]string{"postgres://x/y": "postgres", "postgresql://a,b/y?z=1": "postgres", "host=x password='a b' dbname=y": "postgres", "service=team": "postgres", "https://h:7433": "https"} {
		if got, err := ParsePlace(text, "/b", "/h"); err != nil || got.Scheme != scheme || got.Path != text {
			t.Errorf("parsePlace(%q) = %+v, %v; want it as it is, scheme %s", text, got, err, scheme)
		}
	}
}

func TestAnAddressIsShownWithoutItsSecret(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://ann:a/b@c@h/y?sslpassword=s&z=1": "postgres://ann:***@h/y?sslpassword=***&z=1",
		"https://h:7433#skein_secret":                "https://h:7433#***",
		"https://h:7433#a&secret":                    "https://h:7433#***",
		"https://h:7433/?token=secret&z=1#secret":    "https://h:7433/?token=***&z=1#***",
	} {
		p, err := ParsePlace(text, "/b", "/h")
		if got := p.String(); err != nil || got != want {
			t.Errorf("the address %s is shown as %s, %v; want %s", text, got, err, want)
		}
	}
}
