package opencode

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// old is the folder that the program had before, with two messages.
func old() map[string]string {
	return map[string]string{
		"migration":                         "2",
		"project/global.json":               `{"id":"global","worktree":"/","time":{"created":1}}`,
		"session/global/" + ses + ".json":   `{"id":"` + ses + `","projectID":"global","directory":"/home/ada/fig","title":"Figs","version":"1.1.20","time":{"created":1000,"updated":3000}}`,
		"message/" + ses + "/msg_2000.json": strings.Replace(fmt.Sprintf(asked, 2000), "{", `{"id":"msg_2000","sessionID":"`+ses+`",`, 1),
		"message/" + ses + "/msg_3000.json": strings.Replace(fmt.Sprintf(said, 3000, 3005, `,"finish":"stop"`), "{", `{"id":"msg_3000","sessionID":"`+ses+`",`, 1),
		"part/msg_2000/prt_2000_0.json":     text("one"),
		"part/msg_3000/prt_3000_0.json":     text("first"),
		"todo/" + ses + ".json":             `[{"content":"eat","status":"pending","priority":"low","id":"1"}]`,
	}
}

// both has the messages of old, as the database has them, and one more.
func (p *place) both() {
	p.user(2000, text("one"))
	p.model(3000, `,"finish":"stop"`, text("first"))
	p.user(4000, text("two"))
}

const said3 = "user text \"one\"\nassistant text \"first\"\nuser text \"two\"\n"

func TestASessionThatTheDatabaseHasIsNotReadFromTheFolderToo(t *testing.T) {
	p := newPlace(t)
	p.moveOut(old())
	p.both()
	s := store(t)
	rep := p.bring(s)
	if diff := cmp.Diff([]string{ses}, sessions(t, s)); diff != "" || rep.Damaged+rep.Skipped != 0 {
		t.Errorf("Import of both = %+v; sessions (-want +got):\n%s", rep, diff)
	}
	if got := shown(t, s, ses); got != said3 {
		t.Errorf("the session says\n%swant\n%s", got, said3)
	}
	sess, err := s.Session(t.Context(), ses)
	if err != nil || !strings.Contains(sess.Origin.Path, fileName) {
		t.Errorf("Session() = %+v, %v, want the database for its origin", sess.Origin, err)
	}
}

func TestASessionGoesOnInTheDatabaseThatItWasPutInto(t *testing.T) {
	p := newPlace(t)
	p.moveOut(old())
	s := store(t)
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{filepath.Join(p.dir, folderName)}, interop.Options{})
	if err != nil || rep.Sessions != 0 {
		t.Fatalf("Import of the folder, whose session the database has too = %+v, %v, want none", rep, err)
	}
	p.run(`DELETE FROM session`)
	touchAll(t, p.dir)
	p.bring(s)
	if got, want := shown(t, s, ses), "user text \"one\"\nassistant text \"first\"\n"; got != want {
		t.Fatalf("read from the folder the session says\n%swant\n%s", got, want)
	}
	p.run(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (?, 'global', '', '/home/ada/fig', 'Figs', '1.1.20', 1000, 3000)`, ses)
	p.both()
	for range 2 {
		p.bring(s)
		if diff := cmp.Diff([]string{ses}, sessions(t, s)); diff != "" {
			t.Errorf("sessions after the database was read (-want +got):\n%s", diff)
		}
		if got := shown(t, s, ses); got != said3 {
			t.Errorf("the session says\n%swant\n%s", got, said3)
		}
	}
	p.user(5000, text("three"))
	touchAll(t, p.dir)
	p.bring(s)
	if got, want := shown(t, s, ses), said3+"user text \"three\"\n"; got != want || len(sessions(t, s)) != 1 {
		t.Errorf("the session says\n%swant\n%s", got, want)
	}
}

// The first versions had a folder for each project, with everything in session/.
func TestTheFolderOfOneProjectIsRead(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir}
	o := old()
	first := map[string]string{"../project/home-ada-fig/storage/session/info/" + ses + ".json": o["session/global/"+ses+".json"]}
	for name, data := range o {
		if rest, ok := strings.CutPrefix(name, "message/"); ok {
			first["../project/home-ada-fig/storage/session/message/"+rest] = data
		} else if rest, ok := strings.CutPrefix(name, "part/"); ok {
			first["../project/home-ada-fig/storage/session/part/"+ses+"/"+rest] = data
		}
	}
	p.moveOut(first)
	s := store(t)
	if rep := p.bring(s); rep.Sessions != 1 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want a session", rep)
	}
	if got, want := shown(t, s, ses), "user text \"one\"\nassistant text \"first\"\n"; got != want {
		t.Errorf("the session says\n%swant\n%s", got, want)
	}
	p.moveOut(o) // what the program made from it
	s2 := memory.New()
	defer s2.Close()
	p.bring(s2)
	if diff := cmp.Diff([]string{ses}, sessions(t, s2)); diff != "" {
		t.Errorf("sessions of both folders (-want +got):\n%s", diff)
	}
}

// A session belongs to the folder of its project, which is said in one way or another.
func TestASessionBelongsToTheFolderOfItsProject(t *testing.T) {
	wants := func(how string, s skein.Store, project, cwd string) {
		t.Helper()
		if got, err := s.Session(t.Context(), ses); err != nil || got.Project != project || got.Cwd != cwd {
			t.Errorf("%s: project %q, folder %q, %v; want %q, %q", how, got.Project, got.Cwd, err, project, cwd)
		}
	}
	for _, c := range []struct{ worktree, directory, project string }{
		{"/home/ada/fig", "/home/ada/fig/leaf", "/home/ada/fig"},
		{"/home/ada/fig", "/home/ada/figs", "/home/ada/figs"}, // another worktree
		{"/", "/home/ada/fig", "/home/ada/fig"},               // no repository
	} {
		p := newPlace(t)
		p.run(`DELETE FROM session`)
		files := old()
		files["project/abc.json"] = `{"id":"abc","worktree":"` + c.worktree + `","time":{"created":1}}`
		files["session/abc/"+ses+".json"] = `{"id":"` + ses + `","projectID":"abc","directory":"` + c.directory + `","title":"Figs","time":{"created":1000,"updated":3000}}`
		delete(files, "session/global/"+ses+".json")
		p.moveOut(files)
		s := store(t)
		p.bring(s)
		wants("folder, worktree "+c.worktree, s, c.project, c.directory)
	}
	for _, c := range []struct{ path, directory, project string }{
		{"leaf", "/home/ada/fig/leaf", "/home/ada/fig"},
		{"", "/home/ada/fig", "/home/ada/fig"},
		{"home/ada/fig", "/home/ada/fig", "/home/ada/fig"},
	} {
		p := newPlace(t)
		p.run(`UPDATE session SET directory = ?, path = ?`, c.directory, c.path)
		p.both()
		s := store(t)
		p.bring(s)
		wants("database, path "+c.path, s, c.project, c.directory)
	}

	p := &place{t: t, dir: t.TempDir()} // of the first versions, whose sessions do not say it
	files := map[string]string{"../project/home-ada-fig/storage/session/info/" + ses + ".json": `{"id":"` + ses + `","title":"Figs","time":{"created":1000,"updated":3000}}`}
	for name, data := range old() {
		if rest, ok := strings.CutPrefix(name, "message/"); ok {
			files["../project/home-ada-fig/storage/session/message/"+rest] = strings.Replace(data, `"cwd":"/home/ada/fig"`, `"cwd":"/home/ada/fig/leaf"`, 1)
		}
	}
	p.moveOut(files)
	s := store(t)
	p.bring(s)
	wants("first versions", s, "/home/ada/fig", "/home/ada/fig/leaf")
}
