package agentuse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// partText returns part n of the first message.
func (t *tree) partText(n string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(t.session(), message1, "part", "01KXAMPE00000000000000P"+n+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// syncs writes back, which must write this many events, and reads the result with a
// new store.
func (t *tree) syncs(events int) string {
	t.Helper()
	done, err := writeback.Sync(t.Context(), t.store, Format(), ann)
	if err != nil || done.Events != events || len(done.Losses) != 0 {
		t.Fatalf("Sync = %+v, %v, want %d events written and nothing lost", done, err, events)
	}
	if rep := t.bring(); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new: %s", rep, tell(t.T, t.store, ann))
	}
	if done, err := writeback.Sync(t.Context(), t.store, Format(), ann); err != nil || done.Events != 0 {
		t.Errorf("Sync again = %+v, %v, want nothing new", done, err)
	}
	alone := memory.New()
	defer alone.Close()
	bring(t, alone, t.home)
	return tell(t.T, alone, ann)
}

func TestAResultIsWrittenIntoThePartOfItsCall(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"id":"` + ann + `","status":"suspended","time":{"created":1,"updated":2}}`)
	tr.part(1, `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"n":1.50},"title":"Look","metadata":{"a":1},"time":{"start":1000}},"odd":[1.0]}`)
	tr.part(2, `{"type":"tool","callID":"c2","tool":"ask","state":{"status":"pending","input":{},"suspendedAt":1001,"resumePayload":{"kind":"await_human"}}}`)
	tr.bring()
	answer := func(at skein.Time, r skein.Result) skein.Event {
		return skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &r}}})
	}
	if _, err := skein.Add(t.Context(), tr.store, ann, answer(2e12, skein.Result{CallID: "c1", Text: "it <works>"}), answer(2e12+1, skein.Result{CallID: "c2", Text: "no", Failed: true})); err != nil {
		t.Fatal(err)
	}
	got := tr.syncs(2)
	if want := `{"status":"completed"} | user do it | assistant bash({"n":1.50}) | tool completed | tool =it <works> | assistant ask({}) | tool error | tool =no`; got != want {
		t.Errorf("another store reads\n%s\nwant\n%s", got, want)
	}
	text := tr.partText("001")
	for _, want := range []string{`"odd":[1.0]`, `"callID":"c1"`, `"n": 1.50`, `"title": "Look"`, `"output": "it <works>"`, `"start": 1000,`, `"end": 2000000000000`} {
		if !strings.Contains(text, want) {
			t.Errorf("the part is %s, want %s in it", text, want)
		}
	}
	if text := tr.partText("002"); !strings.Contains(text, `"resumePayload": {`) || strings.Contains(text, "suspendedAt") {
		t.Errorf("the part that waited is %s, want what it waited for among its metadata", text)
	}
}

func TestWhatWasGoneBackOverIsMarkedInItsPart(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"id":"` + ann + `","time":{"created":1,"updated":2}}`)
	tr.part(1, `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{},"output":"x","time":{"start":1000,"end":1001}}}`)
	tr.part(2, `{"type":"text","text":"wrong","time":{"start":1002}}`)
	tr.bring()
	s, err := tr.store.Session(t.Context(), ann)
	if err != nil {
		t.Fatal(err)
	}
	at := s.Updated + 1000
	if _, err := skein.Add(t.Context(), tr.store, ann, skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: s.Last - 1}),
		skein.Say(at, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("right")}})); err != nil {
		t.Fatal(err)
	}
	got := tr.syncs(2)
	if want := "{} | user do it | assistant bash({}) | tool completed | tool =x | agentuse:superseded | assistant right"; got != want {
		t.Errorf("another store reads\n%s\nwant\n%s", got, want)
	}
	if text := tr.partText("002"); !strings.Contains(text, `"text":"wrong"`) || !strings.HasSuffix(text, ",\n  \"superseded\": true}") {
		t.Errorf("the part is %s, want it as it was, and superseded", text)
	}
}
