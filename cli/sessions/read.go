package sessions

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lenient"
)

// A Reader reads a session in pieces, so that a session of a million messages needs
// no more memory than a short one.
type Reader struct {
	Ctx     context.Context
	Store   skein.Store
	Session skein.Session
}

// window is how many events are read at once.
const window = 500

// Entries yields the messages that begin after the given seq, in order.
func (r Reader) Entries(after skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		for ; after < r.Session.Last; after += window {
			found, err := r.Store.Newest(r.Ctx, r.Session.ID, window, after+window+1)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Last yields the newest n messages, after leaving out the newest skip ones.
func (r Reader) Last(n, skip int) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		found, err := r.Store.Newest(r.Ctx, r.Session.ID, n+skip, 0)
		if err != nil {
			yield(skein.Entry{}, err)
			return
		}
		for _, e := range found[:max(len(found)-skip, 0)] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Turn yields the messages of turn n.
func (r Reader) Turn(n int) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		first, err := r.Begin(n)
		if err != nil {
			yield(skein.Entry{}, err)
			return
		}
		for e, err := range r.Entries(first - 1) {
			if err == nil && e.Turn > n || !yield(e, err) {
				return
			}
		}
	}
}

// Begin returns the seq at which turn n begins, or the one after the session's end
// if it has no such turn. Turn numbers never decrease, so it uses binary search.
//
// The error is that of the store.
func (r Reader) Begin(n int) (at skein.Seq, err error) {
	i := sort.Search(int(r.Session.Last), func(i int) bool {
		if err != nil {
			return true
		}
		found, lookErr := r.Store.Newest(r.Ctx, r.Session.ID, 1, skein.Seq(i+2))
		err = lookErr
		return len(found) > 0 && found[0].Turn >= n
	})
	return skein.Seq(i + 1), err
}

// TheirTurns counts the turns of a session in the way of the program that it came
// from, where that differs from ours. Amplifier begins a turn with each message in
// the user's name, including those that its hooks insert.
type TheirTurns struct {
	Program string // "" for one that counts as skein does
	Turn    int
}

// TurnsOf returns the count of the turns of s, at 0.
func TurnsOf(s *skein.Session) (t TheirTurns) {
	if s.Origin != nil && s.Origin.Format == amplifier.Name {
		t.Program = "Amplifier"
	}
	return t
}

// Take counts the next message.
func (t *TheirTurns) Take(e *skein.Entry) {
	if t.Program != "" && !e.Rewound && (e.Message.Role == skein.RoleUser || e.Message.Role == skein.RoleSteer) {
		t.Turn++
	}
}

// Say returns both counts in words, n is ours; "" if the program counts as skein does.
func (t *TheirTurns) Say(n int) string {
	if t.Program == "" {
		return ""
	}
	return terminal.Count(n, "turn") + "; " + t.Program + " counts " + terminal.Count(t.Turn, "turn")
}

// TheirEntry is a message with its turn as Amplifier counts.
type TheirEntry struct {
	render.Entry
	Turn int `json:"amplifier_turn,omitempty"`
}

// AroundDamage lets the job read past damaged events. It returns a function to be
// called with the error of the reading: it reports the damage that was found, and
// returns an error if there was any.
func AroundDamage(j *job.Job) func(error) error {
	met := map[skein.SessionID][]skein.Seq{}
	j.Store = lenient.Store(j.Store, func(id skein.SessionID, e *skein.DamagedError) {
		if !slices.Contains(met[id], e.Seq) {
			met[id] = append(met[id], e.Seq)
		}
	})
	records := 0
	j.Lost = func(bad *skein.DamagedRecordsError) { records += bad.Last - bad.First + 1 }
	return func(err error) error {
		for id, seqs := range met {
			j.Say("session %s: %s damaged, shown as such: %s\nsee what can be repaired: skein doctor", ShortID(id), terminal.Count(len(seqs), "event"), Ranges(seqs))
		}
		if records > 0 {
			j.Say("%s damaged, not searched\nsee what can be repaired: skein doctor", terminal.Count(records, "source record"))
		}
		if err == nil && len(met)+records > 0 {
			err = fault.ErrSilent
		}
		return err
	}
}

// Unread is called for source records that are damaged and were skipped.
func Unread(j *job.Job, bad *skein.DamagedRecordsError) {
	if j.Lost != nil {
		j.Lost(bad)
	}
}

// Ranges formats places for people: 3, 7-9.
func Ranges(seqs []skein.Seq) string {
	slices.Sort(seqs)
	var all []string
	for i := 0; i < len(seqs); {
		end := i
		for end+1 < len(seqs) && seqs[end+1] == seqs[end]+1 {
			end++
		}
		text := fmt.Sprint(seqs[i])
		if end > i {
			text += fmt.Sprintf("-%d", seqs[end])
		}
		all, i = append(all, text), end+1
	}
	return strings.Join(all, ", ")
}

// Part yields n elements of seq (0: all), after leaving out the first skip.
func Part[T any](seq iter.Seq2[T, error], skip, n int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		i := 0
		for v, err := range seq {
			if err == nil {
				if i++; i <= skip {
					continue
				}
			}
			if !yield(v, err) || n > 0 && i == skip+n {
				return
			}
		}
	}
}

// ForkOf returns the creation of a session that shows s up to a seq and continues
// independently, with the current agent and model of s.
func ForkOf(s skein.Session, at skein.Seq, title, version string) skein.Created {
	return skein.Created{
		Title: skein.ShortTitle(title), User: s.User, Surface: "cli", Program: "skein", Version: version,
		Profile: s.Profile, Provider: s.Provider, Project: s.Project, Cwd: s.Cwd, Checkout: s.Checkout.Known(),
		Parent: &skein.Parent{Session: s.ID, Seq: at, Why: skein.Fork},
	}
}
