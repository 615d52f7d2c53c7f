package main

import (
	"fmt"
	"io"
	"math"
)

// A spread is the load of each of n shards.
type spread struct{ loads []load }

type load struct {
	users, sessions, events int
	bytes                   float64
}

func newSpread(n int) *spread { return &spread{make([]load, n)} }

func (s *spread) put(u user) {
	l := &s.loads[u.shard(len(s.loads))]
	l.users++
	l.sessions += u.sessions
	l.events += u.events
	l.bytes += u.bytes
}

func (s *spread) sessions() float64 {
	return s.total(func(l load) float64 { return float64(l.sessions) }).sum
}

func (s *spread) bytes() float64 { return s.total(func(l load) float64 { return l.bytes }).sum }

func (s *spread) total(of func(load) float64) (m moments) {
	for _, l := range s.loads {
		m.add(of(l))
	}
	return m
}

// print writes the shards' loads, each with what the arithmetic expects of the
// fullest one: the largest of n draws around a mean is about √(2 ln n)
// deviations above it, and a shard's deviation is a user's divided by the root
// of the shard's number of users.
func (s *spread) print(w io.Writer, user moments) {
	n := float64(len(s.loads))
	expected := 1 + math.Sqrt(2*math.Log(n))*user.variation()/math.Sqrt(user.n/n)
	events := s.total(func(l load) float64 { return float64(l.events) })
	size := s.total(func(l load) float64 { return l.bytes })
	perSecond := events.max / (years * 365 * 86400) * peak
	fmt.Fprintf(w, "%4d shards: the fullest has %.3f times the mean (expected about %.3f): %.0f million events, %.2f TB, %.0f appends/s at peak (mean shard %.0f million, %.2f TB)\n",
		len(s.loads), events.max/events.mean(), expected, events.max/1e6, size.max/1e12, perSecond, events.mean()/1e6, size.mean()/1e12)
}

// moments are sums over a list of numbers.
type moments struct{ n, sum, squares, max float64 }

func (m *moments) add(x float64) {
	m.n, m.sum, m.squares, m.max = m.n+1, m.sum+x, m.squares+x*x, max(m.max, x)
}

func (m moments) mean() float64 { return m.sum / m.n }

// variation returns the standard deviation as a multiple of the mean.
func (m moments) variation() float64 {
	mean := m.mean()
	return math.Sqrt(max(0, m.squares/m.n-mean*mean)) / mean
}
