package interoptest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// reportsLosses checks, for a format that can be written: whatever a session has besides its
// messages is in what was written, or is reported as lost, not both. One thing at a time
// is added to a session, and looked for in what another store reads there without the
// side file.
func (s writes) reportsLosses(t *testing.T) {
	plain := s.tells(t, addedProperty{})
	for _, a := range additions() {
		t.Run(a.name, func(t *testing.T) {
			got := s.tells(t, a)
			switch lacks := slices.Contains(s.Lacks, a.name); {
			case !got.held && a.told == nil && len(got.told) <= len(plain.told):
				t.Errorf("%s is neither read again nor told to be lost: %q", a.name, got.told)
			case !got.held && a.told != nil && !slices.ContainsFunc(got.told, a.told.MatchString):
				t.Errorf("that %s is lost is not told in words that match %s: %q", a.name, a.told, got.told)
			case !got.held && !lacks:
				t.Errorf("%s is not written, though the program's files can hold it: %q", a.name, got.told)
			case got.held && lacks:
				t.Errorf("%s is read again, though the program's files are said to lack it", a.name)
			case got.held && a.told != nil && slices.ContainsFunc(got.told, a.lost):
				t.Errorf("%s is read again, though it is told to be lost: %q", a.name, got.told)
			}
		})
	}
	for _, lack := range s.Lacks {
		if lack != "a fork's parent" && lack != "a child's parent" && !slices.ContainsFunc(additions(), func(a addedProperty) bool { return a.name == lack }) {
			t.Errorf("the program's files are said to lack %s, which nothing here adds", lack)
		}
	}
}

// hangs checks, for a format that can be written: that a session is a fork or child of
// another is read again, or is reported as lost, not both; and that it is written where
// the other one is not.
func (s writes) hangs(t *testing.T) {
	for _, why := range []skein.Why{skein.Fork, skein.Child} {
		from, parent, own := family(t, why)
		alone := filepath.Join(t.TempDir(), "alone")
		if _, err := writeback.Export(t.Context(), from, s.Format, own, alone, writeback.Exports{}); err != nil {
			t.Errorf("Export of the %s without its parent = %v", why, err)
		}
		home := filepath.Join(t.TempDir(), "home")
		var told []string
		for _, id := range []skein.SessionID{parent, own} {
			done, err := writeback.Export(t.Context(), from, s.Format, id, home, writeback.Exports{NoChildren: true})
			if err != nil {
				t.Fatalf("Export(%s) = %v", id, err)
			}
			told = nil
			for _, l := range done[0].Losses {
				told = append(told, l.What)
			}
		}
		held, n := s.parents(t, home)
		is, lacks := slices.Contains(told, "its parent session: left out"), slices.Contains(s.Lacks, "a "+string(why)+"'s parent")
		if is == held || lacks == held || n != 2 {
			t.Errorf("%d sessions; the %s has a parent where it is read again: %v; told to lack it: %v, %q; the program's files are said to lack it: %v", n, why, held, is, told, lacks)
		}
	}
}

// family returns a store with a session and its fork or child.
func family(t *testing.T, why skein.Why) (_ *memory.Store, parent, own skein.SessionID) {
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	at := skein.At(epoch)
	parent, own = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d24"
	says := func(text string) skein.Message {
		return skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{skein.TextPart(text)}}
	}
	begin := skein.Created{Cwd: "/home/ada/pear", Project: "/home/ada/pear", Agent: "skein", Provider: "anthropic", Model: "claude-sonnet-4-5", Program: "skein"}
	branch := begin
	branch.Parent = &skein.Parent{Session: parent, Seq: 3, Why: why}
	for _, b := range []skein.Batch{
		{Session: parent, Events: []skein.Event{skein.NewEvent(skein.KindCreated, at, begin), skein.Say(at+1000, skein.UserSays("how many pears?")), skein.Say(at+2000, says("seven")), skein.Say(at+3000, skein.UserSays("and apples?")), skein.Say(at+4000, says("none"))}},
		{Session: own, Events: []skein.Event{skein.NewEvent(skein.KindCreated, at+5000, branch), skein.Say(at+6000, skein.UserSays("and plums?")), skein.Say(at+7000, says("two"))}},
	} {
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return s, parent, own
}

// parents reads what is in home without its side files, and reports whether one of its
// sessions has a parent, and how many there are.
func (s writes) parents(t *testing.T, home string) (held bool, n int) {
	t.Helper()
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	(&anew{Suite: s.Suite, t: t, home: home}).aside()
	to := memory.New()
	defer to.Close()
	s.bring(t, to, home)
	for sess, err := range to.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		held, n = held || sess.Parent != nil, n+1
	}
	return held, n
}

// unpinned checks, for a format that can be written: what is written of a session of
// another program does not say which model the program is to continue with, and that is
// reported. If a session's model only records which one answered, it is kept
// (Suite.Recorded).
func (s writes) unpinned(t *testing.T) {
	const other = "gpt-6"
	model := other
	wrote := s.tells(t, addedProperty{evs: []skein.Event{skein.NewEvent(skein.KindChanged, skein.At(epoch)+6500, skein.Changed{Model: &model})}, held: func(_ skein.Session, evs []skein.Event) bool {
		return slices.ContainsFunc(evs, func(e skein.Event) bool {
			return (e.Kind == skein.KindCreated || e.Kind == skein.KindChanged) && (strings.Contains(string(e.Payload), other) || strings.Contains(string(e.Payload), "claude-sonnet-4-5"))
		})
	}})
	told := slices.ContainsFunc(wrote.told, func(what string) bool { return strings.HasPrefix(what, "model: ") })
	switch {
	case wrote.held && !s.Recorded:
		t.Error("what is written sets the model that another program used")
	case !told && s.Format.Resume != nil:
		t.Errorf("that the program goes on with its own model is not told: %q", wrote.told)
	}
}

// addedProperty is a property added to a session.
type addedProperty struct {
	name  string
	told  *regexp.Regexp // what is reported about it, if more may be lost with it; nil for anything
	begin func(*skein.Created)
	evs   []skein.Event
	blobs []skein.Blob                                     // that evs refer to
	held  func(sess skein.Session, evs []skein.Event) bool // whether it is read again
}

// lost reports whether what is told is that the property is lost, not that something
// else is written in its place.
func (a addedProperty) lost(told string) bool {
	return a.told.MatchString(told) && !strings.Contains(told, "in place of") && !strings.Contains(told, ": as ")
}

func additions() []addedProperty {
	const commit = "64f8faf7b6145f03e7399048b6194e7ea1031d4d"
	at := skein.At(epoch) + 6500
	yes, tags, status, cwd := true, []string{"pear"}, "waiting", "/home/ada/plum"
	has := func(k skein.Kind) func(skein.Session, []skein.Event) bool {
		return func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool { return e.Kind == k })
		}
	}
	says := func(words string) func(skein.Session, []skein.Event) bool {
		return func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool { return strings.Contains(string(e.Payload), words) })
		}
	}
	prompt, tools := skein.NewBlob([]byte("Know your pears.")), skein.NewBlob([]byte(`[{"name":"pick","description":"Pick a pear","input_schema":{"type":"object"}}]`))
	step := skein.Step{Phase: "finish", Provider: "anthropic", Model: "claude-sonnet-4-5", Error: &skein.ErrorInfo{Kind: "overloaded", Message: "busy"}}
	paid := skein.Message{
		Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Request: "req_2", Tier: "priority", Parts: []skein.Part{skein.TextPart("ripe")},
		Usage: &skein.Usage{Input: 7, CacheWrite: 9, CacheHour: 5, Output: 3, Requests: 1},
	}
	priced, sum := paid, skein.Step{Phase: "finish", Provider: "anthropic", Model: "claude-sonnet-4-5", Request: "req_2", Usage: &skein.Usage{Input: 7, CacheRead: 4, Output: 3}}
	priced.Tier, priced.Usage = "", &skein.Usage{Input: 7, Output: 3, Requests: 1, Reported: 5e7}
	other := sum
	other.Request, other.Mode = "req_3", "title"
	begun := priced
	begun.Usage = &skein.Usage{Output: 3}
	opus := skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-opus-4-9", Parts: []skein.Part{skein.TextPart("many")}}
	return []addedProperty{
		{name: "a title", told: regexp.MustCompile(`title`), evs: []skein.Event{skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: "Pears", By: skein.ByPerson})}, held: func(s skein.Session, _ []skein.Event) bool { return s.Title == "Pears" }},
		{name: "a description", evs: []skein.Event{skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: "Pears", Description: "All about pears", By: skein.ByPerson})}, held: func(s skein.Session, _ []skein.Event) bool {
			return s.Title == "Pears" && s.Description == "All about pears"
		}},
		{name: "that it has no folder", told: regexp.MustCompile(`^folder: `), begin: func(c *skein.Created) { c.Cwd, c.Project = "", "" }, held: func(s skein.Session, _ []skein.Event) bool { return s.Cwd == "" }},
		{name: "a profile", begin: func(c *skein.Created) { c.Profile = "foundation" }, held: func(s skein.Session, _ []skein.Event) bool { return s.Profile == "foundation" }},
		{name: "an agent's settings", told: regexp.MustCompile(`^settings of the agent: `), begin: func(c *skein.Created) {
			c.Config = []byte(`{"agent_file":"/home/ada/pear.md","description":"picks pears","timeout_ms":90000,"max_steps":7}`)
		}, held: says("picks pears")},
		{name: "a key", begin: func(c *skein.Created) { c.Key = "cli:pear" }, held: func(s skein.Session, _ []skein.Event) bool { return s.Key == "cli:pear" }},
		{name: "a pin", evs: []skein.Event{skein.NewEvent(skein.KindChanged, at, skein.Changed{Pinned: &yes})}, held: func(s skein.Session, _ []skein.Event) bool { return s.Pinned }},
		{name: "tags", evs: []skein.Event{skein.NewEvent(skein.KindChanged, at, skein.Changed{Tags: &tags})}, held: func(s skein.Session, _ []skein.Event) bool { return len(s.Tags) == 1 }},
		{name: "a status", evs: []skein.Event{skein.NewEvent(skein.KindChanged, at, skein.Changed{Status: &status})}, held: func(s skein.Session, _ []skein.Event) bool { return s.Status == status }},
		{name: "a request that failed", evs: []skein.Event{skein.NewEvent(skein.KindStep, at, step)}, held: has(skein.KindStep)},
		{name: "a message that failed", told: regexp.MustCompile(`error|fail`), evs: []skein.Event{skein.Say(at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{}, Error: &skein.ErrorInfo{Kind: "denied", Message: "no more pears", Status: 401}})}, held: says("no more pears")},
		{name: "a system prompt", told: regexp.MustCompile(`system prompt`), blobs: []skein.Blob{prompt, tools}, evs: []skein.Event{skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "start", Provider: "anthropic", Prompt: string(prompt.Hash), Tools: string(tools.Hash), Kept: true})}, held: says("Know your pears.")},
		{name: "when a tool ran", evs: []skein.Event{skein.NewEvent(skein.KindTool, at, skein.ToolState{Call: "toolu_1", State: skein.Completed, Start: at, End: at + 10})}, held: has(skein.KindTool)},
		{name: "that it was resumed", evs: []skein.Event{skein.NewEvent(skein.KindResumed, at, skein.Program{Program: "skein"})}, held: has(skein.KindResumed)},
		{name: "that it ended", evs: []skein.Event{skein.NewEvent(skein.KindEnded, at, skein.Program{Program: "skein", How: "done"})}, held: has(skein.KindEnded)},
		{name: "a note", evs: []skein.Event{skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "hook", Data: []byte(`{"pears":7}`)})}, held: says(`"pears":7`)},
		{name: "reasoning", evs: []skein.Event{skein.Say(at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{{Kind: skein.PartReasoning, Text: "pears grow"}, skein.TextPart("hm")}})}, held: func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool {
				m, err := skein.Decode[skein.Message](e)
				return e.Kind == skein.KindSaid && err == nil && slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartReasoning && p.Text == "pears grow" })
			})
		}},
		{name: "steering", evs: []skein.Event{skein.Say(at, skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("only ripe ones")}})}, held: func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool {
				m, err := skein.Decode[skein.Message](e)
				return e.Kind == skein.KindSaid && err == nil && m.Role == skein.RoleSteer
			})
		}},
		{name: "instructions", evs: []skein.Event{skein.Say(at, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("Count pears.")}})}, held: func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool {
				m, err := skein.Decode[skein.Message](e)
				return e.Kind == skein.KindSaid && err == nil && m.Role == skein.RoleSystem && strings.Contains(m.Words(), "Count pears.")
			})
		}},
		{name: "which model answered", told: regexp.MustCompile(`^which model answered`), evs: []skein.Event{skein.Say(at, opus)}, held: says("claude-opus-4-9")},
		{name: "what it used", evs: []skein.Event{skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "finish", Provider: "anthropic", Model: "claude-sonnet-4-5", Request: "req_1", Usage: &skein.Usage{Input: 7, Output: 3, Requests: 1}})}, held: func(s skein.Session, _ []skein.Event) bool { return s.Usage.Input == 7 }},
		{name: "what a message used", told: regexp.MustCompile(`used`), evs: []skein.Event{skein.Say(at, paid)}, held: func(s skein.Session, _ []skein.Event) bool { return s.Usage.Input == 7 && s.Usage.Output == 3 }},
		{name: "what is known of a message's request later", told: regexp.MustCompile(`used|request`), evs: []skein.Event{skein.Say(at, begun), skein.NewEvent(skein.KindStep, at+100, sum)}, held: func(s skein.Session, _ []skein.Event) bool {
			return s.Usage.Input == 7 && s.Usage.CacheRead == 4 && s.Usage.Output == 3
		}},
		{name: "what another request used", told: regexp.MustCompile(`used|request`), evs: []skein.Event{skein.Say(at, begun), skein.NewEvent(skein.KindStep, at+100, other)}, held: func(s skein.Session, _ []skein.Event) bool {
			return s.Usage.Input == 7 && s.Usage.CacheRead == 4 && s.Usage.Output == 6
		}},
		{name: "a recorded cost", told: regexp.MustCompile(`cost|used`), evs: []skein.Event{skein.Say(at, priced)}, held: func(s skein.Session, _ []skein.Event) bool { return s.Usage.Reported == 5e7 }},
		{name: "what a cache keeps for an hour", told: regexp.MustCompile(`hour|used`), evs: []skein.Event{skein.Say(at, paid)}, held: func(s skein.Session, _ []skein.Event) bool { return s.Usage.CacheHour == 5 }},
		{name: "a service tier", told: regexp.MustCompile(`tier`), evs: []skein.Event{skein.Say(at, paid)}, held: func(_ skein.Session, evs []skein.Event) bool {
			return slices.ContainsFunc(evs, func(e skein.Event) bool {
				var paid struct{ Tier string }
				return json.Unmarshal(e.Payload, &paid) == nil && paid.Tier == "priority"
			})
		}},
		{name: "a change of folder", evs: []skein.Event{skein.NewEvent(skein.KindChanged, at, skein.Changed{Cwd: &cwd})}, held: func(s skein.Session, _ []skein.Event) bool { return s.Cwd == cwd }},
		{name: "a repository", told: regexp.MustCompile(`^repository: `), begin: func(c *skein.Created) { c.Checkout = &skein.Checkout{Repository: "example.com/ada/pear"} }, held: func(s skein.Session, _ []skein.Event) bool {
			return s.Checkout.Repository == "example.com/ada/pear"
		}},
		{name: "a branch", told: regexp.MustCompile(`^branch: `), begin: func(c *skein.Created) { c.Checkout = &skein.Checkout{Branch: "ripe"} }, held: func(s skein.Session, _ []skein.Event) bool { return s.Checkout.Branch == "ripe" }},
		{name: "a commit", told: regexp.MustCompile(`^commit: `), begin: func(c *skein.Created) { c.Checkout = &skein.Checkout{Commit: commit} }, held: func(s skein.Session, _ []skein.Event) bool { return s.Checkout.Commit == commit }},
		{name: "a change of branch", told: regexp.MustCompile(`^branch: `), begin: func(c *skein.Created) { c.Checkout = &skein.Checkout{Branch: "green"} }, evs: []skein.Event{skein.NewEvent(skein.KindChanged, at, skein.Changed{Checkout: &skein.Checkout{Branch: "ripe"}})}, held: func(s skein.Session, evs []skein.Event) bool {
			return s.Checkout.Branch == "ripe" && says(`"branch":"green"`)(s, evs)
		}},
		{name: "a compaction", evs: []skein.Event{skein.NewEvent(skein.KindCompacted, at, skein.Compacted{To: 3, Summary: "There are pears."})}, held: says("There are pears.")},
	}
}

// readBack is what is reported of a session that was written and read again.
type readBack struct {
	held bool
	told []string
	home string
}

// untitled checks, for a format that can be written: text wrapped by an agent's program
// is not a title for another program.
func (s writes) untitled(t *testing.T) {
	const title = "<local-command-caveat>Caveat of pears</local-command-caveat>"
	titled := skein.NewEvent(skein.KindTitled, skein.At(epoch)+6500, skein.Titled{Title: title, By: skein.ByModel})
	wrote := s.tells(t, addedProperty{begin: func(c *skein.Created) { c.Title, c.Origin = title, &skein.Origin{Format: "elsewhere", ID: "pears"} }, evs: []skein.Event{titled}})
	for _, f := range files(t, wrote.home) {
		if strings.Contains(string(read(t, f)), "Caveat of pears") {
			t.Errorf("%s has the title %s", f, title)
		}
	}
}

// tells writes a session with what was added, and reads it again.
func (s writes) tells(t *testing.T, a addedProperty) (out readBack) {
	t.Helper()
	from := memory.New()
	defer from.Close()
	at := skein.At(epoch)
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23"
	begin := skein.Created{Cwd: "/home/ada/pear", Project: "/home/ada/pear", Agent: "skein", Provider: "anthropic", Model: "claude-sonnet-4-5", Program: "skein"}
	if a.begin != nil {
		a.begin(&begin)
	}
	says := func(parts ...skein.Part) skein.Message {
		return skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: parts}
	}
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "toolu_1", Name: "bash", Input: []byte(`{"command":"ls"}`)}}
	result := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "toolu_1", Name: "bash", Text: "pears"}}
	evs := []skein.Event{
		skein.NewEvent(skein.KindCreated, at, begin),
		skein.Say(at+1000, skein.UserSays("how many?")),
		skein.Say(at+2000, says(call)),
		skein.Say(at+3000, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{result}}),
		skein.Say(at+4000, says(skein.TextPart("seven"))),
	}
	evs = append(append(evs, a.evs...), skein.Say(at+7000, skein.UserSays("and apples?")), skein.Say(at+8000, says(skein.TextPart("none"))))
	if _, err := from.Append(t.Context(), skein.Batch{Session: id, Events: evs, Blobs: a.blobs}); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "home")
	done, err := writeback.Export(t.Context(), from, s.Format, id, home, writeback.Exports{})
	if err != nil {
		t.Fatalf("Export() = %v", err)
	}
	for _, l := range done[0].Losses {
		out.told = append(out.told, l.What)
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	out.home = home
	(&anew{Suite: s.Suite, t: t, home: home}).aside()
	to := memory.New()
	defer to.Close()
	s.bring(t, to, home)
	ids := roots(t, to)
	if len(ids) != 1 || a.held == nil {
		return out
	}
	sess, err := to.Session(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	var back []skein.Event
	for e, err := range to.Events(t.Context(), ids[0], 0) {
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, e)
	}
	out.held = a.held(sess, back)
	return out
}
