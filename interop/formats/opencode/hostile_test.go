package opencode

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestDamagedPartsAreNamedAndTheOthersRead(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("one"), `{"type":"text","text":`, strings.Repeat("[", 100_000), `{"type":"text","text":"two","text":"three","TEXT":"four"}`,
		`{"type":"text","text":7,"time":{"start":1e999,"end":-5}}`, `{"type":"step-finish","cost":1e300,"tokens":{"input":-1,"output":1e40,"reasoning":"x","cache":[]}}`, `NaN`,
		`{"type":"tool","state":"x"}`, `{"type":["text"]}`, `{"type":"text","text":"\ud800"}`)
	p.run(`PRAGMA foreign_keys = OFF`)
	p.run(`INSERT INTO part VALUES ('prt_lost', 'msg_lost', ?, 1, 1, ?)`, ses, text("lost"))
	s := store(t)
	rep := p.bring(s)
	if rep.Damaged != 4 || rep.Sessions != 1 { // two that break off, NaN, and one without its message
		t.Errorf("Import = %+v, want 4 damaged records", rep)
	}
	got := shown(t, s, ses)
	for _, want := range []string{`user text "one"`, `user text "three"`, `user text "\xed\xa0\x80"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the session says\n%swant %s in it", got, want)
		}
	}
}

func TestIDsOfAnyShapeAreRead(t *testing.T) {
	for _, id := range []string{"../../etc/passwd", "a\x00b", "line\nbreak", strings.Repeat("x", 5000), "", "ses_#~%2F"} {
		p := newPlace(t)
		p.user(2000, text("one"))
		p.run(`PRAGMA foreign_keys = OFF`)
		p.run(`UPDATE session SET id = ?`, id)
		p.run(`UPDATE message SET session_id = ?`, id)
		p.run(`UPDATE part SET session_id = ?`, id)
		s := store(t)
		p.bring(s)
		ids := sessions(t, s)
		if id == "" { // of no session
			if len(ids) != 0 {
				t.Errorf("a session without ID gives %q", ids)
			}
			continue
		}
		if len(ids) != 1 || strings.ContainsAny(ids[0], "/\x00\n") && strings.Contains(ids[0], "..") {
			t.Errorf("ID %.20q gives the sessions %.50q, want one", id, ids)
		}
	}
}

func TestViewsAreNotTakenForTables(t *testing.T) {
	p := newPlace(t)
	p.user(2000, text("one"))
	p.run(`ALTER TABLE part RENAME TO hidden`)
	p.run(`CREATE VIEW part AS SELECT * FROM hidden`)
	s := store(t)
	if rep := p.bring(s); len(sessions(t, s)) != 0 || rep.Sessions != 0 {
		t.Errorf("Import = %+v, want no session", rep)
	}
}

func TestLinksOutOfTheFolderAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	p := newPlace(t)
	p.run(`DELETE FROM session`)
	o := old()
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(text("a secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	p.moveOut(o)
	for _, name := range []string{"part/msg_2000/prt_2000_1.json", "message/" + ses + "/msg_9000.json"} {
		if err := os.Symlink(secret, filepath.Join(p.dir, folderName, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := store(t)
	rep := p.bring(s)
	if got := shown(t, s, ses); strings.Contains(got, "secret") || !strings.Contains(got, "first") || rep.Skipped == 0 {
		t.Errorf("Import = %+v; the session says\n%s", rep, got)
	}
}

func TestItsPlacesAreThoseThatTheProgramUses(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "/home/ada/.local/share/opencode/opencode.db"},
		{map[string]string{"XDG_DATA_HOME": "/data"}, "/data/opencode/opencode.db"},
		{map[string]string{"XDG_DATA_HOME": "/data", "OPENCODE_DB": "opencode-x.db"}, "/data/opencode/opencode-x.db"},
	} {
		h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(name string) string { return c.env[name] }}
		if got := filepath.ToSlash(places(h)[0]); got != c.want {
			t.Errorf("places with %v begin with %s, want %s", c.env, got, c.want)
		}
		if got, want := filepath.ToSlash(interop.HomeOf(Format(), h)), strings.TrimSuffix(c.want, "/"+filepath.Base(c.want)); got != want {
			t.Errorf("HomeOf with %v = %s, want %s", c.env, got, want)
		}
	}
}
