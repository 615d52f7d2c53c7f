package activity

import (
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
)

// Sight is what was looked up about a session beside its events.
type Sight struct {
	Now     skein.Time
	News    hooknews.News // what its agent's hooks last said; the zero value if nothing
	Changed skein.Time    // when the session's source file last changed; 0 if it has none of its own, or the file is gone
	Ahead   bool          // that file has more than was imported
}

// A Situation is what a session is doing.
type Situation struct {
	State  skein.WorkState
	Since  skein.Time    // when that began; 0 if not known
	Tool   string        // working or waiting: the tool that was called and has no result
	Asks   skein.AskKind // waiting: what a person is asked
	Seq    skein.Seq     // waiting or failed: the event that says why; 0 if none does
	Text   string        // waiting: the question; failed: the error; of [All] at most 200 bytes on one line
	Reason Reason
}

// A Reason says why a session is in its state, where its events do not.
type Reason string

// The reasons that events do not have.
const (
	Died   Reason = "died"   // failed: its program ended in the middle of a turn
	Silent Reason = "silent" // idle: nothing was heard for a long time in the middle of a turn
	Growth Reason = "growth" // working: its file changes, and what it says is not imported yet
)

// How long a program that takes no lease may be silent while it works, before it is
// taken for gone: a tool can run for long, a model answers sooner.
const (
	patientWithTool  = 30 * time.Minute
	patientWithModel = 10 * time.Minute
)

// settled is how long after a message that may not be the last of its turn the session
// counts as working.
const settled = 5 * time.Second

// growing is how long after its last change a file counts as being written.
const growing = 15 * time.Second

// Of returns what the session s is doing.
func Of(s *skein.Session, x Sight) Situation {
	a := &s.Activity
	st := Situation{State: a.State, Since: a.Since}
	if st.State == "" {
		st.State = skein.StateIdle
	}
	quiet := x.Now.Std().Sub(max(x.Changed, s.Updated).Std())
	switch {
	case x.heard(s):
		return x.reported(a)
	case x.Ahead && x.Now.Std().Sub(x.Changed.Std()) < growing && a.State != skein.StateWorking:
		return Situation{State: skein.StateWorking, Since: x.Changed, Reason: Growth}
	case a.State == skein.StateWorking, a.State == skein.StateWaiting:
		return during(s, st, quiet)
	case a.State == skein.StateIdle && a.May && quiet < settled:
		st.State = skein.StateWorking
	case a.State == skein.StateFailed:
		st.Seq = a.Seq
	}
	return st
}

// heard reports whether hooks said what s is doing after its events did. A program
// that takes a lease appends what it does.
func (x *Sight) heard(s *skein.Session) bool {
	return x.News.State != "" && s.LockedBy == "" && !x.News.At.Before(s.Updated.Std())
}

// reported returns what hooks say, of a session whose events say a.
func (x *Sight) reported(a *skein.Activity) Situation {
	n := &x.News
	st := Situation{State: n.State, Since: skein.At(n.Since), Tool: n.Tool, Asks: n.Asks, Text: n.Text}
	if c := a.Call(); n.State == skein.StateWaiting && n.Tool == "" && c != nil {
		st.Tool = c.Name // older agents only say that they ask
	}
	quiet, patience := x.Now.Std().Sub(max(x.Changed, skein.At(n.At)).Std()), patientWithModel
	if n.Tool != "" {
		patience = patientWithTool
	}
	if n.State == skein.StateWorking && quiet >= patience {
		return Situation{State: skein.StateIdle, Since: skein.At(n.At), Reason: Silent}
	}
	return st
}

// during returns what s is doing if its events say that a turn is under way, and
// nothing was heard of it for quiet.
func during(s *skein.Session, st Situation, quiet time.Duration) Situation {
	a := &s.Activity
	patience, asks := patientWithModel, skein.AskKind("")
	if c := a.Call(); c != nil {
		st.Tool, patience, asks = c.Name, patientWithTool, c.Asks
	}
	if a.State == skein.StateWaiting {
		st.Seq, st.Asks = a.Seq, asks
	}
	switch {
	case s.LockedBy != "": // its program lives
	case s.LeftRunning() && len(s.Open) > 0, s.LeftRunning() && asks == skein.AsksPermission:
		return Situation{State: skein.StateFailed, Since: s.Updated, Tool: st.Tool, Reason: Died}
	case a.State == skein.StateWaiting: // also a program that was started again asks again
	case quiet >= patience:
		return Situation{State: skein.StateIdle, Since: s.Updated, Reason: Silent}
	}
	return st
}
