package main

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// A population generates users.
type population struct {
	dice  *rand.Rand
	shape shape
	sigma float64
	row   float64
}

// A user is what one user adds to a shard.
type user struct {
	name             string
	sessions, events int
	bytes            float64
}

// user generates user i. The numbers of sessions are log-normal around
// sessionsPerUser; the lengths of the sessions are the shape's, scaled to
// eventsPerSession on average, which keeps their relative differences.
func (p population) user(i int) user {
	draw := math.Exp(p.dice.NormFloat64()*p.sigma - p.sigma*p.sigma/2)
	u := user{name: "user-" + strconv.Itoa(i), sessions: max(1, int(draw*sessionsPerUser+0.5))}
	events := 0.0
	for left := u.sessions; left > 0; {
		// For a user with many sessions, each draw represents a hundredth of
		// them.
		of := max(1, u.sessions/100)
		of = min(of, left)
		length := p.shape.lengths[p.dice.IntN(len(p.shape.lengths))]
		events += float64(of) * length / p.shape.mean * eventsPerSession
		left -= of
	}
	u.events = int(events + 0.5)
	u.bytes = float64(u.events) * (p.shape.size*packed + p.row)
	return u
}

// packed is the share of a payload that remains after PostgreSQL compresses it.
const packed = 0.45

// shard returns the user's shard, by a hash of the name alone, so that all of a
// user's data is on one shard.
func (u user) shard(n int) int {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(u.name) {
		h = (h ^ uint64(u.name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd // mixed further, because it is used modulo n
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return int((h ^ h>>33) % uint64(n))
}
