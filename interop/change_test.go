package interop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

func TestWhatWasTakenBackHereStaysSoWhenTheFileIsRewritten(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "a3>a1", "a4")
	p.bring(interop.Options{})
	back := skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: 2})
	if _, err := skein.Add(t.Context(), p.store, "a", back); err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "a2", "a3", "a4")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 <2 a3 a4 <2")
}

func TestAFileThatWasRewritten(t *testing.T) {
	for name, c := range map[string]struct {
		was, is []string
		want    string
	}{
		"a changed record is amended":            {[]string{"a1", "a2", "a3"}, []string{"a1", "a2=new", "a3"}, "created a1 a2 a3 3:=new"},
		"a removed one is withdrawn":             {[]string{"a1", "a2", "a3"}, []string{"a1", "a3"}, "created a1 a2 a3 -3"},
		"a new one in the middle is appended":    {[]string{"a1", "a3"}, []string{"a1", "a2", "a3"}, "created a1 a3 a2"},
		"the first may change too":               {[]string{"a1", "a2"}, []string{"a1=new", "a2", "a3"}, "created a1 a2 2:=new a3"},
		"a shorter file withdraws the rest":      {[]string{"a1", "a2", "a3"}, []string{"a1"}, "created a1 a2 a3 -3 -4"},
		"an emptied one is kept as it was":       {[]string{"a1", "a2"}, nil, "created a1 a2"},
		"other lines under the same name":        {[]string{"a1"}, []string{"b1", "b2"}, "created a1 b1 b2 -2"},
		"lines that only moved change nothing":   {[]string{"a1", "a2", "a3"}, []string{"a2", "a1", "a3"}, "created a1 a2 a3"},
		"what makes no events comes and goes":    {[]string{"a1", "{\"void\":true}\n", "a2"}, []string{"a1", "\n", "a2", "a3"}, "created a1 a2 a3"},
		"a rewind that is gone hides nothing":    {[]string{"a1", "a2", "a3>a1"}, []string{"a1", "a2", "a3"}, "created a1 a2 <2 a3 <4 a2 a3"},
		"what becomes damaged stays":             {[]string{"a1", "a2"}, []string{"a1", "{\"id\":\n", "a3"}, "created a1 a2 a3"},
		"what was damaged before hides nothing":  {[]string{"a1", "{\"id\":\n", "a2"}, []string{"a1", "{\"id\":\n"}, "created a1 a2 -3"},
		"a rewind goes to where its record is":   {[]string{"a1", "a2", "a3"}, []string{"a0", "a1", "a2", "a3", "a4>a1"}, "created a1 a2 a3 a0 <2 a4 <1 a0 a1 a4"},
		"one that says more now":                 {[]string{"a1", "a2"}, []string{also("a1", 1), "a2"}, "created a1 a2 a1.1"},
		"one that says less now":                 {[]string{also("a1", 1), "a2"}, []string{"a1", "a2"}, "created a1 a1.1 a2 -3"},
		"one that says much less now":            {[]string{also("a1", 7), "a2"}, []string{"a1", "a2"}, "created a1 a1.1 a1.2 a1.3 a1.4 a1.5 a1.6 a1.7 a2 -3 -4 -5 -6 -7 -8 -9"},
		"one that says a little less now":        {[]string{also("a1", 7), "a2"}, []string{also("a1", 5), "a2"}, "created a1 a1.1 a1.2 a1.3 a1.4 a1.5 a1.6 a1.7 a2 -8 -9"},
		"another's events are not its own":       {[]string{`{"id":"k/3","say":"k/3"}` + "\n", also("k", 1), "a2"}, []string{`{"id":"k/3","say":"k/3"}` + "\n", "k", "a2"}, "created k/3 k k.1 a2 -4"},
		"one that says nothing now":              {[]string{"a1", "a2"}, []string{`{"id":"a1","mute":true}` + "\n", "a2"}, "created a1 a2 -2"},
		"a second change amends the first event": {[]string{"a1=x", "a2"}, []string{"a1=y", "a2"}, "created x a2 2:=y"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("a.toy", c.was...)
			p.bring(interop.Options{})
			p.write("a.toy", c.is...)
			rep := p.bring(interop.Options{})
			p.wants("a", c.want)
			if len(c.is) > 0 {
				p.exact("a.toy")
			}
			if want := strings.Count(c.want, ":=") + strings.Count(c.want, "-"); rep.Amended != want {
				t.Errorf("Amended = %d, want %d", rep.Amended, want)
			}
			p.write("a.toy", c.is...) // the same content, later
			if rep := p.bring(interop.Options{}); rep.Events != 0 {
				t.Errorf("Import of the same again gives %d events, want none", rep.Events)
			}
		})
	}
}

// also returns a line that says n more words.
func also(id string, n int) string {
	var more []string
	for i := range n {
		more = append(more, fmt.Sprintf("%q", fmt.Sprintf("%s.%d", id, i+1)))
	}
	return fmt.Sprintf(`{"id":%q,"say":%q,"and":[%s]}`+"\n", id, id, strings.Join(more, ","))
}

func TestARecordThatChangesToAndFro(t *testing.T) {
	p := newPlace(t)
	for _, say := range []string{"x", "y", "x", "y"} {
		p.write("a.toy", "a1="+say, "a2")
		p.bring(interop.Options{})
	}
	p.write("a.toy", "a2")
	p.bring(interop.Options{})
	p.write("a.toy", "a1=z", "a2")
	p.bring(interop.Options{})
	p.wants("a", "created x a2 2:=y 2:=x 2:=y -2 2:=z")
}

func TestWhatIsDamagedIsWithdrawnWhenTheFileIsWholeWithoutIt(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "a3", "a4")
	p.bring(interop.Options{})
	p.write("a.toy", "a1", "{\"id\":\n", "a3")
	p.bring(interop.Options{})
	p.write("a.toy", "a1=x", "{\"id\":\n", "a3")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3 a4 2:=x")
	p.write("a.toy", "a1=x", "a2", "a3")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3 a4 2:=x -5")
}

func TestWhatWasCutOffComesAgain(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "a3")
	p.bring(interop.Options{})
	p.write("a.toy", "a1") // a program that is rewriting it
	p.bring(interop.Options{})
	p.write("a.toy", "a1", "a2")
	p.bring(interop.Options{})
	p.write("a.toy", "a1", "a2", "a3", "a4")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3 -3 -4 3:=a2 4:=a3 a4")
	p.exact("a.toy")
}

func TestAFileThatGrowsWhileOthersWriteToItsSession(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.bring(interop.Options{})
	ev := skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: "mine", By: skein.ByPerson})
	if _, err := skein.Add(t.Context(), p.store, "a", ev, ev, ev); err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "a2", "a3", "a4>a3", "a5>a1")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 T:mine T:mine T:mine a3 <7 a4 <2 a5")
}

func TestADeletedSessionStaysAway(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "k1/k", "a2")
	p.write("b.toy", "b1")
	p.bring(interop.Options{})
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "k1/k", "a2", "a3")
	p.write("b.toy", "b1", "b2")
	if rep := p.bring(interop.Options{}); rep.Removed != 1 || rep.Events != 1 {
		t.Errorf("Import after Delete(a) = %+v, want 1 file removed and 1 event", rep)
	}
	if _, err := p.store.Session(t.Context(), "a"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session(a) = %v, want ErrNotFound", err)
	}
	p.wants("b", "created b1 b2")
	p.bring(interop.Options{Again: true})
	p.wants("a", "created a1 a2 a3")
}

func TestADeletedChildStaysAwayAlone(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "k1/k", "a2")
	p.bring(interop.Options{})
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "k", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "k1/k", "a2", "k2/k", "a3")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3")
	if got := p.sessions(); len(got) != 1 {
		t.Errorf("sessions: %q, want a alone", got)
	}
	p.exact("a.toy")
}

func TestALockedSessionWaits(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.bring(interop.Options{})
	l, err := skein.LeasesOf(p.store).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "a2")
	p.write("b.toy", "b1")
	if rep := p.bring(interop.Options{}); rep.Waiting != 1 || rep.Events != 2 {
		t.Errorf("Import while a is locked = %+v, want 1 file waiting and the other's 2 events", rep)
	}
	if err := skein.LeasesOf(p.store).Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if rep := p.bring(interop.Options{}); rep.Waiting != 0 || rep.Events != 1 {
		t.Errorf("Import after Release = %+v, want 1 event", rep)
	}
	p.wants("a", "created a1 a2")
}

// A flaky store fails every n-th append, before or after storing it, and then grants
// no lease.
type flaky struct {
	skein.Store
	skein.Leases
	appends, every int
	err            error
	done           bool
}

func (f *flaky) Unwrap() skein.Store { return f.Store }

func (f *flaky) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if f.appends++; f.appends%f.every != 0 {
		return f.Store.Append(ctx, bs...)
	}
	if f.done {
		if _, err := f.Store.Append(ctx, bs...); err != nil {
			return nil, err
		}
	}
	return nil, f.err
}

func (f *flaky) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (skein.Lease, error) {
	if f.appends%f.every == 0 {
		return skein.Lease{}, f.err
	}
	return skein.LeasesOf(f.Store).Acquire(ctx, id, r)
}

func TestAnImportThatWasStoppedGoesOn(t *testing.T) {
	var words, want []string
	for i := range 6000 {
		w := strings.Repeat(string(rune('a'+i%26)), 3) + strings.Repeat("x", i)
		words = append(words, w[:min(len(w), 90)]+string(rune('0'+i%10)))
		if i > 3 && i%300 == 0 {
			words[i] += ">" + words[i-2]
		}
	}
	whole := newPlace(t)
	whole.write("a.toy", words...)
	whole.write("b.toy", append(words[:1000:1000], "own", "k/kid", "own2")...)
	whole.bring(interop.Options{})
	want = []string{whole.tell("a"), whole.tell("b"), whole.tell("kid")}
	for _, done := range []bool{false, true} {
		p := newPlace(t)
		p.write("a.toy", words...)
		p.write("b.toy", append(words[:1000:1000], "own", "k/kid", "own2")...)
		f := &flaky{p.store, skein.LeasesOf(p.store), 0, 3, skein.ErrFull, done}
		tries := 0
		for ; tries < 50; tries++ {
			_, err := importer.Import(t.Context(), f, []interop.Format{toy()}, []string{p.dir}, interop.Options{})
			if err == nil {
				break
			}
			if !errors.Is(err, skein.ErrFull) {
				t.Fatalf("Import = %v, want ErrFull", err)
			}
		}
		if tries < 3 || tries == 50 {
			t.Errorf("Import came through after %d tries, want some", tries)
		}
		for i, id := range []string{"a", "b", "kid"} {
			if got := p.tell(id); got != want[i] {
				t.Errorf("done %t: events of %s differ from those of an import that was not stopped", done, id)
			}
		}
		p.exact("a.toy")
		p.exact("b.toy")
	}
}

func TestAnOutcomeThatIsUnknownIsSettled(t *testing.T) {
	for _, done := range []bool{false, true} {
		p := newPlace(t)
		p.write("a.toy", "a1", "a2>a1", "a3")
		f := &flaky{p.store, skein.LeasesOf(p.store), 1, 2, skein.ErrUnknown, done}
		rep, err := importer.Import(t.Context(), f, []interop.Format{toy()}, []string{p.dir}, interop.Options{})
		if err != nil {
			t.Fatalf("Import = %+v, %v", rep, err)
		}
		p.wants("a", "created a1 <2 a2 a3")
	}
}

func TestAReportTellsWhichSessionsGrew(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.write("b.toy", "b1", "k/kid")
	rep := p.bring(interop.Options{})
	if got, want := rep.Changed, []skein.SessionID{"a", "b", "kid"}; rep.Sessions != 3 || rep.Grown != 0 || !slices.Equal(got, want) {
		t.Errorf("first Import: %d new, %d grown, changed %v; want 3, none, %v", rep.Sessions, rep.Grown, got, want)
	}
	p.write("b.toy", "b1", "k/kid", "k2/kid")
	p.write("c.toy", "c1")
	rep = p.bring(interop.Options{})
	if got, want := rep.Changed, []skein.SessionID{"kid", "c"}; rep.Sessions != 1 || rep.Grown != 1 || rep.Messages != 2 || !slices.Equal(got, want) {
		t.Errorf("second Import: %d new, %d grown, %d messages, changed %v; want 1, 1, 2, %v", rep.Sessions, rep.Grown, rep.Messages, got, want)
	}
}

// What a file has lost is withdrawn at its end, even if the import that saw it
// was stopped before that, and if that is more than fits into a list of keys.
func TestAFileThatLostMuchWhileImportsWereStopped(t *testing.T) {
	const lost, kept = 10_000, 2000
	var was, is []string
	for i := range lost {
		was = append(was, fmt.Sprintf("%s%d", strings.Repeat("w", 88), i))
	}
	for i := range kept {
		is = append(is, fmt.Sprintf("new%d", i))
	}
	p := newPlace(t)
	p.write("a.toy", was...)
	p.bring(interop.Options{})
	p.write("a.toy", is...)
	f := &flaky{p.store, skein.LeasesOf(p.store), 0, 3, skein.ErrFull, false}
	if _, err := importer.Import(t.Context(), f, []interop.Format{toy()}, []string{p.dir}, interop.Options{}); !errors.Is(err, skein.ErrFull) {
		t.Fatalf("Import = %v, want ErrFull", err)
	}
	p.bring(interop.Options{})
	withdrawn := strings.Count(p.tell("a"), " -")
	if withdrawn != lost {
		t.Errorf("%d events are withdrawn, want the %d that the file has lost", withdrawn, lost)
	}
	p.exact("a.toy")
}

// So is what a record no longer says.
func TestAFileThatSaysLessWhileImportsWereStopped(t *testing.T) {
	const records = 3000
	var was, is []string
	for i := range records {
		was, is = append(was, also(fmt.Sprint("a", i), 1)), append(is, fmt.Sprint("a", i))
	}
	for _, done := range []bool{false, true} {
		p := newPlace(t)
		p.write("a.toy", was...)
		p.bring(interop.Options{})
		p.write("a.toy", is...)
		f := &flaky{p.store, skein.LeasesOf(p.store), 0, 3, skein.ErrFull, done}
		if _, err := importer.Import(t.Context(), f, []interop.Format{toy()}, []string{p.dir}, interop.Options{}); !errors.Is(err, skein.ErrFull) {
			t.Fatalf("Import = %v, want ErrFull", err)
		}
		p.bring(interop.Options{})
		if got := strings.Count(p.tell("a"), " -"); got != records {
			t.Errorf("%d events are withdrawn when the import was stopped (done: %v), want %d", got, done, records)
		}
	}
}

// The last line may still grow: its events are recognized, however many they are.
func TestALastLineThatBeganAChildIsReadAgain(t *testing.T) {
	p := newPlace(t)
	last := strings.TrimSuffix(also("a2", 6), "}\n") + `,"beside":"k"}`
	for range 2 {
		p.write("a.toy", "a1", last+"\n")
		p.raw("b.toy", line("b1")+strings.ReplaceAll(strings.ReplaceAll(last, "a2", "b2"), `"k"`, `"kk"`))
		p.bring(interop.Options{})
	}
	if got, want := p.sessions(), []string{"a", "b", "k", "kk"}; !slices.Equal(got, want) {
		t.Errorf("sessions %v, want %v", got, want)
	}
}
