package sessions

import (
	"iter"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// newLong returns a reader of a session with 400 turns of four messages, each of
// two events; one part of the message m comes early and one late.
func newLong(t *testing.T) Reader {
	t.Helper()
	st := memory.New()
	text := []skein.Part{skein.TextPart("x")}
	events := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for i := range 400 {
		events = append(events, skein.Say(1, skein.UserSays("x")))
		for k := range 3 {
			m := skein.Message{Role: skein.RoleAssistant, Parts: text}
			if k == 1 && (i == 100 || i == 300) {
				m.ID = "m"
			}
			events = append(events, skein.Say(1, m), skein.NewEvent(skein.KindNoted, 1, skein.Noted{Name: "n"}))
		}
	}
	if _, err := skein.Add(t.Context(), st, "long", events...); err != nil {
		t.Fatal(err)
	}
	s, err := st.Session(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	return Reader{t.Context(), st, s}
}

func seqs(t *testing.T, entries iter.Seq2[skein.Entry, error]) (all []skein.Seq) {
	t.Helper()
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Seq)
	}
	return all
}

// A session is read in windows; the result must not show where they end.
func TestALongSessionIsReadWhole(t *testing.T) {
	r := newLong(t)
	all, err := r.Store.Newest(t.Context(), "long", 1<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []skein.Seq
	for _, e := range all {
		want = append(want, e.Seq)
	}
	got := seqs(t, r.Entries(0))
	if !slices.Equal(got, want) || len(got) != 1599 {
		t.Errorf("entries yields %d messages, want the %d of Newest (1599)", len(got), len(want))
	}
	if got := seqs(t, Part(r.Entries(0), 700, 3)); !slices.Equal(got, want[700:703]) {
		t.Errorf("offset 700, first 3 gives %v, want %v", got, want[700:703])
	}
	if got := seqs(t, r.Last(3, 2)); !slices.Equal(got, want[1594:1597]) {
		t.Errorf("last 3, offset 2 gives %v, want %v", got, want[1594:1597])
	}
}

func TestATurnIsFound(t *testing.T) {
	r := newLong(t)
	for _, n := range []int{1, 2, 72, 399, 400} {
		first := skein.Seq(2 + 7*(n-1))
		want := []skein.Seq{first, first + 1, first + 3, first + 5}
		if got := seqs(t, r.Turn(n)); !slices.Equal(got, want) {
			t.Errorf("turn %d has the messages %v, want %v", n, got, want)
		}
	}
	if got := seqs(t, r.Turn(401)); got != nil {
		t.Errorf("turn 401 has the messages %v, want none", got)
	}
}
