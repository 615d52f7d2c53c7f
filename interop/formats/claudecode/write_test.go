package claudecode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestProjectsHaveTheFoldersThatTheProgramLooksIn(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/ann/my_shop.v2": "-home-ann-my-shop-v2", "/tmp/é😀": "-tmp----", `C:\Users\Ann\x`: "C--Users-Ann-x",
		"/" + strings.Repeat("deep/", 50): "-" + strings.Repeat("deep-", 39) + "deep-yvg3tb",
	} {
		if got := mangle(dir); got != want {
			t.Errorf("mangle(%.30q) = %s, want %s", dir, got, want)
		}
	}
}

// told returns the content of a written file, line by line.
func told(t *testing.T, name string) (all []string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	uuids, latest := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		var l struct {
			Type, Subtype, UUID, ParentUUID, LogicalParentUUID, AITitle, CustomTitle, Timestamp, AgentID string
			IsMeta, IsSidechain, IsCompactSummary                                                        bool
			Message                                                                                      struct{ Content json.RawMessage }
			Attachment                                                                                   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if uuids[l.UUID] != "" {
			t.Errorf("two lines have the UUID %s", l.UUID)
		}
		if l.Timestamp != "" && l.Timestamp <= latest {
			t.Errorf("a line of %s comes after one of %s, which older versions would go on from", l.Timestamp, latest)
		}
		latest = max(latest, l.Timestamp)
		if l.UUID != "" {
			uuids[l.UUID] = string(rune('a' + len(uuids)))
		}
		s := l.Type + l.Subtype + " " + uuids[l.UUID] + "<" + uuids[l.ParentUUID] + uuids[l.LogicalParentUUID] + " "
		for flag, set := range map[string]bool{"meta ": l.IsMeta, "side ": l.IsSidechain, "summary ": l.IsCompactSummary} {
			if set {
				s += flag
			}
		}
		all = append(all, s+string(l.Message.Content)+string(l.Attachment)+l.AITitle+l.CustomTitle)
	}
	return all
}

// export writes a session with these events and returns its file.
func export(t *testing.T, blobs []skein.Blob, evs ...skein.Event) (string, writeback.Exported) {
	t.Helper()
	store := memory.New()
	defer store.Close()
	evs = append([]skein.Event{skein.NewEvent(skein.KindCreated, 1795230386000, skein.Created{Cwd: "/srv/shop", Title: "Ages", Agent: "codex"})}, evs...)
	if _, err := store.Append(t.Context(), skein.Batch{Session: "s", Events: evs, Blobs: blobs}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), store, Format(), "s", home, writeback.Exports{})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, filepath.FromSlash(done[0].Spot.Path)), done[0]
}

func TestASessionIsWrittenAsTheProgramWould(t *testing.T) {
	blob := skein.NewBlob(onePixel)
	name, done := export(t, []skein.Blob{blob}, talk(blob)...)
	if want := "projects/-srv-shop/" + done.Spot.ID + ".jsonl"; done.Spot.Path != want || !isUUID(done.Spot.ID) {
		t.Errorf("it is written to %s, want %s", done.Spot.Path, want)
	}
	want := []string{
		`user a< "long ago"`,
		`assistant b<a [{"type":"text","text":"ages"}]`,
		`systemcompact_boundary c<b `,
		`user d<c summary "They spoke of ages."`,
		`user e<d "newer"`,
		`assistant f<e [{"type":"text","text":"I look."}]`,
		`assistant g<f [{"type":"tool_use","id":"c_1","name":"Bash","input":{"command":"cd /srv && ls"}}]`,
		`assistant h<g [{"type":"text","text":"[I called the tool apply_patch, which no longer exists, with this input:]\n*** Begin"}]`,
		`user i<h [{"type":"tool_result","tool_use_id":"c_1","content":"a.go"}]`,
		`user j<i meta [{"type":"text","text":"[The tool apply_patch answered:]"},{"type":"text","text":"done"}]`,
		`attachment k<j {"type":"queued_command","prompt":"hurry up","commandMode":"prompt"}`,
		`assistant l<k [{"type":"text","text":"And"}]`,
		`assistant m<l [{"type":"tool_use","id":"c3","name":"Read","input":{"file_path":"/srv/shop/a.go"}}]`,
		`user n<m [{"type":"tool_result","tool_use_id":"c3","content":"[Interrupted: there is no result, and it is unknown whether the tool took effect.]","is_error":true}]`,
		`user o<n [{"type":"text","text":"see this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"IMAGE"}}]`,
		`assistant p<o [{"type":"text","text":"a dot"}]`,
		`ai-title < Ages`,
	}
	got := told(t, name)
	for i := range got {
		if at := strings.Index(got[i], `"data":"`); at > 0 {
			got[i] = got[i][:at] + `"data":"IMAGE"}}]`
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
	var lost []string
	for _, l := range done.Losses {
		lost = append(lost, l.What)
	}
	if diff := cmp.Diff([]string{
		"system prompt: left out, Claude Code has its own", "reasoning without Anthropic's signature: left out",
		"tools' names and inputs: as Claude Code's own", "IDs of calls: in the provider's form",
		"calls of tools that Claude Code does not have: as text", "calls without a result: as interrupted",
		"which model answered: left out",
		"model: claude-code continues with the one in its settings",
	}, lost); diff != "" {
		t.Errorf("what is lost (-want +got):\n%s", diff)
	}
}

func TestASessionBehindASymbolicLinkLiesWhereTheProgramLooks(t *testing.T) {
	dir := realDir(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	store := memory.New()
	defer store.Close()
	if _, err := store.Append(t.Context(), skein.Batch{Session: "s", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Cwd: link}), skein.Say(1e12, skein.UserSays("hi")),
	}}); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Export(t.Context(), store, Format(), "s", t.TempDir(), writeback.Exports{})
	if want := "projects/" + mangle(dir) + "/"; err != nil || !strings.HasPrefix(done[0].Spot.Path, want) {
		t.Errorf("Export = %+v, %v, want it below %s", done, err, want)
	}
}

func TestToolsBecomeClaudeCodesOwn(t *testing.T) {
	own := tools{cwd: "/srv/shop"}
	for _, c := range []struct{ name, input, want string }{
		{"Bash", `{"command":"ls","odd":1}`, `Bash {"command":"ls","odd":1}`},
		{"exec_command", `{"cmd":"ls","workdir":"/srv/shop"}`, `Bash {"command":"ls"}`},
		{"shell", `{"command":["rm","a b"],"timeout_ms":5}`, `Bash {"command":"rm 'a b'","timeout":5}`},
		{"shell", `"{\"command\":\"ls\"}"`, `Bash {"command":"ls"}`},
		{"shell", `{"command":7}`, ``},
		{"read_file", `{"target_file":"x/a.go","start_line":3,"end_line":5}`, `Read {"file_path":"/srv/shop/x/a.go","offset":3,"limit":3}`},
		{"write_to_file", `{"path":"/a","content":""}`, `Write {"file_path":"/a","content":""}`},
		{"edit", `{"filePath":"/a","oldString":"","newString":"<b>"}`, `Edit {"file_path":"/a","old_string":"","new_string":"<b>"}`},
		{"edit", `{"path":"/a","edits":[{"oldText":"x","newText":"y"}]}`, `Edit {"file_path":"/a","old_string":"x","new_string":"y"}`},
		{"edit", `{"path":"/a","diff":"…"}`, ``},
		{"str_replace_editor", `{"command":"view","path":"/a"}`, `Read {"file_path":"/a"}`},
		{"text_editor", `{"command":"text_editor","path":"/a"}`, ``},
		{"list_files", `{"path":"/a"}`, `Glob {"pattern":"*","path":"/a"}`},
		{"search_files", `{"pattern":"a+","ignore_case":true}`, `Grep {"pattern":"a+","output_mode":"content","-i":true}`},
		{"web_fetch", `{"url":"http://a"}`, `WebFetch {"url":"http://a","prompt":"What does the page say?"}`},
		{"google_web_search", `{"query":"a"}`, `WebSearch {"query":"a"}`},
		{"task", `{"prompt":"look","agent":"scout"}`, `Task {"description":"look","prompt":"look","subagent_type":"scout"}`},
		{"update_plan", `{"plan":[{"step":"a","status":"completed"}]}`, `TodoWrite {"todos":[{"content":"a","status":"completed","activeForm":"a"}]}`},
		{"mcp__x__y", `{"a":1.50}`, `mcp__x__y {"a":1.50}`},
		{"x__y", ``, `mcp__x__y {}`},
		{"apply_patch", `"*** Begin"`, ``},
		{"Odd Name", `{}`, ``},
	} {
		name, input := own.asTool(&skein.Call{ID: "c", Name: c.name, Input: []byte(c.input)})
		if got := strings.TrimSpace(name + " " + string(input)); got != c.want {
			t.Errorf("asTool(%s %s) = %s, want %s", c.name, c.input, got, c.want)
		}
	}
}

func TestASubAgentLiesInItsSession(t *testing.T) {
	store := memory.New()
	defer store.Close()
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "task", Input: []byte(`{"prompt":"look"}`)}}
	child := func(parent, call string) skein.Created {
		return skein.Created{Cwd: "/srv/shop", Agent: "scout", Title: "a look", Parent: &skein.Parent{Session: skein.SessionID(parent), Why: skein.Child, Call: call}}
	}
	for _, b := range []skein.Batch{
		{Session: "top", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Cwd: "/srv/shop"}), skein.Say(1e12, skein.UserSays("hi")),
			skein.Say(1e12, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{call}}),
			skein.NewEvent(skein.KindTool, 1e12, skein.ToolState{Call: "c1", State: skein.Completed, Child: "low"}),
			skein.Say(1e12, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "seen"}}}}),
		}},
		{Session: "low", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1e12, child("top", "c1")), skein.Say(1e12, skein.UserSays("look"))}},
		{Session: "lower", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1e12, child("low", "")), skein.Say(1e12, skein.UserSays("closer"))}},
	} {
		if _, err := store.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), store, Format(), "top", home, writeback.Exports{NoSide: true})
	if err != nil || len(done) != 3 {
		t.Fatalf("Export = %+v, %v, want three sessions", done, err)
	}
	to := memory.New()
	defer to.Close()
	if rep, err := importer.Import(t.Context(), to, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil || rep.Sessions != 3 || rep.Damaged != 0 {
		t.Fatalf("Import = %+v, %v, want three sessions", rep, err)
	}
	for i, want := range []skein.Parent{{Session: skein.SessionID(done[0].Spot.ID), Why: skein.Child, Call: "c1"}, {Session: skein.SessionID(done[1].Spot.ID), Why: skein.Child}} {
		s, err := to.Session(t.Context(), skein.SessionID(done[i+1].Spot.ID))
		if err != nil || s.Parent == nil || s.Agent != "scout" || s.Title != "a look" {
			t.Fatalf("sub-agent %d is read as %+v, %v", i, s, err)
		}
		s.Parent.Seq = 0
		if diff := cmp.Diff(want, *s.Parent); diff != "" {
			t.Errorf("sub-agent %d hangs on (-want +got):\n%s", i, diff)
		}
		if command, _ := resume(done[i+1].Spot, s); command[2] != done[0].Spot.ID {
			t.Errorf("resume of sub-agent %d = %v, want its session's %s", i, command, done[0].Spot.ID)
		}
	}
}

func TestUntouchedSessionsComeBackByteForByte(t *testing.T) {
	roots := []string{"testdata"}
	if corpus := os.Getenv("SKEIN_CORPUS"); corpus != "" {
		roots = append(roots, filepath.Join(corpus, ".claude", "projects"))
	}
	for _, root := range roots {
		t.Run(filepath.Base(root), func(t *testing.T) { comesBack(t, root) })
	}
}

func comesBack(t *testing.T, root string) {
	from := filepath.Join(realDir(t), "projects")
	if err := os.CopyFS(from, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	defer store.Close()
	if _, err := importer.Import(t.Context(), store, []interop.Format{Format()}, []string{from}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	home, files, size := t.TempDir(), 0, 0
	for f, err := range store.Files(t.Context(), Name) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Session == "" {
			continue // a copy of another's, or only titles
		}
		done, err := writeback.Export(t.Context(), store, Format(), f.Session, home, writeback.Exports{NoChildren: true})
		if err != nil || !done[0].Exact {
			t.Fatalf("Export(%s) = %+v, %v, want it exact", f.Session, done, err)
		}
		was, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		is, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(done[0].Spot.Path)))
		if err != nil || string(was) != string(is) {
			t.Errorf("%s has come back with %d bytes that differ from the %d that it was, %v", f.Path, len(is), len(was), err)
		}
		if rel, err := filepath.Rel(filepath.Dir(from), f.Path); err != nil || filepath.ToSlash(rel) != done[0].Spot.Path {
			t.Errorf("%s is written to %s, want it where it was", f.Path, done[0].Spot.Path)
		}
		files, size = files+1, size+len(was)
	}
	if files == 0 {
		t.Error("nothing has come back")
	}
	t.Logf("%d files, %d bytes", files, size)
}

// One-hour cache tokens and the service tier are preserved.
func TestWhatARequestCostIsWritten(t *testing.T) {
	s, back := memory.New(), memory.New()
	t.Cleanup(func() { s.Close(); back.Close() })
	used := skein.Usage{Input: 1, CacheRead: 2, CacheWrite: 30, CacheHour: 20, Output: 4}
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23"
	_, err := skein.Add(
		t.Context(), s, id, skein.NewEvent(skein.KindCreated, 1795230386310, skein.Created{Project: "/p", Agent: "claude-code"}),
		skein.Say(1795230386320, skein.UserSays("look")),
		skein.Say(1795230386330, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-opus-5", Request: "r", Tier: "batch", Usage: &used, Parts: []skein.Part{skein.TextPart("seen")}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if _, err := writeback.Export(t.Context(), s, Format(), id, home, writeback.Exports{}); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Import(t.Context(), back, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	rows, err := back.Usage(t.Context(), skein.UsageQuery{By: skein.ByModelID})
	used.Requests = 1
	if err != nil || len(rows) != 1 || rows[0].Tier != "batch" || rows[0].Usage != used {
		t.Errorf("Usage of what was written = %+v, %v, want %+v in a batch", rows, err, used)
	}
}
