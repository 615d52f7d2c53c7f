package notice

import (
	"cmp"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/store/activity"
)

// A Notice is what a person is told.
type Notice struct {
	About   string          `json:"about"` // waiting, failed, done, budget
	Title   string          `json:"title"` // one line
	Text    string          `json:"text"`
	Session skein.SessionID `json:"session,omitempty"`
	Project string          `json:"project,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	At      skein.Time      `json:"at"`
}

// lookedAt is what was seen before. Its first look tells nothing: what is so when
// somebody begins to look is no news.
type lookedAt struct {
	looked  bool
	lines   map[skein.SessionID]activity.Line
	began   map[skein.SessionID]time.Time // since when a session has been at work, waiting included
	budgets map[string]int                // by budget and period: the share that was told, 0, 80 or 100
}

func newLookedAt() *lookedAt {
	return &lookedAt{lines: map[skein.SessionID]activity.Line{}, began: map[skein.SessionID]time.Time{}, budgets: map[string]int{}}
}

// news returns what is new in lines and budgets. A turn that took less than after is
// not told to be done.
func (h *lookedAt) news(lines []activity.Line, budgets []price.Spent, after time.Duration, now time.Time) (all []Notice) {
	for i := range lines {
		l := &lines[i]
		was := h.lines[l.ID]
		h.lines[l.ID] = *l
		began, worked := h.began[l.ID]
		switch l.State {
		case skein.StateWorking, skein.StateWaiting:
			if !worked {
				h.began[l.ID] = now
			}
		default:
			delete(h.began, l.ID)
		}
		same := was.State == l.State && was.Tool == l.Tool && was.Text == l.Text
		switch {
		case !h.looked || same:
		case l.State == skein.StateWaiting, l.State == skein.StateFailed:
			all = append(all, noticeOf(string(l.State), l, now))
		case l.State == skein.StateIdle && l.Reason == "" && worked && now.Sub(began) >= after:
			all = append(all, noticeOf("done", l, now))
		}
	}
	for _, b := range budgets {
		name, share := fmt.Sprint(b.SpendingBudget, b.Since), 0
		switch {
		case b.Percent >= 100:
			share = 100
		case b.Percent >= price.Near:
			share = price.Near
		}
		if h.looked && share > h.budgets[name] {
			all = append(all, Notice{About: "budget", Title: "Budget: " + b.String(), Project: b.Project, Agent: b.Agent, At: skein.At(now)})
		}
		h.budgets[name] = share
	}
	h.looked = true
	return all
}

func noticeOf(about string, l *activity.Line, now time.Time) Notice {
	n := Notice{About: about, Session: l.ID, Project: l.Project, Agent: l.Agent, At: skein.At(now), Text: l.Says()}
	n.Title = cmp.Or(l.Name, string(l.ID)) + ": " + about
	return n
}
