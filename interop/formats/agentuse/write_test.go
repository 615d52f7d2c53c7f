package agentuse

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestHash(t *testing.T) {
	if got, want := hash("/home/user/projects/my-app"), "b9703f12cc243e93"; got != want {
		t.Errorf("hash of a project = %s, want %s", got, want)
	}
	if got := hash(""); got != "global" {
		t.Errorf("hash of no project = %s, want global", got)
	}
}

func TestSanitise(t *testing.T) {
	for in, want := range map[string]string{
		"Code Reviewer": "code-reviewer", "agents/Daily Report!": "agents-daily-report", "": "default", "!!": "default", " ": "default",
		"a_b-c": "a_b-c", "--a--": "a", "../x": "x", "é": "default",
	} {
		if got := sanitise(in); got != want {
			t.Errorf("sanitise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestULIDsAreInOrder(t *testing.T) {
	var ids []string
	for i := range uint16(50) {
		ids = append(ids, ulid(1795230386350, i, "name"))
	}
	ids = append(ids, ulid(1795230386351, 0, "a"))
	if !sort.StringsAreSorted(ids) {
		t.Errorf("ULIDs %v are not in order", ids)
	}
	for _, id := range ids {
		if !isULID().MatchString(id) {
			t.Errorf("%q is no ULID", id)
		}
	}
	if got := timeIn(ids[0]); got != 1795230386350 {
		t.Errorf("timeIn(%s) = %d, want 1795230386350", ids[0], got)
	}
	if got, want := ids[0][:10], "01M7Y13J5E"; got != want {
		t.Errorf("the time is written %s, want %s", got, want)
	}
}

func TestASessionIsWrittenAsTheProgramWould(t *testing.T) {
	s := memory.New()
	defer s.Close()
	text := "x"
	_, err := s.Append(t.Context(), skein.Batch{Session: "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1795230386310, skein.Created{Project: "/home/user/projects/my-app", Agent: "Re Viewer", Provider: "openai", Model: "gpt-5"}),
		skein.Say(1795230386320, skein.UserSays("look <at> \u2028 it")),
		skein.Say(1795230386330, skein.Message{Role: skein.RoleAssistant, Usage: &skein.Usage{Input: 9, Reported: 1_500_000}, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "bash", Input: []byte(`{"n":1.50}`)}}}}),
		skein.Say(1795230386340, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text(text)}}}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), s, Format(), "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", home, writeback.Exports{})
	if err != nil || len(done[0].Losses) != 1 || !strings.HasPrefix(done[0].Losses[0].What, "model: ") {
		t.Fatalf("Export = %+v, %v, want no losses but the model", done, err)
	}
	spot := done[0].Spot
	if want := "project/b9703f12cc243e93/session/" + spot.ID + "-re-viewer"; spot.Path != want || !isULID().MatchString(spot.ID) {
		t.Errorf("it is written to %s, want %s", spot.Path, want)
	}
	dir := filepath.Join(home, filepath.FromSlash(spot.Path))
	messages, err := filepath.Glob(filepath.Join(dir, "*", "message.json"))
	if err != nil || len(messages) != 1 {
		t.Fatalf("messages %v, %v, want one", messages, err)
	}
	message, err := os.ReadFile(messages[0])
	if err != nil || !strings.Contains(string(message), "\"task\": \"look <at> \u2028 it\"\n") || strings.HasSuffix(string(message), "\n") {
		t.Errorf("message.json is %s, %v, want the prompt as it was and no line feed at the end", message, err)
	}
	if !strings.Contains(string(message), `"cost": 0.0015,`) {
		t.Errorf("message.json is %s, want the cost that was recorded", message)
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*", "part", "*.json"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("parts %v, %v, want one", parts, err)
	}
	part, err := os.ReadFile(parts[0])
	id := strings.TrimSuffix(filepath.Base(parts[0]), ".json")
	want := `{
  "type": "tool",
  "callID": "c",
  "tool": "bash",
  "state": {
    "status": "completed",
    "input": {
      "n": 1.50
    },
    "output": "x",
    "time": {
      "start": 1795230386330,
      "end": 1795230386340
    }
  },
  "id": "` + id + `",
  "sessionID": "` + spot.ID + `",
  "messageID": "` + filepath.Base(filepath.Dir(messages[0])) + `"
}`
	if err != nil || string(part) != want {
		t.Errorf("the part is\n%s%v, want\n%s", part, err, want)
	}
}

func TestASessionThatWentOnIsWrittenBack(t *testing.T) {
	tr := newTree(t)
	tr.begin("{\n  \"id\": \"" + ann + "\",\n  \"odd\": [1.50],\n  \"status\": \"completed\",\n  \"time\": {\n    \"created\": 1,\n    \"updated\": 2\n  }\n}")
	tr.part(1, `{"type":"text","text":"done","time":{"start":1}}`)
	tr.bring()
	_, err := tr.store.Append(t.Context(), skein.Batch{Session: ann, Events: []skein.Event{
		skein.Say(1e12, skein.UserSays("and now")), skein.Say(1e12+5, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("this")}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), tr.store, Format(), ann)
	if err != nil || done.Events != 2 {
		t.Fatalf("Sync = %+v, %v, want 2 events written", done, err)
	}
	if rep := tr.bring(); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new", rep)
	}
	session, err := os.ReadFile(filepath.Join(tr.session(), "session.json"))
	if err != nil || !strings.Contains(string(session), "\"odd\": [1.50],\n") || strings.Contains(string(session), "\"updated\": 2\n") {
		t.Errorf("session.json is %s, %v, want another time and all else as it was", session, err)
	}
	alone := memory.New()
	defer alone.Close()
	bring(t, alone, tr.home)
	if got, want := tell(t, alone, ann), `{"status":"completed"} | user do it | assistant done | user and now | assistant this`; got != want {
		t.Errorf("another store reads %s, want %s", got, want)
	}
}

func TestWhatIsSaidFirstInASessionThatNeverBeganIsItsMessage(t *testing.T) {
	tr := newTree(t)
	tr.write("session.json", `{"id":"`+ann+`","status":"error","error":{"code":"AUTH_ERROR","message":"no key","time":3},"time":{"created":1,"updated":2}}`)
	tr.bring()
	_, err := tr.store.Append(t.Context(), skein.Batch{Session: ann, Events: []skein.Event{
		skein.Say(1e12, skein.UserSays("try again")), skein.Say(1e12+5, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("done")}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), tr.store, Format(), ann); err != nil || done.Events != 2 {
		t.Fatalf("Sync = %+v, %v, want 2 events written", done, err)
	}
	if rep := tr.bring(); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new", rep)
	}
	alone := memory.New()
	defer alone.Close()
	bring(t, alone, tr.home)
	if got, want := tell(t, alone, ann), "user try again | assistant done"; !strings.HasSuffix(got, want) {
		t.Errorf("another store reads %s, want %s", got, want)
	}
	message, err := filepath.Glob(filepath.Join(tr.session(), "*", "message.json"))
	if err != nil || len(message) != 1 {
		t.Fatalf("messages %v, %v, want one", message, err)
	}
	if got, want := timeIn(filepath.Base(filepath.Dir(message[0]))), skein.Time(1e12); got != want {
		t.Errorf("the message's ID is of %d, want %d, when it was said", got, want)
	}
}

func TestAChildIsWrittenInItsParent(t *testing.T) {
	s := memory.New()
	defer s.Close()
	for _, b := range []skein.Batch{
		{Session: "top", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Agent: "a"}), skein.Say(1e12, skein.UserSays("hi"))}},
		{Session: "low", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Agent: "b", Parent: &skein.Parent{Session: "top", Why: skein.Child}}), skein.Say(1e12, skein.UserSays("sub")),
		}},
	} {
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), s, Format(), "top", home, writeback.Exports{NoSide: true})
	if err != nil || len(done) != 2 {
		t.Fatalf("Export = %+v, %v, want two sessions", done, err)
	}
	if !strings.HasPrefix(done[1].Spot.Path, done[0].Spot.Path+"/subagent/") {
		t.Errorf("the child is written to %s, want it in %s", done[1].Spot.Path, done[0].Spot.Path)
	}
	to := memory.New()
	defer to.Close()
	bring(t, to, home)
	child, err := to.Session(t.Context(), skein.SessionID(done[1].Spot.ID))
	if err != nil || child.Parent == nil || string(child.Parent.Session) != done[0].Spot.ID {
		t.Errorf("the child is read as %+v, %v, want a child of %s", child, err, done[0].Spot.ID)
	}
}

func TestASessionThatWentOnKeepsItsAgentElsewhere(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"agent":{"id":"agents/Daily Report","name":"Daily"},"project":{"root":"/home/user/projects/my-app"},"id":"` + ann + `","time":{"created":1}}`)
	tr.bring()
	if _, err := tr.store.Append(t.Context(), skein.Batch{Session: ann, Events: []skein.Event{skein.Say(1e12, skein.UserSays("more"))}}); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Export(t.Context(), tr.store, Format(), ann, t.TempDir(), writeback.Exports{})
	if want := "project/b9703f12cc243e93/session/" + ann + "-agents-daily-report"; err != nil || done[0].Spot.Path != want {
		t.Errorf("Export = %+v, %v, want it at %s", done, err, want)
	}
}

func TestASessionThatFailedIsNoCompletedOne(t *testing.T) {
	s := memory.New()
	defer s.Close()
	_, err := s.Append(t.Context(), skein.Batch{Session: "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1795230386310, skein.Created{Project: "/p", Provider: "openai", Model: "gpt-5"}),
		skein.Say(1795230386320, skein.UserSays("look")),
		skein.Say(1795230386330, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Kind: "busy", Message: "the model is on fire"}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), s, Format(), "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", home, writeback.Exports{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(done[0].Spot.Path), "session.json"))
	if err != nil || !strings.Contains(string(data), `"status": "error"`) || !strings.Contains(string(data), `"message": "the model is on fire"`) {
		t.Errorf("session.json is %s, %v, want the status error and why", data, err)
	}
}

func TestASessionOfSkeinsSaysWhatItsAgentWasAllowed(t *testing.T) {
	s := memory.New()
	defer s.Close()
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d24"
	config := `{"agent_file":"/p/cook.md","description":"Cooks","timeout_ms":90000,"max_steps":7,"tools":["shell"],"mcp_servers":[{"name":"github","host":"x"}],"subagents":[{"name":"taster","agent_file":"/p/taster.md"},"washer"]}`
	if _, err := skein.Add(t.Context(), s, id,
		skein.NewEvent(skein.KindCreated, 1795230386310, skein.Created{Project: "/p", Agent: "cook", Program: "skein", Config: []byte(config)}),
		skein.Say(1795230386320, skein.UserSays("soup"))); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done, err := writeback.Export(t.Context(), s, Format(), id, home, writeback.Exports{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(done[0].Spot.Path), "session.json"))
	for _, want := range []string{`"name": "cook",
    "description": "Cooks",
    "filePath": "/p/cook.md",
    "isSubAgent": false`, `"config": {
    "timeout": 90,
    "maxSteps": 7,
    "mcpServers": [
      "github"
    ],
    "subagents": [
      {
        "path": "/p/taster.md",
        "name": "taster"
      },
      {
        "path": "washer",
        "name": "washer"
      }
    ]
  },`} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("session.json is %s, %v, want %s", got, err, want)
		}
	}
}
