package entire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/entire"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// chatter is the format of an agent: each line has what a person says.
func chatter() interop.Format {
	return interop.Format{
		Name:   "chatter",
		Places: func(interop.Home) []string { return nil },
		Match: func(_ string, head []byte) interop.Guess {
			if strings.HasPrefix(string(head), `{"say":`) {
				return interop.KnownBy("it says something")
			}
			return interop.Guess{}
		},
		Open: func(f interop.File) interop.Reader {
			return &chat{id: strings.TrimSuffix(filepath.Base(f.Path), ".jsonl")}
		},
	}
}

type chat struct {
	id    string
	lines int
}

// Read implements [interop.Reader]; the error says that the line is not JSON.
func (c *chat) Read(l interop.Line) (m interop.Made, err error) {
	var in struct{ Say string }
	if err := json.Unmarshal(l.Body, &in); err != nil {
		return m, err
	}
	if l.N != c.lines {
		return m, fmt.Errorf("line %d is given as %d", c.lines, l.N)
	}
	if c.lines++; l.N == 0 {
		m.Begin = []interop.Begin{{ID: skein.SessionID(c.id)}}
	}
	m.Key = skein.ClientID(fmt.Sprint(c.id, "-", l.N))
	m.Items = []interop.Item{{Event: skein.Say(skein.Time(1000*(l.N+1)), skein.UserSays(in.Say))}}
	return m, nil
}

// A clone is a repository of Git, and a store that its checkpoints are imported into.
type clone struct {
	*testing.T
	dir   string
	store skein.Store
}

func newClone(t *testing.T) *clone {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{t, dir, s}
	c.git("init", "-q", "-b", "main")
	return c
}

func (c *clone) git(args ...string) string {
	c.Helper()
	cmd := exec.Command("git", append([]string{"-C", c.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgSign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit of files alone, which a reference names afterward.
func (c *clone) commit(ref string, files map[string]string) {
	c.Helper()
	tree := filepath.Join(c.TempDir(), "tree")
	for name, text := range files {
		at := filepath.Join(tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			c.Fatal(err)
		}
	}
	c.git("read-tree", "--empty")
	c.git("--work-tree="+tree, "add", "--all", "--force")
	c.git("update-ref", ref, c.git("commit-tree", "-m", "Checkpoint", c.git("write-tree")))
}

// imported imports the repository, and returns the report.
func (c *clone) imported() interop.Report {
	c.Helper()
	agents := []interop.Format{chatter()}
	rep, err := importer.Import(c.Context(), c.store, append(agents, entire.Format(agents)), []string{c.dir}, interop.Options{})
	if err != nil {
		c.Fatalf("Import = %v", err)
	}
	return rep
}

// says returns what a session says, and the notes about checkpoints in it.
func (c *clone) says(id skein.SessionID) (all []string) {
	c.Helper()
	for e, err := range c.store.Events(c.Context(), id, 0) {
		if err != nil {
			c.Fatalf("Events(%s) = %v", id, err)
		}
		switch e.Kind {
		case skein.KindSaid:
			var m skein.Message
			if err := json.Unmarshal(e.Payload, &m); err != nil {
				c.Fatal(err)
			}
			all = append(all, string(m.Parts[0].Text))
		case skein.KindNoted:
			var n skein.Noted
			if err := json.Unmarshal(e.Payload, &n); err != nil {
				c.Fatal(err)
			}
			all = append(all, n.Name+" "+string(n.Data))
		}
	}
	return all
}

const (
	branch = "refs/heads/entire/checkpoints/v1"
	one    = `{"checkpoint_id":"aa0000000001","session_id":"s1","agent":"Chatter","created_at":"2026-11-01T10:00:00Z","initial_attribution":{"agent_lines":3,"human_added":1}}`
	two    = `{"checkpoint_id":"bb0000000002","session_id":"s1","agent":"Chatter","created_at":"2026-11-02T10:00:00Z"}`
)

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the session differs (-want +got):\n%s", diff)
	}
}

func TestASessionIsItsLongestTranscriptWithItsCheckpoints(t *testing.T) {
	c := newClone(t)
	c.commit(branch, map[string]string{
		"aa/0000000001/metadata.json":   `{"checkpoint_id":"aa0000000001"}`,
		"aa/0000000001/0/metadata.json": one,
		"aa/0000000001/0/full.jsonl":    `{"say":"first"}` + "\n",
		"bb/0000000002/metadata.json":   `{"checkpoint_id":"bb0000000002"}`,
		"bb/0000000002/0/metadata.json": two,
		"bb/0000000002/0/full.jsonl":    `{"say":"first"}` + "\n" + `{"say":"second"}`,
		"bb/0000000002/1/metadata.json": `{"checkpoint_id":"bb0000000002","session_id":"s2"}`,
		"bb/0000000002/1/full.jsonl":    `{"say":"other"}` + "\n",
	})
	if rep := c.imported(); rep.Sessions != 2 || len(rep.Skips) > 0 {
		t.Errorf("Import reports %d sessions and skips %v, want 2 and none", rep.Sessions, rep.Skips)
	}
	same(t, c.says("s1"), "first", "second", "entire:checkpoint "+one, "entire:checkpoint "+two)
	same(t, c.says("s2"), "other", `entire:checkpoint {"checkpoint_id":"bb0000000002","session_id":"s2"}`)
	if rep := c.imported(); rep.Events != 0 {
		t.Errorf("a second import adds %d events, want none", rep.Events)
	}
}

func TestACheckpointThatComesLaterContinuesTheSession(t *testing.T) {
	c := newClone(t)
	files := map[string]string{"aa/0000000001/0/metadata.json": one, "aa/0000000001/0/full.jsonl": `{"say":"first"}` + "\n"}
	c.commit(branch, files)
	c.imported()
	files["bb/0000000002/0/metadata.json"], files["bb/0000000002/0/full.jsonl"] = two, `{"say":"first"}`+"\n"+`{"say":"second"}`+"\n"
	c.commit(branch, files)
	c.imported()
	all := c.says("s1")
	slices.Sort(all)
	same(t, all, "entire:checkpoint "+one, "entire:checkpoint "+two, "first", "second")
	n := 0
	for _, err := range c.store.Sessions(t.Context(), skein.Filter{}) {
		if n++; err != nil {
			t.Fatalf("Sessions = %v", err)
		}
	}
	if n != 1 {
		t.Errorf("the store has %d sessions, want 1", n)
	}
}

func TestCheckpointsAreFoundWhereverTheyAre(t *testing.T) {
	folder := map[string]string{"aa/0000000001/0/metadata.json": one, "aa/0000000001/0/full.jsonl": `{"say":"first"}` + "\n"}
	for name, at := range map[string]struct {
		ref   string
		files map[string]string
	}{
		"on a remote's branch":        {"refs/remotes/origin/entire/checkpoints/v1", folder},
		"under a reference of theirs": {"refs/entire/checkpoints/HZ/01KVBJCWYA4YW6J5M9GP655HHZ", map[string]string{"0/metadata.json": one, "0/full.jsonl": `{"say":"first"}`}},
		"as they were first":          {branch, map[string]string{"aa/0000000001/metadata.json": one, "aa/0000000001/full.jsonl": `{"say":"first"}`}},
		"in pieces":                   {branch, map[string]string{"aa/0000000001/0/metadata.json": one, "aa/0000000001/0/full.jsonl": "", "aa/0000000001/0/full.jsonl.001": `{"say":"first"}`}},
	} {
		for _, packed := range []string{"", "packed "} {
			t.Run(packed+name, func(t *testing.T) {
				c := newClone(t)
				c.git("config", "core.logAllRefUpdates", "always")
				c.commit(at.ref, at.files)
				if packed != "" {
					c.git("pack-refs", "--all")
				}
				if rep := c.imported(); rep.Sessions != 1 || len(rep.Skips) > 0 {
					t.Errorf("Import reports %d sessions and skips %v, want 1 and none", rep.Sessions, rep.Skips)
				}
				same(t, c.says("s1"), "first", "entire:checkpoint "+one)
			})
		}
	}
}

func TestATranscriptThatNoFormatKnowsIsNamed(t *testing.T) {
	c := newClone(t)
	c.commit(branch, map[string]string{
		"aa/0000000001/0/metadata.json": one, "aa/0000000001/0/full.jsonl": `{"strange":1}` + "\n",
		"bb/0000000002/0/metadata.json": `{"checkpoint_id":"bb0000000002","session_id":"../../x"}`, "bb/0000000002/0/full.jsonl": `{"say":"first"}` + "\n",
		"cc/0000000003/0/metadata.json": `[`, "cc/0000000003/0/full.jsonl": `{"say":"first"}` + "\n",
	})
	rep := c.imported()
	var why []string
	for _, s := range rep.Skips {
		why = append(why, s.Why)
	}
	slices.Sort(why)
	same(t, slices.Compact(why), "it does not name a session", `the transcript of "Chatter" is in a form that is not known`)
	if rep.Sessions != 0 {
		t.Errorf("Import reports %d sessions, want none", rep.Sessions)
	}
}

func TestARepositoryWithoutCheckpointsIsNotRead(t *testing.T) {
	c := newClone(t)
	c.commit("refs/heads/main", map[string]string{"a.txt": "a"})
	c.commit("refs/heads/entire/other", map[string]string{"aa/0000000001/0/metadata.json": one, "aa/0000000001/0/full.jsonl": `{"say":"first"}`})
	c.git("pack-refs", "--all")
	if rep := c.imported(); rep.Files != 0 || rep.Sessions != 0 || len(rep.Skips) > 0 {
		t.Errorf("Import reports %d files, %d sessions and skips %v; want none", rep.Files, rep.Sessions, rep.Skips)
	}
}
