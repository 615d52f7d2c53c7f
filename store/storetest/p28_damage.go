package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/lenient"
)

func damage() []check {
	return []check{
		{name: "altered text is never shown", hurt: alteredText},
		{name: "altered rows are never shown", hurt: alteredRows},
		{name: "what is lost of a row is marked", hurt: lostRow},
		{name: "damage hides nothing else", hurt: aroundDamage},
		{name: "a repair does not bless", hurt: noBlessing},
		{name: "a session with a damaged event goes on", hurt: goesOn},
		{name: "a scrub goes around damaged events", hurt: scrubsAround},
		{name: "a damaged block loses its own records only", hurt: recordsAround},
		{name: "a flipped bit of a source record is never shown", hurt: recordFlipped},
		{name: "a file with damaged records goes on", hurt: recordsGoOn},
		{name: "a damaged event loses its own record only", hurt: recordsOfDamaged},
		{name: "what stands in for a damaged event is marked", run: markedDamaged},
		{name: "a checksum fits what was scrubbed, moved and amended", run: sumsFit},
	}
}

// price adds a session with a price in it, in an event without a client ID that
// is altered as with a text editor.
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

// markedDamaged checks it with the event that a copy of a damaged session stores.
func markedDamaged(t *test) {
	lost := (&skein.DamagedError{Seq: 3, Kind: skein.KindSaid, Role: skein.RoleUser, Err: skein.ErrSum}).Placeholder()
	lost.Seq = 0
	t.add("a", created(), user("one"), lost, user("two"))
	for i, e := range t.newest("a", 3, 0) {
		if e.Damaged != (i == 1) {
			t.Errorf("message %d of Newest, %+v, is damaged %v, want the second alone", e.Seq, e.Message, e.Damaged)
		}
	}
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
	around, err := lenient.Store(t.s, nil).Newest(t.Context(), "a", 10, 0)
	if err != nil || len(around) != 4 {
		t.Errorf("Newest around damage = %d messages, %v, want 4", len(around), err)
	}
	for _, e := range around {
		if e.Damaged != (e.Seq == 3) {
			t.Errorf("message %d of Newest around damage is damaged %v, want 3 alone", e.Seq, e.Damaged)
		}
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

// alteredRows checks that the texts in a session's row are shown, and inherited by a
// fork, only while they are what was stored: otherwise they are those of its events.
// An append does not make an altered row valid; a repair does.
func alteredRows(t *test) {
	tags := []string{"bill 100"}
	t.add("a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Agent: "agent-100", Cwd: "/100"}), user("pay 100 euros"), user("now pay 100 euros"),
		titled("the 100 euros"), changed(skein.Changed{Tags: &tags}))
	t.add("untitled", created(), user("pay 100 euros"))
	t.add("f", fork("a", 3), user("go on"))
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
	truth := texts(t.s)
	t.options.HurtRow(t.T, t.address, "100", "900")
	equal(t, "sessions whose rows were altered", texts(t.s), truth)
	t.s = t.dial() // a new handle has cached nothing
	t.add("g", fork("a", 5))
	if g := t.session("g"); g.Agent != "agent-100" || g.Cwd != "/100" || g.First != "pay 100 euros" || g.LastPrompt != "now pay 100 euros" {
		t.Errorf("a fork of a session whose row was altered is %+v, want what the events say", g)
	}
	for _, id := range []skein.SessionID{"a", "untitled", "f"} {
		t.add(id, noted("x"))
	}
	if _, err := skein.LifecycleOf(t.s).Delete(t.Context(), "g", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "sessions that were written to", texts(t.s), truth)
	ex, ok := skein.PartOf[inspect.Examiner](t.s)
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
		equal(t, "sessions that were examined", texts(t.s), truth)
	}
}

// lostRow checks that a session whose row was altered, and whose events were too, is
// marked, and that a repair does not accept what is left.
func lostRow(t *test) {
	t.add("a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Title: "the 100 euros"}), answered("1"))
	t.add("b", created(), user("whole"))
	t.options.Hurt(t.T, t.address, "100 euros", "900 euros")
	t.options.HurtRow(t.T, t.address, "100 euros", "900 euros")
	t.s = t.dial()
	look := func() {
		t.Helper()
		for x, err := range t.s.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if x.Damaged != (x.ID == "a") || x.Damaged && x.Name() != "damaged session a" {
				t.Errorf("the list says %q of session %s, damaged %v, want that a alone is", x.Name(), x.ID, x.Damaged)
			}
		}
	}
	look()
	if ex, ok := skein.PartOf[inspect.Examiner](t.s); ok {
		for f, err := range ex.Examine(t.Context(), inspect.Examination{Repair: true}) {
			if err != nil || f.Level == inspect.Damaged && (f.Session != "a" || f.Mended) {
				t.Errorf("Examine finds %+v, %v, want only that a is damaged", f, err)
			}
		}
		look()
	}
}

func aroundDamage(t *test) {
	t.price(7)
	told := map[skein.Seq]bool{}
	s := lenient.Store(t.s, func(id skein.SessionID, bad *skein.DamagedError) { told[bad.Seq] = true })
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
	ex, ok := skein.PartOf[inspect.Examiner](t.s)
	if !ok {
		t.Skip("SKIPPED: the store cannot examine itself")
	}
	t.price(5)
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
	for _, err := range t.s.Events(t.Context(), "a", 2) {
		if !errors.As(err, &bad) || bad.Seq != 3 {
			t.Errorf("after a repair Events yields %v, want that event 3 is damaged", err)
		}
		break
	}
}

// hurtEach damages one event of each kind, each in a session of its own that
// also has text, and returns these sessions as they were. The damaged event is
// at hurtAt.
func (t *test) hurtEach(text string, more map[skein.SessionID]skein.Batch) map[skein.SessionID]skein.Session {
	t.Helper()
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
		"created":    noted("whole"),
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
		t.add(id, skein.NewEvent(skein.KindCreated, noon, c), user("one"+text), answered("1"), user("two"), piece("p", "x"))
		b.Session = id
		t.append(b)
		t.add(id, user("three"), piece("q", "y"))
		before[id] = t.session(id)
	}
	t.options.Hurt(t.T, t.address, bruised, "BRUISED")
	t.options.Hurt(t.T, t.address, "broken!", `brok"n!`)
	t.options.Hurt(t.T, t.address, `{"to":3}`, `{"to":1}`)
	t.options.Hurt(t.T, t.address, `{"seq":3,"withdrawn":true}`, `{"seq":2,"withdrawn":true}`)
	t.s = t.dial() // a new handle has cached nothing
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
func goesOn(t *test) {
	for id, was := range t.hurtEach("", nil) {
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

// scrubsAround checks that a scrub removes the secret from all intact events,
// and reports the damaged ones.
func scrubsAround(t *test) {
	blob := skein.NewBlob([]byte("binary \x00 " + secret))
	more := map[skein.SessionID]skein.Batch{
		"shows":  {Events: []skein.Event{shows("bruised", blob)}, Blobs: []skein.Blob{blob}},
		"broken": {Events: []skein.Event{{Kind: "some-other", Payload: []byte(`{"a":"broken!"}`)}}},
	}
	for id, was := range t.hurtEach(" "+secret, more) {
		t.add(id+"-fork", fork(id, was.Last), user("own "+secret))
		d := t.scrub(id, secret)
		if len(d.Unread) != 1 || d.Unread[0] != hurtAt(id) || d.Events < 1 {
			t.Errorf("Scrub of %s = %+v, want that event %d could not be looked at, and a changed one", id, d, hurtAt(id))
		}
		seen := 0
		for e, err := range lenient.Store(t.s, nil).Events(t.Context(), id, 0) {
			if _, found := erase.Mask(e.Payload, []string{secret}); found || err != nil {
				t.Errorf("after a scrub of %s event %d is %s, %v", id, e.Seq, e.Payload, err)
			}
			seen++
		}
		if want := int(was.Last) + 1; seen != want {
			t.Errorf("%s has %d events after a scrub, want %d", id, seen, want)
		}
		is := t.session(id)
		first := strings.HasPrefix(is.First, "one **") || id == "amended" && is.First == "two" // the damaged event has the first prompt
		if is.Messages != was.Messages || is.Title != was.Title || is.Project != was.Project || is.Cwd != was.Cwd || !first || is.Revision != was.Revision+1 {
			t.Errorf("after a scrub of %s the row is %+v, want it without the secret, otherwise as it was: %+v", id, is, was)
		}
		var bad *skein.DamagedError
		if err := failure(t, t.s.Events(t.Context(), id, hurtAt(id)-1)); !errors.As(err, &bad) || bad.Seq != hurtAt(id) {
			t.Errorf("after a scrub of %s its damaged event yields %v: it was blessed", id, err)
		}
	}
	t.noBlob("shows", blob)
}

// recordsAround checks that a damaged block of source records does not affect
// other blocks, neither in Records nor in a scrub.
func recordsAround(t *test) {
	long := strings.Repeat("a line, ", 300<<10/8) // so that each has a block of its own
	rs := lines(0, 0, long+"0 "+secret, long+"1", long+"2", long+"3 "+secret)
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: len(rs)}
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), user("whole")}, Import: &skein.Import{File: f, Records: rs}})
	t.options.HurtRecord(t.T, t.address, "/p", 1)
	t.s = t.dial()
	look := func() {
		t.Helper()
		var seen, bad []int
		for r, err := range lenient.Records(t.Context(), t.s, "f", "/p", func(e *skein.DamagedRecordsError) { bad = append(bad, e.First, e.Last) }) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, r.N)
			if len(r.Raw) != len(rs[r.N].Raw) {
				t.Errorf("record %d has %d bytes, want %d", r.N, len(r.Raw), len(rs[r.N].Raw))
			}
		}
		equal(t, "records around damage", seen, []int{0, 2, 3})
		equal(t, "damaged records", bad, []int{1, 1})
	}
	look()
	t.wantErr("Records", failure(t, skein.SourcesOf(t.s).Records(t.Context(), "f", "/p", 0)), skein.ErrCorrupt)
	if d := t.scrub("a", secret); d.Records != 2 || d.UnreadRecords != 1 {
		t.Errorf("Scrub = %+v, want 2 records, and 1 that could not be looked at", d)
	}
	look()
	for r := range lenient.Records(t.Context(), t.s, "f", "/p", func(*skein.DamagedRecordsError) {}) {
		if strings.Contains(string(r.Raw), secret) {
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
func recordFlipped(t *test) {
	rs := lines(0, 0, noise(4000))
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: 1}
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), user("whole")}, Import: &skein.Import{File: f, Records: rs}})
	examine := func(repair bool) (found bool) {
		t.Helper()
		ex, ok := skein.PartOf[inspect.Examiner](t.s)
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
	t.options.HurtRecord(t.T, t.address, "/p", 0)
	t.s = t.dial()
	for range 2 {
		var bad *skein.DamagedRecordsError
		if err := failure(t, skein.SourcesOf(t.s).Records(t.Context(), "f", "/p", 0)); !errors.As(err, &bad) || bad.First != 0 || bad.Last != 0 {
			t.Errorf("Records of a file of one record that was altered yields %v, want that it is damaged", err)
		}
		if !examine(true) {
			t.Error("Examine does not find an altered record")
		}
	}
}

// recordsGoOn checks that records after damaged ones are stored, and read.
func recordsGoOn(t *test) {
	put := func(from int, texts ...string) {
		t.Helper()
		rs := lines(from, 0, texts...)
		f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: from + len(rs)}
		t.append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: rs}})
	}
	t.add("a", created(), user("whole"))
	put(0, noise(1000), noise(1000))
	t.options.HurtRecord(t.T, t.address, "/p", 1)
	t.s = t.dial()
	put(2, "three")
	put(3, "four")
	var seen, bad []int
	for r, err := range lenient.Records(t.Context(), t.s, "f", "/p", func(e *skein.DamagedRecordsError) { bad = append(bad, e.First, e.Last) }) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, r.N)
	}
	equal(t, "records behind damage", seen, []int{2, 3})
	equal(t, "damaged records", bad, []int{0, 1})
}

// recordsOfDamaged damages an event whose record may be stored as a reference
// to it.
func recordsOfDamaged(t *test) {
	const plain = "sk-pw-7f3e"
	texts := []string{
		"this is what was said first, and " + plain,
		"this is what was said in the middle, and it is bruised by now, for it has " + plain,
		"this is what was said last, and " + plain,
	}
	evs, raw := []skein.Event{created()}, []string{}
	for _, text := range texts {
		e := skein.Say(noon, skein.UserSays(text))
		evs, raw = append(evs, e), append(raw, string(e.Payload)+"\n")
	}
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", Records: len(raw)}
	t.append(skein.Batch{Session: "a", Events: evs, Import: &skein.Import{File: f, Records: lines(0, 0, raw...)}})
	t.options.Hurt(t.T, t.address, "bruised", "BRUISED")
	t.s = t.dial()
	if d := t.scrub("a", plain); d.UnreadRecords > 1 {
		t.Errorf("Scrub = %+v, want that at most 1 record could not be looked at", d)
	}
	n := 0
	for r, err := range lenient.Records(t.Context(), t.s, "f", "/p", func(e *skein.DamagedRecordsError) {
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
func sumsFit(t *test) {
	long := strings.Repeat("a long text that stands once, ", 100)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, noon, skein.Created{}),
		skein.Say(noon, skein.UserSays("my password is hunter22, and "+long)),
		skein.Say(noon, skein.UserSays("short")),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Payload: skein.Say(noon, skein.UserSays("amended: "+long)).Payload}),
	}})
	t.append(skein.Batch{Session: "f", Events: []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 4, Why: skein.Fork}})}})
	if _, err := skein.LifecycleOf(t.s).Scrub(t.Context(), "a", []string{"hunter22"}); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.LifecycleOf(t.s).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range t.s.Events(t.Context(), "f", 0) {
		if n++; err != nil {
			t.Fatalf("event %d of a fork: %v", n, err)
		}
	}
}
