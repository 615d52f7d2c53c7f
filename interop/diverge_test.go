package interop_test

import "testing"

func TestALineThatBeginsWithNoStepOfTheConversationIsAFork(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.again()
	p.add("a", asked("here"))
	p.write("a.toy", "a1", "~f", "there")
	if rep := p.again(); rep.Sessions != 1 || rep.Waiting != 0 {
		t.Errorf("Import of a file that went on too = %+v, want a new session", rep)
	}
	p.wants("a", "created a1 here")
	for _, id := range p.sessions() {
		if id != "a" {
			p.wants(id, "created a1 fork(a@2) ~f there")
		}
	}
	if rep := p.again(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func TestWatchMakesAForkOfWhatWentOnHereTooSinceItCame(t *testing.T) {
	w := watchDir(t, newPlace(t))
	w.append("a.toy", line("a1"))
	w.until("a", "created a1")
	w.add("a", asked("here"))
	w.append("a.toy", line("there"))
	for len(w.sessions()) < 2 {
		w.next()
	}
	w.wants("a", "created a1 here")
	w.wants(w.sessions()[1], "created a1 fork(a@2) there")
}
