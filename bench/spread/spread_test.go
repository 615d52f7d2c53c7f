package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsersAddUpToWhatTheArithmeticBeginsWith(t *testing.T) {
	p := population{rand.New(rand.NewPCG(1, 2)), usual(), 0.5, 0}
	var sessions, events moments
	for i := range 20_000 {
		u := p.user(i)
		sessions.add(float64(u.sessions))
		events.add(float64(u.events))
	}
	if got := sessions.mean(); math.Abs(got-sessionsPerUser) > 2 {
		t.Errorf("a user has %.1f sessions on average, want about %d", got, sessionsPerUser)
	}
	if got := events.sum / sessions.sum; math.Abs(got-eventsPerSession) > 2 {
		t.Errorf("a session has %.1f events on average, want about %d", got, eventsPerSession)
	}
}

func TestShardsOfUsersThatAreAlikeDifferAsDrawsDo(t *testing.T) {
	s := newSpread(32)
	for i := range 64_000 {
		s.put(user{name: fmt.Sprint("user-", i), events: 1})
	}
	m := s.total(func(l load) float64 { return float64(l.events) })
	// 2,000 users a shard: a deviation of √2000, 2.2 %.
	if m.max > 2000*1.1 || m.variation() > 0.03 || m.sum != 64_000 {
		t.Errorf("the fullest of 32 shards has %.0f of %.0f users, they vary by %.3f, want about 2000 and 0.022", m.max, m.sum, m.variation())
	}
}

func TestSizesComeFromTheCorpus(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.jsonl": "{}\n{}\n", "b.jsonl": "{\"a\":\"bcde\"}\n{}\n{}\n{}\n", "c.txt": "no\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := shapeOf(dir)
	if err != nil || s.mean != 3 || s.size != 28.0/6 {
		t.Errorf("shapeOf() = %+v, %v, want 3 records a session, 28 bytes in 6 of them", s, err)
	}
}

func TestItPrintsEachNumberOfShards(t *testing.T) {
	var b strings.Builder
	if err := run(&b, 1000, 1, "", 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1000 users", "  32 shards", "  64 shards", " 128 shards", "expected about"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it prints no %q:\n%s", want, b.String())
		}
	}
}
