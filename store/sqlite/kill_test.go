package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// After kill -9 at random moments, every acknowledged event is stored, in
// order, once.
func TestEveryAcknowledgedEventOutlivesKill(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	for w := range 4 {
		add(t, s, skein.SessionID(fmt.Sprint("s", w)), created())
	}
	shut(t, s)
	acked := map[string]map[skein.ClientID]skein.Seq{}
	total := 0
	for round := range kills {
		total += killOnce(t, name, fmt.Sprint("r", round), acked)
		if round%10 == 9 || round == kills-1 {
			checkAcked(t, name, acked)
		}
	}
	t.Logf("%d kills, %d acknowledged events", kills, total)
}

// killOnce lets a child append for a moment, kills it, and adds what it
// acknowledged to acked.
func killOnce(t *testing.T, name, prefix string, acked map[string]map[skein.ClientID]skein.Seq) (n int) {
	t.Helper()
	c := start(t, "append", name, prefix)
	took := func(line string) {
		var id string
		var client skein.ClientID
		var seq skein.Seq
		if _, err := fmt.Sscan(line, &id, &client, &seq); err != nil {
			t.Fatalf("the other process says %q: %v", line, err)
		}
		if acked[id] == nil {
			acked[id] = map[skein.ClientID]skein.Seq{}
		}
		acked[id][client] = seq
		n++
	}
	took(c.line())
	timer := time.AfterFunc(time.Duration(rand.IntN(15_000))*time.Microsecond, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			break // the line has no end: the child did not finish it
		}
		took(line)
	}
	_ = c.cmd.Wait()
	return n
}

func checkAcked(t *testing.T, name string, acked map[string]map[skein.ClientID]skein.Seq) {
	t.Helper()
	s := open(t, name)
	defer shut(t, s)
	for id, want := range acked {
		places := map[skein.ClientID]skein.Seq{}
		for _, e := range events(t, s, skein.SessionID(id)) {
			if at, twice := places[e.ClientID]; twice && e.ClientID != "" {
				t.Fatalf("session %s has %s at %d and at %d", id, e.ClientID, at, e.Seq)
			}
			places[e.ClientID] = e.Seq
		}
		for client, seq := range want {
			if places[client] != seq {
				t.Fatalf("session %s has %s at %d, acknowledged was %d", id, client, places[client], seq)
			}
		}
	}
}
