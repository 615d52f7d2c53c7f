package activity_test

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/store/activity"
)

const noon = skein.Time(1_800_000_000_000)

func ago(d time.Duration) skein.Time { return noon - skein.Time(d.Milliseconds()) }

func at(t skein.Time) time.Time { return t.Std() }

func TestOf(t *testing.T) {
	calls := []skein.ActiveCall{{ID: "c", Name: "bash", Time: ago(time.Minute), Seq: 4}}
	foreign := &skein.Origin{Format: "claude-code", Path: "/x.jsonl"}
	working := skein.Activity{State: skein.StateWorking, Since: ago(time.Minute), Seq: 3}
	running := working
	running.Calls = calls
	asking := running
	asking.State, asking.Calls = skein.StateWaiting, []skein.ActiveCall{{ID: "c", Name: "bash", Asks: skein.AsksPermission, Seq: 4}}
	asking.Seq = 4
	question := asking
	question.Calls = []skein.ActiveCall{{ID: "c", Name: "ask_user", Asks: skein.AsksQuestion, Seq: 4}}
	idle := skein.Activity{State: skein.StateIdle, Since: ago(time.Hour), Seq: 5}
	open := idle
	open.May = true
	asked := hooknews.News{State: skein.StateWaiting, Tool: "bash", Asks: skein.AsksPermission, Text: "rm x", Since: at(ago(50 * time.Second)), At: at(ago(45 * time.Second))}
	for _, c := range []struct {
		name string
		s    skein.Session
		x    activity.Sight
		want activity.Situation
	}{
		{"nothing said", skein.Session{}, activity.Sight{}, activity.Situation{State: skein.StateIdle}},
		{"idle", skein.Session{Activity: idle, Updated: ago(time.Hour)}, activity.Sight{}, activity.Situation{State: skein.StateIdle, Since: ago(time.Hour)}},
		{"a live program works", skein.Session{Activity: running, Updated: ago(2 * time.Hour), LockedBy: "PID 1", Open: []string{"c"}}, activity.Sight{}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute), Tool: "bash"}},
		{"a live program asks", skein.Session{Activity: asking, Updated: ago(2 * time.Hour), LockedBy: "PID 1"}, activity.Sight{}, activity.Situation{State: skein.StateWaiting, Since: ago(time.Minute), Tool: "bash", Asks: skein.AsksPermission, Seq: 4}},
		{"a program died while a call ran", skein.Session{Activity: running, Updated: ago(time.Minute), Open: []string{"c"}}, activity.Sight{}, activity.Situation{State: skein.StateFailed, Since: ago(time.Minute), Tool: "bash", Reason: activity.Died}},
		{"a program died while it asked", skein.Session{Activity: asking, Updated: ago(time.Minute)}, activity.Sight{}, activity.Situation{State: skein.StateFailed, Since: ago(time.Minute), Tool: "bash", Reason: activity.Died}},
		{"a writer without a lease asks a question", skein.Session{Activity: question, Updated: ago(time.Hour)}, activity.Sight{}, activity.Situation{State: skein.StateWaiting, Since: ago(time.Minute), Tool: "ask_user", Asks: skein.AsksQuestion, Seq: 4}},
		{"a writer without a lease", skein.Session{Activity: working, Updated: ago(time.Minute)}, activity.Sight{}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute)}},
		{"a writer without a lease is gone", skein.Session{Activity: working, Updated: ago(11 * time.Minute)}, activity.Sight{}, activity.Situation{State: skein.StateIdle, Since: ago(11 * time.Minute), Reason: activity.Silent}},
		{"another program runs a tool", skein.Session{Activity: running, Origin: foreign, Updated: ago(20 * time.Minute)}, activity.Sight{}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute), Tool: "bash"}},
		{"another program ran a tool long ago", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{}, activity.Situation{State: skein.StateIdle, Since: ago(time.Hour), Reason: activity.Silent}},
		{"its file still grows", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{Changed: ago(time.Second)}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute), Tool: "bash"}},
		{"hooks say that it asks", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: asked}, activity.Situation{State: skein.StateWaiting, Since: ago(50 * time.Second), Tool: "bash", Asks: skein.AsksPermission, Text: "rm x"}},
		{"hooks say that it asks, and its file grew before", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: asked, Ahead: true, Changed: ago(51 * time.Second)}, activity.Situation{State: skein.StateWaiting, Since: ago(50 * time.Second), Tool: "bash", Asks: skein.AsksPermission, Text: "rm x"}},
		{"it went on after hooks said that it asks", skein.Session{Activity: working, Origin: foreign, Updated: ago(40 * time.Second)}, activity.Sight{News: asked}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute)}},
		{"hooks only say that it asks", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: hooknews.News{State: skein.StateWaiting, Asks: skein.AsksPermission, Text: "may I?", Since: at(ago(time.Second)), At: at(ago(time.Second))}}, activity.Situation{State: skein.StateWaiting, Since: ago(time.Second), Tool: "bash", Asks: skein.AsksPermission, Text: "may I?"}},
		{"hooks say that it works", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{News: hooknews.News{State: skein.StateWorking, Tool: "bash", Since: at(ago(20 * time.Minute)), At: at(ago(20 * time.Minute))}}, activity.Situation{State: skein.StateWorking, Since: ago(20 * time.Minute), Tool: "bash"}},
		{"hooks said that it works, long ago", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{News: hooknews.News{State: skein.StateWorking, Since: at(ago(20 * time.Minute)), At: at(ago(20 * time.Minute))}}, activity.Situation{State: skein.StateIdle, Since: ago(20 * time.Minute), Reason: activity.Silent}},
		{"hooks say that the turn is over", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: hooknews.News{State: skein.StateIdle, Since: at(ago(time.Second)), At: at(ago(time.Second))}}, activity.Situation{State: skein.StateIdle, Since: ago(time.Second)}},
		{"hooks say why it failed", skein.Session{Activity: working, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: hooknews.News{State: skein.StateFailed, Text: "rate_limit", Since: at(ago(time.Second)), At: at(ago(time.Second))}}, activity.Situation{State: skein.StateFailed, Since: ago(time.Second), Text: "rate_limit"}},
		{"hooks said nothing of it", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{News: hooknews.News{At: at(noon)}}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute), Tool: "bash"}},
		{"another program continues what hooks told of", skein.Session{Activity: running, Origin: foreign, Updated: ago(time.Minute), LockedBy: "PID 1"}, activity.Sight{News: asked}, activity.Situation{State: skein.StateWorking, Since: ago(time.Minute), Tool: "bash"}},
		{"another program asked long ago", skein.Session{Activity: asking, Origin: foreign, Updated: ago(10 * time.Hour)}, activity.Sight{}, activity.Situation{State: skein.StateWaiting, Since: ago(time.Minute), Tool: "bash", Asks: skein.AsksPermission, Seq: 4}},
		{"its file is ahead and grows", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{Changed: ago(time.Second), Ahead: true}, activity.Situation{State: skein.StateWorking, Since: ago(time.Second), Reason: activity.Growth}},
		{"its file is ahead and at rest", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{Changed: ago(time.Minute), Ahead: true}, activity.Situation{State: skein.StateIdle, Since: ago(time.Hour)}},
		{"its file changes, and all of it is imported", skein.Session{Activity: idle, Origin: foreign, Updated: ago(time.Hour)}, activity.Sight{Changed: ago(time.Second)}, activity.Situation{State: skein.StateIdle, Since: ago(time.Hour)}},
		{"a message just said may not be the last", skein.Session{Activity: open, Origin: foreign, Updated: ago(time.Second)}, activity.Sight{}, activity.Situation{State: skein.StateWorking, Since: ago(time.Hour)}},
		{"a message said a while ago was the last", skein.Session{Activity: open, Origin: foreign, Updated: ago(time.Minute)}, activity.Sight{}, activity.Situation{State: skein.StateIdle, Since: ago(time.Hour)}},
		{"failed", skein.Session{Activity: skein.Activity{State: skein.StateFailed, Since: noon, Seq: 7}}, activity.Sight{}, activity.Situation{State: skein.StateFailed, Since: noon, Seq: 7}},
		{"ended", skein.Session{Activity: skein.Activity{State: skein.StateEnded, Since: noon, Seq: 7}}, activity.Sight{}, activity.Situation{State: skein.StateEnded, Since: noon}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.x.Now = noon
			if got := activity.Of(&c.s, c.x); got != c.want {
				t.Errorf("Of = %+v, want %+v", got, c.want)
			}
		})
	}
}
