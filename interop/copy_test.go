package interop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestCopiesBecomeForks(t *testing.T) {
	for name, c := range map[string]struct {
		files [][]string // name, lines
		want  map[string]string
	}{
		"at the last shared record": {
			[][]string{{"a", "a1", "a2", "a3"}, {"b", "a1", "a2", "b1"}},
			map[string]string{"a": "created a1 a2 a3", "b": "created a1 a2 fork(a@3) b1"},
		},
		"only once they have a record of their own": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "a2", "~mode"}},
			map[string]string{"a": "created a1 a2"},
		},
		"with what floats before and among the copies": {
			[][]string{{"a", "~x", "a1", "a2"}, {"b", "~y", "a1", "~z", "a2", "b1", "~v"}},
			map[string]string{"a": "created ~x a1 a2", "b": "created ~x a1 a2 fork(a@4) ~y ~z b1 ~v"},
		},
		"of a fork": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "b1", "b2"}, {"c", "a1", "b1", "c1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 fork(a@2) b1 b2", "c": "created a1 fork(a@2) b1 fork(b@4) c1"},
		},
		"with a rewind, if they are no prefix": {
			[][]string{{"a", "a1", "a2", "a3>a1", "a4"}, {"b", "a1", "a3", "a4", "a2", "b1"}},
			map[string]string{"a": "created a1 a2 <2 a3 a4", "b": "created a1 a2 <2 a3 a4 fork(a@6) <3 b1"},
		},
		"of a fork, though they end in what it shows of its parent": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "b1"}, {"c", "b1", "a1", "c1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 fork(a@2) b1", "c": "created a1 fork(a@2) b1 fork(b@4) <2 c1"},
		},
		"with what floats where a fork has it, and goes another way": {
			[][]string{{"a", "a1", "a2", "a3"}, {"f", "a1", "a2", "a3", "~m", "f1"}, {"b", "~m", "a1", "a2=other", "a3", "b1"}},
			map[string]string{"a": "created a1 a2 a3", "f": "created a1 a2 a3 fork(a@4) ~m f1", "b": "created a1 fork(a@2) other a3 b1"},
		},
		"of the later steps only, and then of the earlier": {
			[][]string{{"a", "a1", "a2", "a3"}, {"b", "a3", "a1", "b1", "a2", "b2"}},
			map[string]string{"a": "created a1 a2 a3", "b": "created a1 a2 a3 fork(a@4) <2 b1 a2 b2"},
		},
		"and go back to what they share": {
			[][]string{{"a", "a1", "a2", "a3"}, {"b", "a1", "a2", "a3", "b1>a1"}},
			map[string]string{"a": "created a1 a2 a3", "b": "created a1 a2 a3 fork(a@4) <2 b1"},
		},
		"unless the content is another": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1=other", "a2"}},
			map[string]string{"a": "created a1 a2", "b": "created other a2"},
		},
		"whoever is thought to have said it": {
			[][]string{{"a", "a1", "a2"}, {"b", `{"id":"a1","say":"a1","put":true}` + "\n", "a2", "b1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 a2 fork(a@3) b1"},
		},
		"and keep another content under a shared key": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "a2=other", "b1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 fork(a@2) other b1"},
		},
		"with a key that comes twice": {
			[][]string{{"a", "a1", "a1=a2", "a3"}, {"b", "a1", "a1=a2", "b1"}},
			map[string]string{"a": "created a1 a2 a3", "b": "created a1 a2 fork(a@3) b1"},
		},
		"with the children that they share": {
			[][]string{{"a", "a1", "k1/k", "a2"}, {"b", "a1", "k1/k", "b1", "k2/l"}},
			map[string]string{"a": "created a1 a2", "k": "child(a@2) k1", "b": "created a1 fork(a@2) b1", "l": "child(b@4) k2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			for _, f := range c.files {
				p.write(f[0]+".toy", f[1:]...)
			}
			p.bring(interop.Options{})
			check := func() {
				t.Helper()
				for id, want := range c.want {
					p.wants(id, want)
				}
				if got := p.sessions(); len(got) != len(c.want) {
					t.Errorf("sessions: %q, want %d", got, len(c.want))
				}
				for _, f := range c.files {
					p.exact(f[0] + ".toy")
				}
			}
			check()
			p = newPlace(t)
			for _, f := range c.files { // each file, a line at a time
				for n := range f {
					p.write(f[0]+".toy", f[1:n+1]...)
					p.bring(interop.Options{})
				}
			}
			check()
		})
	}
}

// The key of an event has at most 100 bytes before its numbers.
func TestCopiesWithLongKeysBecomeForks(t *testing.T) {
	edge, long := strings.Repeat("k", 100), strings.Repeat("k", 101)
	for name, c := range map[string]struct{ a, b []string }{
		"too long":                       {[]string{long + "1=a1", long + "2=a2"}, []string{long + "1=a1", long + "2=a2", "b1"}},
		"as long as one may be, twice":   {[]string{edge + "=a1", edge + "=a2"}, []string{edge + "=a1", edge + "=a2", "b1"}},
		"too long, in another record's":  {[]string{long + "=a1", "a2"}, []string{`{"id":"c1","copy":"` + long + `","say":"a1"}` + "\n", "a2", "b1"}},
		"none, in a record named by all": {[]string{"=a1", "=a2"}, []string{"=a1", "=a2", "b1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("a.toy", c.a...)
			p.write("b.toy", c.b...)
			p.bring(interop.Options{})
			p.wants("a", "created a1 a2")
			p.wants("b", "created a1 a2 fork(a@3) b1")
			p.exact("a.toy")
			p.exact("b.toy")
		})
	}
}

func TestAKeyThatComesTwiceInAFile(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "a1=other", "a1", "a1=third", "a1=other", "a3>a2")
	rep := p.bring(interop.Options{})
	p.wants("a", "created a1 a2 other third <3 a3")
	if rep.Copies != 2 {
		t.Errorf("Copies = %d, want 2", rep.Copies)
	}
	p.exact("a.toy")
}

func TestAnIDThatIsTakenGetsAHashBehindIt(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1")
	p.write("y/a.toy", "b1")
	p.bring(interop.Options{})
	ids := p.sessions()
	if len(ids) != 2 || ids[0] != "a" || len(ids[1]) != len("a~12345678") || ids[1][:2] != "a~" {
		t.Fatalf("sessions: %q, want a and a~ with 8 digits", ids)
	}
	p.wants("a", "created a1")
	p.wants(ids[1], "created b1")
	p.write("y/a.toy", "b1", "b2")
	p.bring(interop.Options{})
	p.wants(ids[1], "created b1 b2")
}

func TestAFileThatWasMovedGoesOnInItsSession(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1", "a2")
	p.bring(interop.Options{})
	p.move("x/a.toy", "y/a.toy")
	p.write("y/a.toy", "a1", "a2", "a3")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3")
	p.write("y/a.toy", "a1", "a2", "a3", "a4>a1")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3 <2 a4")
	if got := p.sessions(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("sessions: %q, want a alone", got)
	}
	p.exact("y/a.toy")
}

func TestTheSameFileElsewhereIsACopyWhateverBecameOfItsEvents(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1", "a2", "k1/k")
	p.bring(interop.Options{})
	p.write("x/a.toy", "a1=new", "a2", "k1/k")
	p.bring(interop.Options{})
	p.write("y/a.toy", "a1=new", "a2", "k1/k")
	for range 2 {
		if rep := p.bring(interop.Options{}); rep.Events != 0 || rep.Sessions != 0 {
			t.Errorf("Import of the same file elsewhere = %+v, want nothing new", rep)
		}
	}
	p.wants("a", "created a1 a2 2:=new")
	p.exact("y/a.toy")
	p.write("y/a.toy", "a1=new", "a2", "k1/k", "a3", "k2/k")
	p.bring(interop.Options{})
	ids := p.sessions()
	if len(ids) != 3 {
		t.Fatalf("sessions: %q, want a, a~ with 8 digits, and k", ids)
	}
	p.wants(ids[1], "created a1 a2 2:=new fork(a@4) a3")
	p.wants("k", "child(a@3) k1 k2")
	p.exact("y/a.toy")
}

func TestACopyThatDiffersInWhatGivesNoEventsIsTheSameStill(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "damage\n", "a1", "a2")
	p.write("y/a.toy", "damage of another kind\n", "a1", "a2")
	if rep := p.bring(interop.Options{}); rep.Sessions != 1 || rep.Damaged != 2 {
		t.Errorf("Import of both = %+v, want one session, and what is damaged in each", rep)
	}
	p.exact("x/a.toy")
	p.exact("y/a.toy")
}

func TestTitlesForOtherFilesSessions(t *testing.T) {
	const title = `{"for":"b2","say":"B"}` + "\n"
	p := newPlace(t)
	p.write("a.toy", title, "a1")
	p.bring(interop.Options{})
	p.wants("a", "created a1")
	p.write("b.toy", "b1", "b2", "b3")
	p.bring(interop.Options{})
	p.wants("b", "created b1 b2 b3 T:B")
	p.write("a.toy", title, "a1", "a2")
	if rep := p.bring(interop.Options{}); rep.Events != 1 {
		t.Errorf("Import of one more line gives %d events, want 1", rep.Events)
	}
	p.wants("b", "created b1 b2 b3 T:B")
}
