package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// wantUndo undoes n and checks the returned text.
func (g *rig) wantUndo(n int, want string) {
	g.t.Helper()
	if got, err := g.Undo(g.t.Context(), n); err != nil || got != want {
		g.t.Fatalf("Undo(%d) = %q, %v, want %q", n, got, err, want)
	}
}

func (g *rig) redo() {
	g.t.Helper()
	if err := g.Redo(g.t.Context()); err != nil {
		g.t.Fatalf("Redo = %v", err)
	}
}

func (g *rig) wantNothingToRedo() {
	g.t.Helper()
	if err := g.Redo(g.t.Context()); !errors.Is(err, skein.ErrInvalid) {
		g.t.Fatalf("Redo = %v, want %v", err, skein.ErrInvalid)
	}
}

// wantContext asks once more and checks that the model is shown these questions
// before that.
func (g *rig) wantContext(questions ...string) {
	g.t.Helper()
	g.say("and now", "done")
	var got []string
	for _, m := range g.model.requests[len(g.model.requests)-1].Messages {
		if m.Role == skein.RoleUser {
			got = append(got, m.Words())
		}
	}
	if want := strings.Join(append(questions, "and now"), ", "); strings.Join(got, ", ") != want {
		g.t.Errorf("the model is asked %q, want %q", got, want)
	}
}

func TestUndoAndRedo(t *testing.T) {
	g := open(t)
	if _, err := g.Undo(t.Context(), 1); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Undo of nothing = %v, want %v", err, skein.ErrInvalid)
	}
	g.wantNothingToRedo()
	for _, q := range []string{"a", "b", "c"} {
		g.say(q, "done")
	}
	if _, err := g.Undo(t.Context(), 4); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Undo(4) = %v, want %v", err, skein.ErrInvalid)
	}
	if _, err := g.Undo(t.Context(), 0); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Undo(0) = %v, want %v", err, skein.ErrInvalid)
	}
	g.wantUndo(1, "c")
	g.wantUndo(1, "b")
	g.redo()
	g.wantUndo(2, "a")
	g.redo()
	g.redo()
	g.wantNothingToRedo()
	g.wantUndo(2, "b")
	g.wantContext("a")
	g.wantNothingToRedo()
	g.wantUndo(2, "a")
	g.again()
	g.redo()
	g.wantContext("a", "and now")
}

func TestClearIsARewind(t *testing.T) {
	g := open(t)
	if err := g.Clear(t.Context()); err != nil || g.Begun() {
		t.Errorf("Clear of nothing = %v, and it has begun: %v", err, g.Begun())
	}
	g.say("a", "done")
	g.wantUndo(1, "a")
	g.redo()
	if err := g.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := g.Pending(t.Context()); p || err != nil {
		t.Errorf("Pending after Clear = %v, %v", p, err)
	}
	g.redo()
	g.wantContext("a")
	if err := g.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.wantContext()
}

func TestTitles(t *testing.T) {
	g := open(t)
	if err := g.Suggest(t.Context()); err != nil || g.Begun() {
		t.Errorf("Suggest before the first message = %v", err)
	}
	g.say("how do parsers work?", "done")
	g.model.answers = []answer{fails(errBusy), says("## \"How parsers work\".\n\nI hope that helps")}
	if err := g.Suggest(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.wantTitle("How parsers work", skein.ByModel)
	if room := g.model.requests[len(g.model.requests)-1].MaxTokens; room != 0 && room < 1000 {
		t.Errorf("the model has %d tokens for a title, want room to think first", room)
	}
	asked := len(g.model.requests)
	if err := g.Suggest(t.Context()); err != nil || len(g.model.requests) != asked {
		t.Errorf("Suggest with a title = %v, after %d requests, want none", err, len(g.model.requests)-asked)
	}
	if err := g.Rename(t.Context(), "Parsers"); err != nil {
		t.Fatal(err)
	}
	g.wantTitle("Parsers", skein.ByPerson)
	g.say("on", "done")
	g.wantShown(`user "how do parsers work?"`, `assistant "done"`, `user "on"`)
}

func (g *rig) wantTitle(want string, by skein.By) {
	g.t.Helper()
	if s, err := g.Session(g.t.Context()); err != nil || s.Title != want || s.TitleBy != by {
		g.t.Errorf("Session has the title %q by %s, %v, want %q by %s", s.Title, s.TitleBy, err, want, by)
	}
}

func TestATitleCanComeBeforeTheFirstMessage(t *testing.T) {
	g := open(t)
	for _, title := range []string{"first", "second"} {
		if err := g.Rename(t.Context(), title); err != nil {
			t.Fatal(err)
		}
	}
	if g.Begun() {
		t.Error("a title has begun the session")
	}
	g.say("go", "done")
	g.wantTitle("second", skein.ByPerson)
}

func TestTheAgentChangesAndTheThreadGoesOn(t *testing.T) {
	g := open(t)
	g.say("a", "done")
	other := newModel()
	other.about = llm.About{Provider: "openai", Model: "n", Rules: window.OpenAIChatRules("n")}
	if err := g.SetAgent(t.Context(), agent.Agent{Name: "other", Profile: "/agents/other.md", System: "be brief", Model: other}); err != nil {
		t.Fatal(err)
	}
	if s, err := g.Session(t.Context()); err != nil || s.Agent != "other" || s.Model != "n" || s.Provider != "openai" || s.Profile != "/agents/other.md" {
		t.Errorf("Session = %+v, %v, want the other agent", s, err)
	}
	g.say("b", "done")
	if r := other.requests[0]; r.System != "be brief" || len(r.Messages) != 3 {
		t.Errorf("the other model is shown %q and %d messages, want its own prompt and all 3", r.System, len(r.Messages))
	}
}
