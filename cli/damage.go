package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// goAround lets the job read past damaged events. It returns a function to be
// called with the error of the reading: it reports the damage that was found, and
// returns an error if there was any.
func (j *job) goAround() func(error) error {
	met := map[skein.SessionID][]skein.Seq{}
	j.store = lenient.Store(j.store, func(id skein.SessionID, e *skein.DamagedError) {
		if !slices.Contains(met[id], e.Seq) {
			met[id] = append(met[id], e.Seq)
		}
	})
	records := 0
	j.lost = func(bad *skein.DamagedRecordsError) { records += bad.Last - bad.First + 1 }
	return func(err error) error {
		for id, seqs := range met {
			j.say("session %s: %s damaged, shown as such: %s\nsee what can be mended: skein doctor", shortID(id), count(len(seqs), "event"), ranges(seqs))
		}
		if records > 0 {
			j.say("%s damaged, not looked at\nsee what can be mended: skein doctor", count(records, "source record"))
		}
		if err == nil && len(met)+records > 0 {
			err = errSilent
		}
		return err
	}
}

// unread is called for source records that are damaged and were skipped.
func (j *job) unread(bad *skein.DamagedRecordsError) {
	if j.lost != nil {
		j.lost(bad)
	}
}

// ranges formats places for people: 3, 7-9.
func ranges(seqs []skein.Seq) string {
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
