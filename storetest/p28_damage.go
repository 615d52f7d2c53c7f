package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

func damage() []check {
	return []check{
		{name: "altered text is never shown", hurt: alteredText},
		{name: "damage hides nothing else", hurt: aroundDamage},
		{name: "a repair does not bless", hurt: noBlessing},
		{name: "a session with a damaged event goes on", hurt: goesOn},
		{name: "a checksum fits what was scrubbed, moved and amended", run: sumsFit},
	}
}

// price is a session with a price in it, in an event without a client ID that
// is altered as a text editor would do it.
func (t *test) price(events int) {
	t.Helper()
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{})}
	for i := 2; i <= events; i++ {
		text := fmt.Sprintf("this is what was said as event %d", i)
		if i == 3 {
			text = "the price of that is 100 euros, and " + strings.Repeat("no more, ", 10)
		}
		evs = append(evs, skein.Say(noon, skein.UserSays(text)))
	}
	t.append(skein.Batch{Session: "a", Events: evs})
	t.options.Hurt(t.T, t.address, "100 euros", "900 euros")
}

func alteredText(t *test) {
	t.price(5)
	n := 0
	var last error
	for e, err := range t.s.Events(t.Context(), "a", 0) {
		if last = err; err == nil {
			n++
		}
		if strings.Contains(string(e.Payload), "900") {
			t.Errorf("Events yields the altered payload %s", e.Payload)
		}
	}
	var bad *skein.DamagedError
	if !errors.As(last, &bad) || bad.Seq != 3 || bad.Kind != skein.KindSaid || !errors.Is(last, skein.ErrCorrupt) || n != 2 {
		t.Errorf("Events yields %d events and %v, want 2 and then that event 3, a said one, is damaged", n, last)
	}
	feed := t.feed(t.s, "")
	for seq := range skein.Seq(5) {
		f, err, ok := feed.next()
		if !ok || err != nil || f.Event.Seq != seq+1 || f.Damaged != (seq+1 == 3) {
			t.Errorf("Feed yields event %d, damaged %v (%v), want %d, and 3 alone damaged", f.Event.Seq, f.Damaged, err, seq+1)
		}
	}
	if got, err := t.s.Newest(t.Context(), "a", 10, 0); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Newest = %d messages, %v, want %v", len(got), err, skein.ErrCorrupt)
	}
	if got, err := t.s.Newest(t.Context(), "a", 2, 0); err != nil || len(got) != 2 {
		t.Errorf("Newest 2, which are whole, = %d, %v", len(got), err)
	}
	if got, err := t.s.Window(t.Context(), "a", 10); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Window = %d events, %v, want %v", len(got), err, skein.ErrCorrupt)
	}
	r, err := t.s.Search(t.Context(), skein.Query{Substring: "euros"})
	for _, h := range r.Hits {
		if strings.Contains(h.Snippet, "900") {
			t.Errorf("Search shows the altered text %q", h.Snippet)
		}
	}
	if err != nil {
		t.Errorf("Search = %v", err)
	}
}

func aroundDamage(t *test) {
	t.price(7)
	told := map[skein.Seq]bool{}
	s := skein.Around(t.s, func(id skein.SessionID, bad *skein.DamagedError) { told[bad.Seq] = true })
	seq := skein.Seq(0)
	for e, err := range s.Events(t.Context(), "a", 0) {
		if seq++; err != nil || e.Seq != seq {
			t.Fatalf("Around: Events yields event %d, %v, want %d", e.Seq, err, seq)
		}
	}
	if seq != 7 || len(told) != 1 || !told[3] {
		t.Errorf("Around: Events yields %d events and tells of %v, want 7 and of 3", seq, told)
	}
	for _, before := range []skein.Seq{0, 6} {
		got, err := s.Newest(t.Context(), "a", 10, before)
		want := 6
		if before != 0 {
			want = 4
		}
		if err != nil || len(got) != want || !strings.Contains(got[1].Message.Words(), "damaged") || strings.Contains(got[1].Message.Words(), "euros") {
			t.Errorf("Around: Newest before %d = %+v, %v, want %d messages, the second damaged", before, got, err, want)
		}
	}
	if got, err := s.Window(t.Context(), "a", 5); err != nil || len(got) < 5 {
		t.Errorf("Around: Window 5 = %d events, %v", len(got), err)
	}
}

func noBlessing(t *test) {
	ex, ok := t.s.(skein.Examiner)
	if !ok {
		t.Skip("SKIPPED: the store cannot examine itself")
	}
	t.price(5)
	for range 2 {
		found := false
		for f, err := range ex.Examine(t.Context(), skein.Examination{Repair: true}) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || f.Session == "a" && f.Level == skein.Damaged && strings.Contains(f.Text, "event 3") && !f.Mended
		}
		if !found {
			t.Error("Examine with Repair does not say that event 3 of a is damaged")
		}
	}
	var bad *skein.DamagedError
	for _, err := range t.s.Events(t.Context(), "a", 2) {
		if !errors.As(err, &bad) || bad.Seq != 3 {
			t.Errorf("after a repair Events yields %v, want that event 3 is damaged", err)
		}
		break
	}
}

// goesOn damages one event of each kind, each in a session of its own, and wants
// that whatever is appended there, or forked from it, is taken.
func goesOn(t *test) {
	bruised := "bruised"
	kinds := map[skein.SessionID]skein.Event{
		"said":       user(bruised),
		"tool":       skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: bruised, State: skein.Running}),
		"step":       skein.NewEvent(skein.KindStep, noon, skein.Step{Phase: bruised}),
		"titled":     titled(bruised),
		"changed":    changed(skein.Changed{Project: &bruised}),
		"compacted":  skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 3, Summary: bruised}),
		"rewound":    rewound(3),
		"amended":    amend(2, user(bruised)),
		"withdrawn":  withdraw(3),
		"resumed":    skein.NewEvent(skein.KindResumed, noon, skein.Program{Host: bruised}),
		"ended":      skein.NewEvent(skein.KindEnded, noon, skein.Program{How: bruised}),
		"noted":      noted(bruised),
		"some-other": {Kind: "some-other", Payload: []byte(`{"a":"bruised"}`)},
	}
	before := map[skein.SessionID]skein.Session{}
	begin := func(id skein.SessionID, c skein.Created) {
		t.add(id, skein.NewEvent(skein.KindCreated, noon, c), user("one"), answered("1"), user("two"), piece("p", "x"))
	}
	begin("created", skein.Created{Cwd: bruised})
	kinds["created"] = noted("whole")
	for id, e := range kinds {
		if id != "created" {
			begin(id, skein.Created{})
		}
		t.add(id, e, user("three"), piece("q", "y"))
		before[id] = t.session(id)
	}
	t.options.Hurt(t.T, t.address, bruised, "BRUISED")
	t.options.Hurt(t.T, t.address, `{"to":3}`, `{"to":1}`)
	t.options.Hurt(t.T, t.address, `{"seq":3,"withdrawn":true}`, `{"seq":2,"withdrawn":true}`)
	t.s = t.dial() // it has seen nothing
	for id, was := range before {
		stands := func(what string, messages int) {
			t.Helper()
			if is := t.session(id); is.Messages != messages {
				t.Errorf("%s, of which an event is damaged, has %d messages after %s, want %d", id, is.Messages, what, messages)
			}
		}
		t.add(id, user("more"), piece("q", "z"))
		stands("a message and a piece", was.Messages+1)
		t.add(id, rewound(was.Last))
		stands("a rewind", was.Messages)
		t.add(id, withdraw(7))
		stands("a message was withdrawn", was.Messages-1)
		t.add(id, amend(7, user("three again")))
		stands("it was put back", was.Messages)
		if is := t.session(id); is.LastPrompt != "three again" {
			t.Errorf("%s, of which an event is damaged, has the last prompt %q, want three again", id, is.LastPrompt)
		}
		t.add(id+"-at-4", fork(id, 4), user("own"))
		t.add(id+"-at-8", fork(id, 8), user("own"), rewound(8))
		t.add(id+"-at-end", fork(id, t.session(id).Last), user("own"))
		t.add(id, rewound(5), user("another"))
		t.add(id, rewound(was.Last), user("a redo"))
		t.add(id, rewound(1))
		stands("all was taken back", 0)
	}
}

// sumsFit does what changes rows of events and reads them again.
func sumsFit(t *test) {
	long := strings.Repeat("a long text that stands once, ", 100)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, noon, skein.Created{}),
		skein.Say(noon, skein.UserSays("my password is hunter22, and "+long)),
		skein.Say(noon, skein.UserSays("short")),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Payload: skein.Say(noon, skein.UserSays("amended: "+long)).Payload}),
	}})
	t.append(skein.Batch{Session: "f", Events: []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 4, Why: skein.Fork}})}})
	if _, err := t.s.Scrub(t.Context(), "a", []string{"hunter22"}); err != nil {
		t.Fatal(err)
	}
	if _, err := t.s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range t.s.Events(t.Context(), "f", 0) {
		if n++; err != nil {
			t.Fatalf("event %d of a fork: %v", n, err)
		}
	}
}
