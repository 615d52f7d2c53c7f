package notice

import (
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/store/activity"
)

func TestAPersonIsToldWhatIsNew(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	h := newLookedAt()
	look := func(after time.Duration, state skein.WorkState, text string, percent int, want ...string) {
		t.Helper()
		now = now.Add(after)
		l := activity.Line{ID: "s", Name: "Tea", State: state, Tool: "Bash", Text: text, Asks: skein.AsksPermission}
		var got []string
		for _, n := range h.news([]activity.Line{l}, []price.Spent{{SpendingBudget: price.SpendingBudget{Per: price.PerDay, USD: 1}, Percent: percent}}, 5*time.Minute, now) {
			got = append(got, strings.TrimSpace(n.Title+" "+n.Text))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s %q at %d %%: told %q, want %q", state, text, percent, got, want)
		}
	}
	look(0, skein.StateWaiting, "old", 85) // it is so already
	look(time.Minute, skein.StateWaiting, "old", 85)
	look(time.Minute, skein.StateWorking, "", 85)
	look(time.Minute, skein.StateWaiting, "rm x", 85, "Tea: waiting asks for permission: Bash: rm x")
	look(time.Minute, skein.StateWaiting, "rm x", 100, "Budget: 100 % of $1.00 (day)")
	look(time.Minute, skein.StateWorking, "", 100)
	look(time.Minute, skein.StateIdle, "", 100, "Tea: done")
	look(time.Minute, skein.StateIdle, "", 0) // the next day
	look(time.Minute, skein.StateWorking, "", 79)
	look(time.Minute, skein.StateIdle, "", 80, "Budget: 80 % of $1.00 (day)") // the turn was short
	look(time.Minute, skein.StateFailed, "no quota", 80, "Tea: failed no quota")
	look(time.Minute, skein.StateEnded, "", 80)
}
