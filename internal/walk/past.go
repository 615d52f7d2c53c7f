package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A PastLog is what [Past] and [Prompt] need of a store.
type PastLog interface {
	// Back is as in [SaidLog].
	Back(seg Segment, at skein.Seq, n int, f func(Said) bool) error

	// At is as in [WindowLog].
	At(segs Segments, seqs []skein.Seq) ([]skein.Event, error)

	// Settings returns the created and changed events of segs, in their order
	// and in each of them in that of the events.
	Settings(segs Segments) ([]skein.Event, error)

	// Begin returns the first place in seg that has reached a turn; 0 if none
	// has. Turns only go up.
	Begin(seg Segment, turn int) (skein.Seq, error)
}

// Past works out what a session was set to after the last event of segs, whose
// last said event stands at said: of Shown only Project, Cwd, Agent and Model.
// It is needed only for a fork that does not begin at its parent's end: the
// parent's row says what is set now. Errors are the log's, or wrap
// [skein.ErrInvalid]: a payload that does not fit its kind.
func Past(l PastLog, segs Segments, said skein.Seq) (x skein.Shown, err error) {
	settings, err := l.Settings(segs.Oldest())
	if err != nil {
		return x, err
	}
	modelAt := skein.Seq(0) // where the model was set last
	for _, e := range settings {
		f, err := skein.FactsOf(e)
		if err != nil {
			return x, err
		}
		if x.Set(f) {
			modelAt = e.Seq
		}
	}
	if m, err := answeredBy(l, segs, said, modelAt); m != "" || err != nil {
		x.Model = m
		return x, err
	}
	return x, nil
}

// answeredBy returns the model of the newest answer after a place, going back
// from the said event at said; "" if there is none.
func answeredBy(l PastLog, segs Segments, said, after skein.Seq) (model string, err error) {
	for n := 8; said > after && model == "" && err == nil; n = min(2*n, maxBack) {
		seg := segs.Of(said)
		seg.From = max(seg.From, after)
		var bad error
		err = l.Back(seg, said, n, func(x Said) bool {
			if said = x.Prev; x.Kind != skein.KindSaid { // its message was deleted by hand
				return true
			}
			var m skein.Message
			if m, bad = skein.Decode[skein.Message](x.Event); bad == nil && m.Role == skein.RoleAssistant && !m.Synthetic {
				model = m.Model
			}
			return bad == nil && model == ""
		})
		if err == nil {
			err = bad
		}
	}
	return model, err
}

// Prompt returns the first words of what a person typed to begin a turn: what
// [skein.Session.LastPrompt] was then. segs have the turn, if it is not 0. It is
// "" if the message was deleted by hand. Errors as those of [Past].
func Prompt(l PastLog, segs Segments, turn int) (words string, err error) {
	if turn == 0 {
		return "", nil
	}
	for _, seg := range slices.Backward(segs) {
		seq, err := l.Begin(seg, turn)
		if err != nil {
			return "", err
		}
		if seq != 0 {
			return firstWords(l, Segments{seg}, seq)
		}
	}
	return "", nil
}

// First returns what [skein.Session.First] was when the turn had begun: first,
// which it is now, or "" if nobody had typed a word by then. segs have the turn,
// if it is not 0. Errors as those of [Past].
func First(l PastLog, segs Segments, turn int, first string) (string, error) {
	for k := 1; k <= turn && first != ""; k++ {
		if words, err := Prompt(l, segs, k); err != nil || words != "" {
			return first, err
		}
	}
	return "", nil
}

func firstWords(l PastLog, segs Segments, seq skein.Seq) (string, error) {
	events, err := l.At(segs, []skein.Seq{seq})
	if err != nil || len(events) == 0 || events[0].Kind != skein.KindSaid {
		return "", err
	}
	m, err := skein.Decode[skein.Message](events[0])
	return m.Prompt(), err
}
