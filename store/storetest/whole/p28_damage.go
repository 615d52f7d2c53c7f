package whole

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func damage() []harness.Check {
	return []harness.Check{
		{Name: "altered text is never shown", Hurt: alteredText},
		{Name: "altered rows are never shown", Hurt: alteredRows},
		{Name: "what is lost of a row is marked", Hurt: lostRow},
		{Name: "damage hides nothing else", Hurt: aroundDamage},
		{Name: "a repair does not bless", Hurt: noBlessing},
		{Name: "a session with a damaged event goes on", Hurt: goesOn},
		{Name: "a scrub goes around damaged events", Hurt: scrubsAround},
		{Name: "a damaged block loses its own records only", Hurt: recordsAround},
		{Name: "a flipped bit of a source record is never shown", Hurt: recordFlipped},
		{Name: "a file with damaged records goes on", Hurt: recordsGoOn},
		{Name: "a damaged event loses its own record only", Hurt: recordsOfDamaged},
		{Name: "what is brought again heals its blobs", Hurt: blobsHeal},
		{Name: "a repair keeps blobs whose references were lost", Hurt: lostRefs},
		{Name: "what stands in for a damaged event is marked", Run: markedDamaged},
		{Name: "a checksum fits what was scrubbed, moved and amended", Run: sumsFit},
	}
}

// price adds a session with a price in it, in an event without a client ID that
// is altered as with a text editor.
func price(t *harness.Test, events int) {
	t.Helper()
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, fixture.Noon, skein.Created{})}
	for i := 2; i <= events; i++ {
		text := fmt.Sprintf("this is what was said as event %d", i)
		if i == 3 {
			text = "the price of that is 100 euros, and " + strings.Repeat("no more, ", 10)
		}
		evs = append(evs, skein.Say(fixture.Noon, skein.UserSays(text)))
	}
	t.Append(skein.Batch{Session: "a", Events: evs})
	t.Options.Hurt(t.T, t.Address, "100 euros", "900 euros")
}

// markedDamaged checks it with the event that a copy of a damaged session stores.
func markedDamaged(t *harness.Test) {
	lost := (&skein.DamagedError{Seq: 3, Kind: skein.KindSaid, Role: skein.RoleUser, Err: skein.ErrSum}).Placeholder()
	lost.Seq = 0
	t.Add("a", fixture.Created(), fixture.User("one"), lost, fixture.User("two"))
	for i, e := range t.Newest("a", 3, 0) {
		if e.Damaged != (i == 1) {
			t.Errorf("message %d of Newest, %+v, is damaged %v, want the second alone", e.Seq, e.Message, e.Damaged)
		}
	}
}

func alteredText(t *harness.Test) {
	price(t, 5)
	n := 0
	var last error
	for e, err := range t.Store.Events(t.Context(), "a", 0) {
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
	feed := t.Feed(t.Store, "")
	for seq := range skein.Seq(5) {
		f, err, ok := feed.Next()
		if !ok || err != nil || f.Event.Seq != seq+1 || f.Damaged != (seq+1 == 3) {
			t.Errorf("Feed yields event %d, damaged %v (%v), want %d, and 3 alone damaged", f.Event.Seq, f.Damaged, err, seq+1)
		}
	}
	if got, err := t.Store.Newest(t.Context(), "a", 10, 0); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Newest = %d messages, %v, want %v", len(got), err, skein.ErrCorrupt)
	}
	if got, err := t.Store.Newest(t.Context(), "a", 2, 0); err != nil || len(got) != 2 {
		t.Errorf("Newest 2, which are whole, = %d, %v", len(got), err)
	}
	around, err := lenient.Store(t.Store, nil).Newest(t.Context(), "a", 10, 0)
	if err != nil || len(around) != 4 {
		t.Errorf("Newest around damage = %d messages, %v, want 4", len(around), err)
	}
	for _, e := range around {
		if e.Damaged != (e.Seq == 3) {
			t.Errorf("message %d of Newest around damage is damaged %v, want 3 alone", e.Seq, e.Damaged)
		}
	}
	if got, err := t.Store.Window(t.Context(), "a", 10); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Window = %d events, %v, want %v", len(got), err, skein.ErrCorrupt)
	}
	r, err := t.Store.Search(t.Context(), skein.Query{Substring: "euros"})
	for _, h := range r.Hits {
		if strings.Contains(h.Snippet, "900") {
			t.Errorf("Search shows the altered text %q", h.Snippet)
		}
	}
	if err != nil {
		t.Errorf("Search = %v", err)
	}
}

// alteredRows checks that the texts in a session's row are shown, and inherited by a
// fork, only while they are what was stored: otherwise they are those of its events.
// An append does not make an altered row valid; a repair does.
func alteredRows(t *harness.Test) {
	tags := []string{"bill 100"}
	t.Add("a", skein.NewEvent(skein.KindCreated, fixture.Noon, skein.Created{Agent: "agent-100", Cwd: "/100"}), fixture.User("pay 100 euros"), fixture.User("now pay 100 euros"),
		fixture.Titled("the 100 euros"), fixture.Changed(skein.Changed{Tags: &tags}))
	t.Add("untitled", fixture.Created(), fixture.User("pay 100 euros"))
	t.Add("f", fixture.Fork("a", 3), fixture.User("go on"))
	texts := func(s skein.Store) map[skein.SessionID][]string {
		t.Helper()
		all := map[skein.SessionID][]string{}
		for x, err := range s.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			one, err := s.Session(t.Context(), x.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []skein.Session{x, one} {
				all[x.ID] = append(append(all[x.ID], x.Title, x.First, x.LastPrompt, x.Agent, x.Cwd, fmt.Sprint(x.Damaged)), x.Tags...)
			}
		}
		return all
	}
	truth := texts(t.Store)
	t.Options.HurtRow(t.T, t.Address, "100", "900")
	harness.Equal(t, "sessions whose rows were altered", texts(t.Store), truth)
	t.Store = t.Dial() // a new handle has cached nothing
	t.Add("g", fixture.Fork("a", 5))
	if g := t.Session("g"); g.Agent != "agent-100" || g.Cwd != "/100" || g.First != "pay 100 euros" || g.LastPrompt != "now pay 100 euros" {
		t.Errorf("a fork of a session whose row was altered is %+v, want what the events say", g)
	}
	for _, id := range []skein.SessionID{"a", "untitled", "f"} {
		t.Add(id, fixture.Noted("x"))
	}
	if _, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "g", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	harness.Equal(t, "sessions that were written to", texts(t.Store), truth)
	ex, ok := skein.PartOf[inspect.Examiner](t.Store)
	if !ok {
		return
	}
	for i, want := range []int{3, 3, 0} {
		found := 0
		for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: i == 1}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Level == inspect.Damaged {
				found++
			}
		}
		if found != want {
			t.Errorf("examination %d finds %d damaged sessions, want %d", i+1, found, want)
		}
		harness.Equal(t, "sessions that were examined", texts(t.Store), truth)
	}
}

// lostRow checks that a session whose row was altered, and whose events were too, is
// marked, and that a repair does not accept what is left.
func lostRow(t *harness.Test) {
	t.Add("a", skein.NewEvent(skein.KindCreated, fixture.Noon, skein.Created{Title: "the 100 euros"}), fixture.Answered("1"))
	t.Add("b", fixture.Created(), fixture.User("whole"))
	t.Options.Hurt(t.T, t.Address, "100 euros", "900 euros")
	t.Options.HurtRow(t.T, t.Address, "100 euros", "900 euros")
	t.Store = t.Dial()
	look := func() {
		t.Helper()
		for x, err := range t.Store.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if x.Damaged != (x.ID == "a") || x.Damaged && x.Name() != "damaged session a" {
				t.Errorf("the list says %q of session %s, damaged %v, want that a alone is", x.Name(), x.ID, x.Damaged)
			}
		}
	}
	look()
	if ex, ok := skein.PartOf[inspect.Examiner](t.Store); ok {
		for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: true}) {
			if err != nil || f.Level == inspect.Damaged && (f.Session != "a" || f.Mended) {
				t.Errorf("Examine finds %+v, %v, want only that a is damaged", f, err)
			}
		}
		look()
	}
}

func aroundDamage(t *harness.Test) {
	price(t, 7)
	told := map[skein.Seq]bool{}
	s := lenient.Store(t.Store, func(id skein.SessionID, bad *skein.DamagedError) { told[bad.Seq] = true })
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

func noBlessing(t *harness.Test) {
	ex, ok := skein.PartOf[inspect.Examiner](t.Store)
	if !ok {
		t.Skip("SKIPPED: the store cannot examine itself")
	}
	price(t, 5)
	for range 2 {
		found := false
		for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: true}) {
			if err != nil {
				t.Fatal(err)
			}
			found = found || f.Session == "a" && f.Level == inspect.Damaged && strings.Contains(f.Text, "event 3") && !f.Mended
		}
		if !found {
			t.Error("Examine with Repair does not say that event 3 of a is damaged")
		}
	}
	var bad *skein.DamagedError
	for _, err := range t.Store.Events(t.Context(), "a", 2) {
		if !errors.As(err, &bad) || bad.Seq != 3 {
			t.Errorf("after a repair Events yields %v, want that event 3 is damaged", err)
		}
		break
	}
}

// hurtEach damages one event of each kind, each in a session of its own that
// also has text, and returns these sessions as they were. The damaged event is
// at hurtAt.
func hurtEach(t *harness.Test, text string, more map[skein.SessionID]skein.Batch) map[skein.SessionID]skein.Session {
	t.Helper()
	bruised := "bruised"
	kinds := map[skein.SessionID]skein.Event{
		"said":       fixture.User(bruised),
		"tool":       skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: bruised, State: skein.Running}),
		"step":       skein.NewEvent(skein.KindStep, fixture.Noon, skein.Step{Phase: bruised}),
		"titled":     fixture.Titled(bruised),
		"changed":    fixture.Changed(skein.Changed{Project: &bruised}),
		"compacted":  skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 3, Summary: bruised}),
		"rewound":    fixture.Rewound(3),
		"amended":    fixture.Amend(2, fixture.User(bruised)),
		"withdrawn":  fixture.Withdraw(3),
		"resumed":    skein.NewEvent(skein.KindResumed, fixture.Noon, skein.Program{Host: bruised}),
		"ended":      skein.NewEvent(skein.KindEnded, fixture.Noon, skein.Program{How: bruised}),
		"noted":      fixture.Noted(bruised),
		"some-other": {Kind: "some-other", Payload: []byte(`{"a":"bruised"}`)},
		"created":    fixture.Noted("whole"),
	}
	for id, e := range kinds {
		if _, ok := more[id]; !ok {
			if more == nil {
				more = map[skein.SessionID]skein.Batch{}
			}
			more[id] = skein.Batch{Events: []skein.Event{e}}
		}
	}
	before := map[skein.SessionID]skein.Session{}
	for id, b := range more {
		c := skein.Created{}
		if id == "created" {
			c.Cwd = bruised
		}
		t.Add(id, skein.NewEvent(skein.KindCreated, fixture.Noon, c), fixture.User("one"+text), fixture.Answered("1"), fixture.User("two"), fixture.Piece("p", "x"))
		b.Session = id
		t.Append(b)
		t.Add(id, fixture.User("three"), fixture.Piece("q", "y"))
		before[id] = t.Session(id)
	}
	t.Options.Hurt(t.T, t.Address, bruised, "BRUISED")
	t.Options.Hurt(t.T, t.Address, "broken!", `brok"n!`)
	t.Options.Hurt(t.T, t.Address, `{"to":3}`, `{"to":1}`)
	t.Options.Hurt(t.T, t.Address, `{"seq":3,"withdrawn":true}`, `{"seq":2,"withdrawn":true}`)
	t.Store = t.Dial() // a new handle has cached nothing
	return before
}

// hurtAt returns the seq of the event of session id that hurtEach damages.
func hurtAt(id skein.SessionID) skein.Seq {
	if id == "created" {
		return 1
	}
	return 6
}

// goesOn checks that appends after a damaged event, and forks of its session,
// are accepted.
func goesOn(t *harness.Test) {
	for id, was := range hurtEach(t, "", nil) {
		stands := func(what string, messages int) {
			t.Helper()
			if is := t.Session(id); is.Messages != messages {
				t.Errorf("%s, of which an event is damaged, has %d messages after %s, want %d", id, is.Messages, what, messages)
			}
		}
		t.Add(id, fixture.User("more"), fixture.Piece("q", "z"))
		stands("a message and a piece", was.Messages+1)
		t.Add(id, fixture.Rewound(was.Last))
		stands("a rewind", was.Messages)
		t.Add(id, fixture.Withdraw(7))
		stands("a message was withdrawn", was.Messages-1)
		t.Add(id, fixture.Amend(7, fixture.User("three again")))
		stands("it was put back", was.Messages)
		if is := t.Session(id); is.LastPrompt != "three again" {
			t.Errorf("%s, of which an event is damaged, has the last prompt %q, want three again", id, is.LastPrompt)
		}
		t.Add(id+"-at-4", fixture.Fork(id, 4), fixture.User("own"))
		t.Add(id+"-at-8", fixture.Fork(id, 8), fixture.User("own"), fixture.Rewound(8))
		t.Add(id+"-at-end", fixture.Fork(id, t.Session(id).Last), fixture.User("own"))
		t.Add(id, fixture.Rewound(5), fixture.User("another"))
		t.Add(id, fixture.Rewound(was.Last), fixture.User("a redo"))
		t.Add(id, fixture.Rewound(1))
		stands("all was taken back", 0)
	}
}

// scrubsAround checks that a scrub removes the secret from all intact events,
// and reports the damaged ones.
func scrubsAround(t *harness.Test) {
	blob := skein.NewBlob([]byte("binary \x00 " + fixture.Secret))
	more := map[skein.SessionID]skein.Batch{
		"shows":  {Events: []skein.Event{fixture.Shows("bruised", blob)}, Blobs: []skein.Blob{blob}},
		"broken": {Events: []skein.Event{{Kind: "some-other", Payload: []byte(`{"a":"broken!"}`)}}},
	}
	for id, was := range hurtEach(t, " "+fixture.Secret, more) {
		t.Add(id+"-fork", fixture.Fork(id, was.Last), fixture.User("own "+fixture.Secret))
		d := t.Scrub(id, fixture.Secret)
		if len(d.Unread) != 1 || d.Unread[0] != hurtAt(id) || d.Events < 1 {
			t.Errorf("Scrub of %s = %+v, want that event %d could not be looked at, and a changed one", id, d, hurtAt(id))
		}
		seen := 0
		for e, err := range lenient.Store(t.Store, nil).Events(t.Context(), id, 0) {
			if _, found := erase.Mask(e.Payload, []string{fixture.Secret}); found || err != nil {
				t.Errorf("after a scrub of %s event %d is %s, %v", id, e.Seq, e.Payload, err)
			}
			seen++
		}
		if want := int(was.Last) + 1; seen != want {
			t.Errorf("%s has %d events after a scrub, want %d", id, seen, want)
		}
		is := t.Session(id)
		first := strings.HasPrefix(is.First, "one **") || id == "amended" && is.First == "two" // the damaged event has the first prompt
		if is.Messages != was.Messages || is.Title != was.Title || is.Project != was.Project || is.Cwd != was.Cwd || !first || is.Revision != was.Revision+1 {
			t.Errorf("after a scrub of %s the row is %+v, want it without the secret, otherwise as it was: %+v", id, is, was)
		}
		var bad *skein.DamagedError
		if err := harness.Failure(t, t.Store.Events(t.Context(), id, hurtAt(id)-1)); !errors.As(err, &bad) || bad.Seq != hurtAt(id) {
			t.Errorf("after a scrub of %s its damaged event yields %v: it was blessed", id, err)
		}
	}
	t.NoBlob("shows", blob)
}

// recordsAround checks that a damaged block of source records does not affect
// other blocks, neither in Records nor in a scrub.
func recordsAround(t *harness.Test) {
	long := strings.Repeat("a line, ", 300<<10/8) // so that each has a block of its own
	rs := fixture.Lines(0, 0, long+"0 "+fixture.Secret, long+"1", long+"2", long+"3 "+fixture.Secret)
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: len(rs)}
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("whole")}, Import: &skein.Import{File: f, Records: rs}})
	t.Options.HurtRecord(t.T, t.Address, "/p", 1)
	t.Store = t.Dial()
	look := func() {
		t.Helper()
		var seen, bad []int
		for r, err := range lenient.Records(t.Context(), t.Store, "f", "/p", func(e *skein.DamagedRecordsError) { bad = append(bad, e.First, e.Last) }) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, r.N)
			if len(r.Raw) != len(rs[r.N].Raw) {
				t.Errorf("record %d has %d bytes, want %d", r.N, len(r.Raw), len(rs[r.N].Raw))
			}
		}
		harness.Equal(t, "records around damage", seen, []int{0, 2, 3})
		harness.Equal(t, "damaged records", bad, []int{1, 1})
	}
	look()
	t.WantErr("Records", harness.Failure(t, skein.SourcesOf(t.Store).Records(t.Context(), "f", "/p", 0)), skein.ErrCorrupt)
	if d := t.Scrub("a", fixture.Secret); d.Records != 2 || d.UnreadRecords != 1 {
		t.Errorf("Scrub = %+v, want 2 records, and 1 that could not be looked at", d)
	}
	look()
	for r := range lenient.Records(t.Context(), t.Store, "f", "/p", func(*skein.DamagedRecordsError) {}) {
		if strings.Contains(string(r.Raw), fixture.Secret) {
			t.Errorf("record %d has the secret after a scrub", r.N)
		}
	}
}

// noise returns incompressible bytes, so that any of them can be altered
// without damage to the encoding.
func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b) //nolint:errcheck // it never fails
	return string(b)
}

// recordFlipped checks that no altered record is returned, and that an
// examination finds it and does not accept it.
func recordFlipped(t *harness.Test) {
	rs := fixture.Lines(0, 0, noise(4000))
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: 1}
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("whole")}, Import: &skein.Import{File: f, Records: rs}})
	examine := func(repair bool) (found bool) {
		t.Helper()
		ex, ok := skein.PartOf[inspect.Examiner](t.Store)
		if !ok {
			t.Skip("SKIPPED: the store cannot examine itself")
		}
		for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: repair}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Level == inspect.Damaged && (f.Session != "a" || f.Mended || !strings.Contains(f.Text, "/p: record 1 ")) {
				t.Errorf("Examine finds %+v, want at most that record 1 of /p is damaged", f)
			}
			found = found || f.Level == inspect.Damaged
		}
		return found
	}
	if examine(false) {
		t.Error("Examine finds damage before there is any")
	}
	t.Options.HurtRecord(t.T, t.Address, "/p", 0)
	t.Store = t.Dial()
	for range 2 {
		var bad *skein.DamagedRecordsError
		if err := harness.Failure(t, skein.SourcesOf(t.Store).Records(t.Context(), "f", "/p", 0)); !errors.As(err, &bad) || bad.First != 0 || bad.Last != 0 {
			t.Errorf("Records of a file of one record that was altered yields %v, want that it is damaged", err)
		}
		if !examine(true) {
			t.Error("Examine does not find an altered record")
		}
	}
}

// recordsGoOn checks that records after damaged ones are stored, and read.
func recordsGoOn(t *harness.Test) {
	put := func(from int, texts ...string) {
		t.Helper()
		rs := fixture.Lines(from, 0, texts...)
		f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: from + len(rs)}
		t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: rs}})
	}
	t.Add("a", fixture.Created(), fixture.User("whole"))
	put(0, noise(1000), noise(1000))
	t.Options.HurtRecord(t.T, t.Address, "/p", 1)
	t.Store = t.Dial()
	put(2, "three")
	put(3, "four")
	var seen, bad []int
	for r, err := range lenient.Records(t.Context(), t.Store, "f", "/p", func(e *skein.DamagedRecordsError) { bad = append(bad, e.First, e.Last) }) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, r.N)
	}
	harness.Equal(t, "records behind damage", seen, []int{2, 3})
	harness.Equal(t, "damaged records", bad, []int{0, 1})
}

// recordsOfDamaged damages an event whose record may be stored as a reference
// to it.
func recordsOfDamaged(t *harness.Test) {
	const plain = "sk-pw-7f3e"
	texts := []string{
		"this is what was said first, and " + plain,
		"this is what was said in the middle, and it is bruised by now, for it has " + plain,
		"this is what was said last, and " + plain,
	}
	evs, raw := []skein.Event{fixture.Created()}, []string{}
	for _, text := range texts {
		e := skein.Say(fixture.Noon, skein.UserSays(text))
		evs, raw = append(evs, e), append(raw, string(e.Payload)+"\n")
	}
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: len(raw)}
	t.Append(skein.Batch{Session: "a", Events: evs, Import: &skein.Import{File: f, Records: fixture.Lines(0, 0, raw...)}})
	t.Options.Hurt(t.T, t.Address, "bruised", "BRUISED")
	t.Store = t.Dial()
	if d := t.Scrub("a", plain); d.UnreadRecords > 1 {
		t.Errorf("Scrub = %+v, want that at most 1 record could not be looked at", d)
	}
	n := 0
	for r, err := range lenient.Records(t.Context(), t.Store, "f", "/p", func(e *skein.DamagedRecordsError) {
		if n++; e.First != 1 || e.Last != 1 {
			t.Errorf("Records yields %v, want at most record 1 damaged", e)
		}
	}) {
		if n++; err != nil || len(r.Raw) != len(raw[r.N]) {
			t.Errorf("record %d is %q, %v, want one as long as %q", r.N, r.Raw, err, raw[r.N])
		}
		if _, found := erase.Mask(r.Raw, []string{plain}); found {
			t.Errorf("record %d has the secret after a scrub: %s", r.N, r.Raw)
		}
	}
	if n != 3 {
		t.Errorf("Records yields %d records, whole or damaged, want 3", n)
	}
}

// sumsFit changes rows of events in several ways and reads them again.
func sumsFit(t *harness.Test) {
	long := strings.Repeat("a long text that stands once, ", 100)
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, fixture.Noon, skein.Created{}),
		skein.Say(fixture.Noon, skein.UserSays("my password is hunter22, and "+long)),
		skein.Say(fixture.Noon, skein.UserSays("short")),
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3, Payload: skein.Say(fixture.Noon, skein.UserSays("amended: "+long)).Payload}),
	}})
	t.Append(skein.Batch{Session: "f", Events: []skein.Event{skein.NewEvent(skein.KindCreated, fixture.Noon, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 4, Why: skein.Fork}})}})
	if _, err := skein.LifecycleOf(t.Store).Scrub(t.Context(), "a", []string{"hunter22"}); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range t.Store.Events(t.Context(), "f", 0) {
		if n++; err != nil {
			t.Fatalf("event %d of a fork: %v", n, err)
		}
	}
}

// withFile returns an event with a client ID, and the file that it has.
func withFile() (skein.Event, skein.Blob) {
	b := skein.NewBlob([]byte(strings.Repeat("a page of the file, ", 3000)))
	return fixture.ID("file", fixture.Shows("pages.txt", b)), b
}

// blobsHeal damages blobs in every way, and appends again what refers to them: to the
// session itself, to a fork of it, and in an amendment.
func blobsHeal(t *harness.Test) {
	said, blob := withFile()
	amended := fixture.ID("amended", fixture.Amend(3, said))
	files := map[string]skein.Batch{
		"the session":   {Session: "a", Events: []skein.Event{said}, Blobs: []skein.Blob{blob}},
		"a fork":        {Session: "f", Events: []skein.Event{said}, Blobs: []skein.Blob{blob}},
		"an amendment":  {Session: "b", Events: []skein.Event{amended}, Blobs: []skein.Blob{blob}},
		"a new message": {Events: []skein.Event{fixture.Created(), said}, Blobs: []skein.Blob{blob}},
	}
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), said}, Blobs: []skein.Blob{blob}})
	t.Append(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("a", 2)}})
	t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.Created(), fixture.User("one"), fixture.User("two"), amended}, Blobs: []skein.Blob{blob}})
	for how, hurt := range t.Options.HurtBlobs {
		for what, b := range files {
			hurt(t.T, t.Address)
			known := b.Session != ""
			if !known {
				b.Session = skein.SessionID("new " + how)
			}
			if r, err := t.Store.Append(t.Context(), b); err != nil || known && r[0].New != 0 {
				t.Errorf("hurt: %s: Append for %s = %+v, %v", how, what, r, err)
				continue
			}
			if got, err := t.Store.Blob(t.Context(), b.Session, blob.Hash); err != nil || string(got) != string(blob.Data) {
				t.Errorf("hurt: %s: after Append for %s, the blob has %d bytes (%v), want %d", how, what, len(got), err, len(blob.Data))
			}
		}
	}
}

// lostRefs checks that a repair drops no blob that an event names.
func lostRefs(t *harness.Test) {
	ex, ok := skein.PartOf[inspect.Examiner](t.Store)
	if !ok {
		t.Skip("SKIPPED: the store cannot examine itself")
	}
	said, blob := withFile()
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), said}, Blobs: []skein.Blob{blob}})
	t.Options.HurtBlobs[harness.LostRefs](t.T, t.Address)
	for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: true}) {
		if err != nil || f.Level == inspect.Damaged && !f.Mended {
			t.Errorf("Examine finds %+v, %v, want that all damage is mended", f, err)
		}
	}
	if got, err := t.Store.Blob(t.Context(), "a", blob.Hash); err != nil || string(got) != string(blob.Data) {
		t.Errorf("after a repair, the blob has %d bytes (%v), want %d", len(got), err, len(blob.Data))
	}
}
