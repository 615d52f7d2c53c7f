package interop_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
)

// A tape is a session that is recorded, of which its agent writes a file too.
type tape struct {
	*place
	n     int
	lines string // of the agent's file
}

// newTape begins to record session s, which its agent calls a.
func newTape(t *testing.T) *tape {
	tp := &tape{place: newPlace(t)}
	tp.record(skein.NewEvent(skein.KindCreated, 1, skein.Created{Surface: "acp"}))
	b := skein.Batch{Session: "s", Import: &skein.Import{File: recording.File("a", "s")}}
	if _, err := tp.store.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return tp
}

func (tp *tape) record(evs ...skein.Event) {
	tp.Helper()
	for i := range evs {
		tp.n++
		evs[i].ClientID = skein.ClientID(fmt.Sprintf("%s%d", recording.ClientIDs, tp.n))
	}
	tp.add("s", evs...)
}

// turn records a turn that begins at a time, in milliseconds, and takes 1000 of them.
func (tp *tape) turn(at skein.Time, prompt string, spent *skein.Usage) {
	tp.Helper()
	tp.record(skein.Say(at, skein.UserSays(prompt)), skein.Say(at+500, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("re " + prompt)}}),
		skein.NewEvent(skein.KindStep, at+1000, skein.Step{Phase: "finish", Request: fmt.Sprint("turn-", at), Usage: spent, Several: true}))
}

// wrote adds a turn to the agent's file.
func (tp *tape) wrote(at skein.Time, prompt string) {
	for i, l := range []map[string]any{{"say": prompt}, {"say": "full re " + prompt, "agent": true, "spent": 7}} {
		l["id"], l["at"] = fmt.Sprintf("%s-%d-%d", prompt, at, i), int64(at)+int64(i)*600
		b, _ := json.Marshal(l)
		tp.lines += string(b) + "\n"
	}
	tp.raw("a.toy", tp.lines)
}

const (
	second = 100_000
	third  = 200_000
	fourth = 300_000
)

func TestAnAgentsFileOfARecordedSessionIsThatSessions(t *testing.T) {
	tp := newTape(t)
	tp.turn(1000, "one", nil)
	tp.turn(second, "two", &skein.Usage{Input: 3, Output: 4})
	tp.wrote(1002, "one")
	tp.wrote(second+2, "two, expanded")
	if rep := tp.again(); rep.Sessions != 0 || rep.Failed != 0 {
		t.Errorf("Import of the agent's file = %+v, want no new session", rep)
	}
	if got := tp.sessions(); len(got) != 1 {
		t.Fatalf("sessions %v, want the recorded one only", got)
	}
	const recorded = "created one re one step two re two step"
	tp.wants("s", recorded+" step")
	tp.spent(14)
	tp.exact("a.toy")

	// What goes on elsewhere continues the session, and so does what is recorded later.
	tp.wrote(third, "elsewhere")
	tp.again()
	tp.wants("s", recorded+" step elsewhere full re elsewhere step")
	tp.spent(21)
	tp.turn(fourth, "three", nil)
	tp.wrote(fourth+1, "three")
	tp.again()
	tp.wants("s", recorded+" step elsewhere full re elsewhere step three re three step step")
	tp.spent(28)
	if rep := tp.again(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
	if got := tp.sessions(); len(got) != 1 {
		t.Errorf("sessions %v, want the recorded one only", got)
	}
}

func (tp *tape) spent(want int64) {
	tp.Helper()
	s, err := tp.store.Session(tp.Context(), "s")
	if err != nil || s.Usage.Tokens() != want {
		tp.Errorf("spent %d tokens (%v), want %d", s.Usage.Tokens(), err, want)
	}
}

func TestWhatARecordedTurnSpentWaitsForItsEnd(t *testing.T) {
	tp := newTape(t)
	lease, err := skein.LeasesOf(tp.store).Acquire(t.Context(), "s", skein.LeaseRequest{Program: "recorder"})
	if err != nil {
		t.Fatal(err)
	}
	e := skein.Say(1000, skein.UserSays("one"))
	e.ClientID = recording.ClientIDs + "p"
	if _, err := tp.store.Append(t.Context(), skein.Batch{Session: "s", Fence: lease.Fence, Events: []skein.Event{e}}); err != nil {
		t.Fatal(err)
	}
	tp.wrote(1001, "one")
	if rep := tp.again(); rep.Events != 0 || rep.Failed != 0 {
		t.Errorf("Import while a turn is recorded = %+v, want no events", rep)
	}
	tp.wants("s", "created one")
	// The recorder is killed: what was spent is known from the file only.
	if err := skein.LeasesOf(tp.store).Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	tp.again()
	tp.wants("s", "created one step")
	tp.spent(7)
	tp.wrote(second, "one")
	tp.again()
	tp.wants("s", "created one step one full re one step")
	tp.spent(14)
}

func TestACostThatTheAgentToldIsNotCountedTwice(t *testing.T) {
	tp := newTape(t)
	tp.turn(1000, "one", &skein.Usage{Reported: 5})
	tp.raw("a.toy", `{"id":"q","say":"one","at":1001}`+"\n"+`{"id":"a","say":"re","agent":true,"at":1200,"spent":7,"cost":5}`+"\n")
	tp.again()
	tp.spent(7)
	if s, err := tp.store.Session(t.Context(), "s"); err != nil || s.Usage.Reported != 5 {
		t.Errorf("the session cost %d (%v), want 5", s.Usage.Reported, err)
	}
}

func TestAFileWaitsWhileAnAgentOpensASession(t *testing.T) {
	p := newPlace(t)
	p.add("s", skein.NewEvent(skein.KindCreated, 1, skein.Created{Surface: "acp"}))
	put := func(f skein.SourceFile) {
		t.Helper()
		if _, err := p.store.Append(t.Context(), skein.Batch{Session: "s", Import: &skein.Import{File: f}}); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := skein.LeasesOf(p.store).Acquire(t.Context(), "s", skein.LeaseRequest{Program: "recorder"})
	if err != nil {
		t.Fatal(err)
	}
	put(recording.Opening("s", skein.At(time.Now())))
	p.write("a.toy", "a1")
	if rep := p.again(); rep.Waiting != 1 || rep.Events != 0 {
		t.Errorf("Import while an agent opens a session = %+v, want the file left for later", rep)
	}
	put(recording.Opening("s", 0))
	if rep := p.again(); rep.Sessions != 1 {
		t.Errorf("Import once it is open, and is another = %+v, want a session", rep)
	}
	put(recording.Opening("s", skein.At(time.Now())))
	if err := skein.LeasesOf(p.store).Release(t.Context(), lease); err != nil { // as when the recorder is killed
		t.Fatal(err)
	}
	p.write("b.toy", "b1")
	if rep := p.again(); rep.Sessions != 1 {
		t.Errorf("Import after the recorder died = %+v, want a session", rep)
	}
}

func TestAFileThatRepeatsARecordedSessionLaterIsThatSessions(t *testing.T) {
	tp := newTape(t)
	tp.turn(1000, "one", nil)
	tp.turn(second, "two", nil)
	tp.wrote(third, "one") // as in a fork, whose records the agent dates anew
	tp.wrote(third+5, "two")
	tp.wrote(fourth, "one")
	tp.again()
	tp.wants("s", "created one re one step two re two step one full re one step step step")
}
