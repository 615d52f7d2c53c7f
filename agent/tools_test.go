package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

func TestCallsThatCannotRunAreAnswered(t *testing.T) {
	bad := answer{message: message(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "s", Name: "note", Input: json.RawMessage(`"{broken"`)}})}
	g := open(t, calls("fly {}", "bad {}", "panics {}"), bad, says("well"))
	g.say("go", "well")
	results := g.results()
	for i, want := range []string{`No tool "fly". The tools are: look, note, bad, panics.`, "half\ngone", "the tool crashed: oh", "The input of note is not a JSON object: "} {
		if r := results[i]; !r.Failed || !strings.HasPrefix(string(r.Text), want) {
			t.Errorf("result %d is %+v, want it failed, with %q", i, r, want)
		}
	}
	s, err := g.Session(t.Context())
	if err != nil || len(s.Open) > 0 || s.Uncertain > 0 {
		t.Errorf("Session has the open calls %v and %d uncertain ones, %v, want none", s.Open, s.Uncertain, err)
	}
}

// results returns those in the session, in order.
func (g *rig) results() (all []skein.Result) {
	g.t.Helper()
	for _, e := range g.events() {
		if e.Kind != skein.KindSaid {
			continue
		}
		for _, p := range decode[skein.Message](g.t, e).Parts {
			if p.Result != nil {
				all = append(all, *p.Result)
			}
		}
	}
	return all
}

func TestANameThatNoToolHasIsNotSaidAgainWhole(t *testing.T) {
	g := open(t, calls(strings.Repeat("x", 1<<20)+" {}"), says("well"))
	g.say("go", "well")
	if r := g.results()[0]; !r.Failed || len(r.Text) > 1000 {
		t.Errorf("the result has %d bytes, want few", len(r.Text))
	}
	for _, e := range g.events() {
		if e.Kind == skein.KindTool && len(e.Payload) > 1000 {
			t.Errorf("the tool event has %d bytes, want few", len(e.Payload))
		}
	}
}

func TestWhatIsNoJSONEndsNoTurn(t *testing.T) {
	bad := calls("odd {").message
	bad.Parts = append(bad.Parts, skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: json.RawMessage("{")})
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = []tool.Tool{{Spec: spec("odd"), Run: func(context.Context, tool.Call) (tool.Output, error) {
			return tool.Output{Text: "ran", Meta: json.RawMessage("{")}, nil
		}}}
	}, answer{message: bad}, calls("odd {}"), says("well"))
	g.say("go", "well")
	if r := g.results(); len(r) != 2 || !strings.Contains(string(r[0].Text), "not a JSON object") || r[1].Text != "ran" {
		t.Errorf("the results are %+v, want that the input is no JSON, and what the tool said", r)
	}
}

func TestNoInputIsAnEmptyObject(t *testing.T) {
	g := open(t, calls("note", "note null"), says("well"))
	g.say("go", "well")
	for _, r := range g.results() {
		if r.Text != "ran {}" {
			t.Errorf("a call without input gives %q, want the tool to have run with {}", r.Text)
		}
	}
}

func TestToolsThatDoNoHarmRunSideBySide(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = append(o.Agent.Tools, tool.Tool{Spec: spec("meet"), Safe: true, Run: func(context.Context, tool.Call) (tool.Output, error) {
			all.Done()
			all.Wait() // each waits for the others
			return tool.Output{Text: "met"}, nil
		}})
	}, calls("meet {}", "meet {}", "meet {}"), says("well"))
	g.say("go", "well")
	if n := len(g.results()); n != 3 {
		t.Errorf("there are %d results, want 3", n)
	}
}

func TestOtherToolsRunInOrderAlone(t *testing.T) {
	var order []string
	runs := 0
	do := func(_ context.Context, c tool.Call) (tool.Output, error) {
		runs++
		order = append(order, c.ID)
		if runs != 1 {
			t.Errorf("%d tools run at once, want one alone", runs)
		}
		runs--
		return tool.Output{}, nil
	}
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = []tool.Tool{{Spec: spec("write"), Run: do}, {Spec: spec("read"), Safe: true, Run: do}}
	}, calls("write {}", "read {}", "write {}", "read {}"), says("well"))
	g.say("go", "well")
	if got := strings.Join(order, " "); got != "c0 c1 c2 c3" {
		t.Errorf("the calls ran in the order %s", got)
	}
}

func TestManyCallsAreBounded(t *testing.T) {
	var mu sync.Mutex
	runs, most := 0, 0
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = []tool.Tool{{Spec: spec("read"), Safe: true, Run: func(_ context.Context, c tool.Call) (tool.Output, error) {
			mu.Lock()
			runs++
			most = max(most, runs)
			mu.Unlock()
			c.Progress("half")
			mu.Lock()
			runs--
			mu.Unlock()
			return tool.Output{Text: "x"}, nil
		}}}
	}, calls("read {}", "read {}", "read {}", "read {}", "read {}", "read {}", "read {}", "read {}", "read {}"), says("well"))
	g.say("go", "well")
	if most > 4 || len(g.results()) != 9 || g.heard(agent.Output) != 9 {
		t.Errorf("%d tools ran at once, with %d results and %d pieces of output, want at most 4, and 9 of each", most, len(g.results()), g.heard(agent.Output))
	}
}

func TestAPersonIsAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		approve func(context.Context, tool.Tool, tool.Call, string) (agent.Approval, error)
		want    string
	}{
		{"who says yes", func(_ context.Context, tl tool.Tool, c tool.Call, q string) (agent.Approval, error) {
			return agent.Approval{Yes: tl.Spec.Name == "rm" && q == "Run it in /p/sub?" && c.ID == "c0"}, nil
		}, "ran"},
		{"who says no, and why", func(context.Context, tool.Tool, tool.Call, string) (agent.Approval, error) {
			return agent.Approval{Reason: "Use the trash."}, nil
		}, "This was not allowed, so it was not done. Use the trash."},
		{"who is not there", nil, "This was not allowed, so it was not done. Nobody is here to allow it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := openWith(t, func(o *agent.Options) {
				o.Approve = c.approve
				o.Agent.Tools = []tool.Tool{{
					Spec: spec("rm"),
					Ask:  func(c tool.Call) string { return "Run it in " + c.Cwd + "?" },
					Run:  func(context.Context, tool.Call) (tool.Output, error) { return tool.Output{Text: "ran"}, nil },
				}}
			}, calls("rm {}"), says("well"))
			g.say("go", "well")
			if r := g.results(); len(r) != 1 || string(r[0].Text) != c.want || r[0].Failed != (c.want != "ran") {
				t.Errorf("the model reads %+v, want %q", r, c.want)
			}
		})
	}
}

func TestAnErrorInAskingEndsTheTurn(t *testing.T) {
	g := openWith(t, func(o *agent.Options) {
		o.Approve = func(context.Context, tool.Tool, tool.Call, string) (agent.Approval, error) {
			return agent.Approval{}, errGone
		}
		o.Agent.Tools[1].Ask = func(tool.Call) string { return "?" }
	}, calls("note {}"))
	if out, err := g.Turn(t.Context(), skein.UserSays("go")); !errors.Is(err, errGone) || out.Stop != agent.Error {
		t.Errorf("Turn = %+v, %v, want %v", out, err, errGone)
	}
}

func TestBigOutputIsKept(t *testing.T) {
	named, other := skein.NewBlob([]byte("named")), skein.NewBlob([]byte("other"))
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = []tool.Tool{{Spec: spec("big"), Run: func(context.Context, tool.Call) (tool.Output, error) {
			return tool.Output{Text: "head \xff tail", Files: []skein.File{{Name: "n.txt", Blob: named.Hash}}, Blobs: []skein.Blob{named, other}}, nil
		}}}
	}, calls("big {}"), says("well"))
	g.say("go", "well")
	if r := g.results()[0]; r.Text != "head \ufffd tail" || len(r.Files) != 2 || r.Files[0].Name != "n.txt" {
		t.Errorf("the result is %+v, want both files", r)
	}
	for _, b := range []skein.Blob{named, other} {
		if got, err := g.store.Blob(t.Context(), g.ID(), b.Hash); err != nil || string(got) != string(b.Data) {
			t.Errorf("Blob(%s) = %q, %v", b.Data, got, err)
		}
	}
}

func TestAnInterruptedToolIsStoredAsWhatItReturned(t *testing.T) {
	started := make(chan struct{})
	g := openWith(t, func(o *agent.Options) {
		o.Agent.Tools = append(o.Agent.Tools, tool.Tool{Spec: spec("slow"), Run: func(ctx context.Context, _ tool.Call) (tool.Output, error) {
			close(started)
			<-ctx.Done()
			return tool.Output{Text: "half of it"}, ctx.Err()
		}})
	}, calls("slow {}", "note {}"))
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-started; stop() }()
	out, err := g.Turn(ctx, skein.UserSays("go"))
	if err != nil || out.Stop != agent.Interrupted {
		t.Errorf("Turn = %+v, %v, want it interrupted", out, err)
	}
	g.wantLog(`1 created
	2 said user "go"
	3 step start
	4 step finish
	5 said assistant call(c0 slow {}) call(c1 note {})
	6 tool c0 running
	7 tool c0 error
	8 said tool result(c0 "half of it\ncontext canceled\n[The tool was interrupted. What it did before that is not undone.]" failed)
	9 tool c1 pending
	`)
	g.say("go on", "done")
	g.wantShown(`user "go"`, `assistant call(c0 slow {}) call(c1 note {})`,
		`user result(c0 "half of it\ncontext canceled\n[The tool was interrupted. What it did before that is not undone.]" failed)`+
			` result(c1 "[Interrupted before the tool ran: it has not taken effect.]" failed) "go on"`)
}

func TestCallsOfADeadProgramAreUncertain(t *testing.T) {
	g := open(t, says("one"))
	g.say("go", "one")
	l, err := skein.LeasesOf(g.store).Acquire(t.Context(), g.ID(), skein.LeaseRequest{TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	running := func(id string, safe bool) skein.Event {
		return skein.NewEvent(skein.KindTool, 1, skein.ToolState{Call: id, State: skein.Running, Title: "title of " + id, Safe: safe})
	}
	m := calls("note {}", "look {}", "note {}").message
	_, err = g.store.Append(t.Context(), skein.Batch{Session: g.ID(), Fence: l.Fence, Events: []skein.Event{skein.Say(1, *m), running("c0", false), running("c1", true)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := skein.LeasesOf(g.store).Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	g.reopen()
	s, err := g.Session(t.Context())
	if err != nil || len(s.Open) > 0 || s.Uncertain != 1 {
		t.Errorf("Session has the open calls %v and %d uncertain ones, %v, want none and 1", s.Open, s.Uncertain, err)
	}
	all := g.events()
	if c := decode[skein.ToolState](t, all[len(all)-2]); c.State != skein.Uncertain || c.Title != "title of c0" {
		t.Errorf("the call that was running is now %+v, want it uncertain", c)
	}
	if p, err := g.Pending(t.Context()); !p || err != nil {
		t.Errorf("Pending = %v, %v, want true", p, err)
	}
	if _, err := g.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(g.results()) != 0 {
		t.Errorf("a call of the dead program was run again: %+v", g.results())
	}
}

func TestCallsGetIDsOfTheirOwn(t *testing.T) {
	none := answer{message: message(
		skein.Part{Kind: skein.PartCall, Call: &skein.Call{Name: "note", Input: json.RawMessage(`{"n":1}`)}},
		skein.Part{Kind: skein.PartCall, Call: &skein.Call{Name: "note", Input: json.RawMessage(`{"n":2}`)}},
	)}
	g := open(t, none, calls("note {}"), calls("note {}"), says("well"))
	g.say("go", "well")
	seen := map[string]bool{}
	for _, r := range g.results() {
		if r.CallID == "" || seen[r.CallID] {
			t.Errorf("the call ID %q is empty or occurs twice", r.CallID)
		}
		seen[r.CallID] = true
	}
	if len(seen) != 4 || none.message.Parts[0].Call.ID != "" {
		t.Errorf("%d calls ran, want 4; the provider's own message has the ID %q, want it left alone", len(seen), none.message.Parts[0].Call.ID)
	}
}

func spec(name string) llm.ToolSpec {
	return llm.ToolSpec{Name: name, Doc: name, Schema: []byte(`{"type":"object"}`)}
}
