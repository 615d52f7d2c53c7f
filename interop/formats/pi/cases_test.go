package pi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/store/memory"
)

// A place is a folder of sessions and the store that they are imported into.
type place struct {
	*testing.T
	dir   string
	store *memory.Store
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return &place{t, dir, s}
}

func (p *place) write(name string, lines ...string) string {
	p.Helper()
	at := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	return at
}

func (p *place) bring() interop.Report {
	p.Helper()
	return importAt(p.T, p.store, p.dir)
}

func (p *place) session(id string) skein.Session {
	p.Helper()
	s, err := p.store.Session(p.Context(), skein.SessionID(id))
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// words returns the messages of a session, with a minus before rewound ones and a c
// before compacted ones.
func words(t *testing.T, s skein.Store, id string) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		b := string(e.Message.Role)
		if e.Compacted {
			b = "c" + b
		}
		if e.Rewound {
			b = "-" + b
		}
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil:
				b += fmt.Sprintf(" %s%s", p.Call.Name, p.Call.Input)
			case p.Result != nil:
				b += " =" + string(p.Result.Text)
			default:
				b += " " + string(p.Text)
			}
		}
		all = append(all, b)
	}
	return strings.Join(all, " | ")
}

func (p *place) want(id, want string) {
	p.Helper()
	if got := words(p.T, p.store, id); got != want {
		p.Errorf("session %s is\n  %s\nwant\n  %s", id, got, want)
	}
}

func head(id, more string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-02-01T08:00:00.000Z","cwd":"/home/ada/pear"%s}`, id, more)
}

// says makes the entry of a message; parent "" is null.
func says(role, id, parent, text string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-02-01T08:00:01.000Z","message":{"role":%q,"content":[{"type":"text","text":%q}],"timestamp":1769932801000}}`, id, up, role, text)
}

const stamp = "2026-02-01T08-00-00-000Z_"

func TestBranchesOfOneFileStay(t *testing.T) {
	p := newPlace(t)
	p.write("sessions/x/"+stamp+"s1.jsonl", head("s1", ""),
		says("user", "a", "", "one"), says("assistant", "b", "a", "yes"),
		says("user", "c", "b", "two"), says("assistant", "d", "c", "no"),
		says("user", "e", "b", "three"), // back to b
		says("user", "f", "d", "four"),  // to the abandoned branch
		says("user", "g", "", "five"),   // before everything
		says("user", "h", "f", "six"),
		says("user", "i", "gone", "seven"))
	p.bring()
	p.want("s1", "user one | assistant yes | user two | assistant no | -user three | user four | -user five | user six | user seven")
}

func TestAForkIsFoundByItsEntries(t *testing.T) {
	p := newPlace(t)
	lines := []string{
		says("user", "a", "", "one"), says("assistant", "b", "a", "yes"), says("user", "c", "b", "left"),
		says("user", "d", "b", "two"), says("assistant", "e", "d", "no"),
	}
	at := p.write("sessions/x/"+stamp+"s1.jsonl", append([]string{head("s1", "")}, lines...)...)
	more := fmt.Sprintf(`,"parentSession":%q`, at)
	p.write("sessions/x/2026-02-02T08-00-00-000Z_s2.jsonl", head("s2", more), lines[0], lines[1], lines[3], says("assistant", "z", "d", "other"))
	p.write("sessions/x/2026-02-03T08-00-00-000Z_s3.jsonl", head("s3", more), says("user", "q", "", "anew"))
	p.bring()
	p.want("s1", "user one | assistant yes | -user left | user two | assistant no")
	p.want("s2", "user one | assistant yes | -user left | user two | assistant other")
	if f := p.session("s2").Parent; f == nil || f.Why != skein.Fork || f.Session != "s1" {
		t.Errorf("s2 hangs on %+v, want a fork of s1", f)
	}
	if f := p.session("s3").Parent; f == nil || f.Why != skein.Continuation || f.Session != "s1" {
		t.Errorf("s3 hangs on %+v, want a continuation of s1", f)
	}
}

// When pi reads a file of version 1, it rewrites it as version 3.
func TestAFileThatPiWroteAgainIsTheSame(t *testing.T) {
	p := newPlace(t)
	v1 := func(role, text string) string {
		return fmt.Sprintf(`{"type":"message","timestamp":"2025-11-01T08:00:01.000Z","message":{"role":%q,"content":%q,"timestamp":1}}`, role, text)
	}
	v3 := func(line, id, parent string) string {
		return strings.TrimSuffix(line, "}") + fmt.Sprintf(`,"id":%q,"parentId":%s}`, id, parent)
	}
	name := "sessions/x/" + stamp + "s1.jsonl"
	was := []string{
		v1("user", "one"), v1("assistant", "yes"), v1("user", "one"), v1("hookMessage", "hm"),
		`{"type":"compaction","timestamp":"2025-11-01T08:00:01.000Z","summary":"S","firstKeptEntryIndex":3,"tokensBefore":5}`, v1("user", "two"),
	}
	p.write(name, append([]string{`{"type":"session","id":"s1","timestamp":"2025-11-01T08:00:00.000Z","cwd":"/x"}`}, was...)...)
	p.bring()
	want := "cuser one | cassistant yes | user one | user hm | user two"
	p.want("s1", want)
	is := []string{
		`{"type":"session","id":"s1","timestamp":"2025-11-01T08:00:00.000Z","cwd":"/x","version":3}`,
		v3(was[0], "1", "null"), v3(was[1], "2", `"1"`), v3(was[2], "3", `"2"`),
		strings.Replace(v3(was[3], "4", `"3"`), "hookMessage", "custom", 1),
		`{"type":"compaction","timestamp":"2025-11-01T08:00:01.000Z","summary":"S","tokensBefore":5,"id":"5","parentId":"4","firstKeptEntryId":"3"}`,
		v3(was[5], "6", `"5"`), says("user", "7", "6", "three"),
	}
	p.write(name, is...)
	rep := p.bring()
	p.want("s1", want+" | user three")
	if rep.Events != 1 {
		t.Errorf("Import of the file written again = %+v, want one new event", rep)
	}
}

func TestOhMyPi(t *testing.T) {
	p := newPlace(t)
	slot := func(title string) string {
		return fmt.Sprintf(`{"type":"title","v":1,"title":%q,"source":"auto","updatedAt":"2026-02-01T08:00:09.000Z","pad":"   "}`, title)
	}
	const hash = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
	dir := ".omp/agent/sessions/-pear/" + stamp + "s1"
	image := fmt.Sprintf(`{"type":"message","id":"b","parentId":"a","timestamp":"2026-02-01T08:00:02.000Z","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"blob:sha256:%s"}]}}`, hash)
	rest := []string{
		head("s1", `,"title":"First","titleSource":"auto"`), says("user", "a", "", "one"), image,
		`{"type":"model_change","id":"c","parentId":"b","timestamp":"2026-02-01T08:00:03.000Z","model":"anthropic/opus"}`,
		`{"type":"model_change","id":"d","parentId":"c","timestamp":"2026-02-01T08:00:03.000Z","model":"x/small","role":"smol"}`,
	}
	p.write(dir+".jsonl", append([]string{slot("First")}, rest...)...)
	p.write(dir+"/Task.jsonl", head("s2", ""), says("user", "a", "", "sub"))
	blobs := filepath.Join(p.dir, ".omp", "agent", "blobs")
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(blobs, hash), []byte("hi"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.bring()
	s := p.session("s1")
	if s.Title != "First" || s.Model != "opus" || s.Provider != "anthropic" || s.Agent != "omp" {
		t.Errorf("session is %+v, want the title First, of opus by anthropic", s)
	}
	if f := p.session("s2").Parent; f == nil || f.Why != skein.Child || f.Session != "s1" {
		t.Errorf("the sub-agent hangs on %+v, want s1", f)
	}
	if b, err := p.store.Blob(t.Context(), "s1", hash); err != nil || string(b) != "hi" {
		t.Errorf("the picture is %q, %v, want hi", b, err)
	}
	p.write(dir+".jsonl", append([]string{slot("Second")}, rest...)...)
	p.bring()
	if got := p.session("s1").Title; got != "Second" {
		t.Errorf("after the title was overwritten it is %q, want Second", got)
	}
	p.want("s1", "user one | user ")
	if command, dir := pi.Format().Resume(interop.Spot{ID: "s1"}, p.session("s1")); !slices.Equal(command, []string{"omp", "--resume", "s1"}) || dir != "/home/ada/pear" {
		t.Errorf("Resume = %v in %s, want omp's", command, dir)
	}
}

func TestOddEntriesAreKept(t *testing.T) {
	entry := func(rest string) string {
		return `{"type":"message","id":"b","parentId":"a","timestamp":"2026-02-01T08:00:02.000Z","message":` + rest + `}`
	}
	for name, odd := range map[string]string{
		"no message":       entry(`null`),
		"a string":         entry(`"x"`),
		"content null":     entry(`{"role":"user","content":null}`),
		"content a number": entry(`{"role":"assistant","content":7}`),
		"odd blocks":       entry(`{"role":"assistant","content":[null,7,{"type":"text","text":3},{"type":"toolCall"},{"type":"image","data":"%"}]}`),
		"huge numbers":     entry(`{"role":"assistant","content":[],"usage":{"input":1e999,"output":-1,"cost":{"total":1e300}}}`),
		"named twice":      entry(`{"role":"user","content":"x","content":[]}`),
		"other case":       entry(`{"Role":"user","CONTENT":"x"}`),
		"odd blob":         entry(`{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"blob:sha256:../../../etc/passwd"}]}`),
		"unknown type":     `{"type":"dance","id":"b","parentId":"a","timestamp":"never"}`,
		"second header":    head("s9", ""),
		"no type":          `{"id":"b","parentId":"a"}`,
		"its own parent":   says("user", "b", "b", "x"),
		"odd ID":           says("user", "a/../\x00\n", "a", "x"),
		"deep":             entry(`{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"f","arguments":` + strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000) + `}]}`),
		"kept in no place": `{"type":"compaction","id":"b","parentId":"a","timestamp":"2026-02-01T08:00:02.000Z","summary":"","firstKeptEntryId":7,"firstKeptEntryIndex":99999999999}`,
	} {
		p := newPlace(t)
		p.write(stamp+"s1.jsonl", head("s1", ""), says("user", "a", "", "one"), odd, says("user", "c", "b", "two"))
		rep := p.bring()
		if got := words(t, p.store, "s1"); rep.Sessions != 1 || !strings.HasSuffix(got, "user two") || !strings.Contains(got, "user one") {
			t.Errorf("%s: read as %s, want it between one and two", name, got)
		}
	}
}

func TestPlacesFollowTheVariables(t *testing.T) {
	env := map[string]string{}
	h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(n string) string { return env[n] }}
	first := func(want string) {
		t.Helper()
		if got := pi.Format().Places(h)[0]; got != filepath.FromSlash(want) {
			t.Errorf("Places with %v = %s first, want %s", env, got, want)
		}
	}
	first("/home/ada/.pi/agent/sessions")
	if got, want := interop.HomeOf(pi.Format(), h), filepath.FromSlash("/home/ada/.pi/agent"); got != want {
		t.Errorf("HomeOf = %s, want %s", got, want)
	}
	env["PI_CODING_AGENT_DIR"] = "~/p"
	first("/home/ada/p/sessions")
	env["PI_CODING_AGENT_SESSION_DIR"] = filepath.FromSlash("/s")
	first("/s")
}

func TestTheReportedCostIsRounded(t *testing.T) {
	p := newPlace(t)
	p.write(stamp+"s1.jsonl", head("s1", ""), says("user", "a", "", "one"),
		`{"type":"message","id":"b","parentId":"a","timestamp":"2026-02-01T08:00:02.000Z","message":{"role":"assistant","content":[],"usage":{"input":1,"cost":{"total":0.00013}}}}`)
	p.bring()
	if got := p.session("s1").Usage.Reported; got != 130000 {
		t.Errorf("cost of 0.00013 dollars is %d billionths, want 130000", got)
	}
}

// Ollama gives requests random numbers below 999: equal numbers are not one request,
// but the copy in a fork is.
func TestNumbersThatALocalServerGivesRepeat(t *testing.T) {
	p := newPlace(t)
	answer := func(id, parent string, at, input int) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-02-01T08:00:02.000Z","message":{"role":"assistant","provider":"ollama","responseId":"chatcmpl-86","content":[],"timestamp":%d,"usage":{"input":%d,"output":1}}}`, id, parent, at, input)
	}
	p.write(stamp+"s1.jsonl", head("s1", ""), says("user", "a", "", "one"), answer("b", "a", 1769932802000, 900))
	p.write(stamp+"s2.jsonl", head("s2", ""), says("user", "a", "", "two"), answer("b", "a", 1769932902000, 10), answer("c", "b", 1769932903000, 20))
	p.write(stamp+"s3.jsonl", head("s3", ""), says("user", "a", "", "one, forked"), answer("b", "a", 1769932802000, 900))
	p.bring()
	for id, want := range map[string]int64{"s1": 900, "s2": 30, "s3": 0} {
		if got := p.session(id).Usage.Input; got != want {
			t.Errorf("session %s has %d tokens of input, want %d", id, got, want)
		}
	}
}
