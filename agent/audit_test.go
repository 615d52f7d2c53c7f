package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm"
)

func TestASessionKeepsWhatItsModelWasTold(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.Config = json.RawMessage(`{"max_steps":7}`) }, says("hello"))
	g.say("hello", "hello")
	for _, e := range g.events() {
		switch e.Kind {
		case skein.KindCreated:
			if c := decode[skein.Created](t, e); string(c.Config) != `{"max_steps":7}` {
				t.Errorf("created has the config %s, want the agent's", c.Config)
			}
		case skein.KindStep:
			s := decode[skein.Step](t, e)
			if s.Phase != "start" {
				continue
			}
			prompt, err := g.store.Blob(t.Context(), g.ID(), skein.Hash(s.Prompt))
			if !s.Kept || err != nil || string(prompt) != "be good" {
				t.Errorf("the blob of the system prompt is %q, %v, want it", prompt, err)
			}
			config, err := g.store.Blob(t.Context(), g.ID(), skein.Hash(s.Config))
			if err != nil || string(config) != `{"max_steps":7}` {
				t.Errorf("the blob of what the agent was allowed is %q, %v, want its config", config, err)
			}
			list, err := g.store.Blob(t.Context(), g.ID(), skein.Hash(s.Tools))
			var tools []llm.ToolSpec
			if err != nil || json.Unmarshal(list, &tools) != nil || len(tools) != 4 || !strings.Contains(string(list), `"name":"look"`) {
				t.Errorf("the blob of the tool list is %s, %v, want the four tools as JSON", list, err)
			}
		}
	}
}

func TestASessionKeepsWhatAnotherAgentMayDo(t *testing.T) {
	g := open(t, says("hello"))
	g.say("hello", "hello")
	other := g.Agent()
	other.Name, other.Config = "other", json.RawMessage(`{"max_steps":3}`)
	if err := g.SetAgent(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	events := g.events()
	if c := decode[skein.Changed](t, events[len(events)-1]); *c.Agent != "other" || c.Config == nil || string(*c.Config) != `{"max_steps":3}` {
		t.Errorf("the last event is %+v, want the other agent and its config", c)
	}
}

func TestAFailedTurnSaysWhy(t *testing.T) {
	busy := &llm.Error{Kind: llm.ErrRequest, Status: 400, Message: "the model is on fire"}
	g := open(t, fails(busy))
	if _, err := g.Turn(t.Context(), skein.UserSays("hello")); err == nil {
		t.Fatal("Turn with a model that fails = nil")
	}
	events := g.events()
	m := decode[skein.Message](t, events[len(events)-1])
	if m.Role != skein.RoleAssistant || m.Error == nil || m.Error.Status != 400 || !strings.Contains(m.Error.Message, "on fire") {
		t.Errorf("the last message is %+v, want one with the error", m)
	}
	g.model.answers = []answer{says("well")}
	if out, err := g.Retry(t.Context()); err != nil || out.Text != "well" {
		t.Fatalf("Retry = %+v, %v, want an answer", out, err)
	}
	g.wantShown(`user "hello"`)
}

func TestPartsHaveTheTimesBetweenWhichTheyCame(t *testing.T) {
	a := calls("look {}")
	a.text = "I look "
	a.message.Parts = append([]skein.Part{skein.TextPart("I look ")}, a.message.Parts...)
	g := open(t, a)
	g.say("look", "done")
	for _, e := range g.events() {
		if e.Kind != skein.KindSaid {
			continue
		}
		for _, p := range decode[skein.Message](t, e).Parts {
			if timed := p.Start > 0 && p.End >= p.Start; p.Kind == skein.PartText && string(p.Text) == "I look " && !timed || p.Kind == skein.PartResult && !timed {
				t.Errorf("the part %s of event %d has the times %v to %v", p.Kind, e.Seq, p.Start, p.End)
			}
		}
	}
}
