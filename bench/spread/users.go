package main

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// A population makes users.
type population struct {
	dice  *rand.Rand
	shape shape
	sigma float64
	row   float64
}

// A user is what one brings to a shard.
type user struct {
	name             string
	sessions, events int
	bytes            float64
}

// user makes one. Their numbers of sessions are log-normal around
// sessionsPerUser; the lengths of the sessions are the shape's, brought to
// eventsPerSession on average, which leaves them as unequal as they are.
func (p population) user(i int) user {
	draw := math.Exp(p.dice.NormFloat64()*p.sigma - p.sigma*p.sigma/2)
	u := user{name: "user-" + strconv.Itoa(i), sessions: max(1, int(draw*sessionsPerUser+0.5))}
	events := 0.0
	for left := u.sessions; left > 0; {
		// A sample stands for a hundredth of a great many sessions.
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

// packed is what is left of a payload when PostgreSQL has compressed it.
const packed = 0.45

// shard returns where a user lies: by a hash of the name alone, so that all
// that a user has lies together.
func (u user) shard(n int) int {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(u.name) {
		h = (h ^ uint64(u.name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd // and mixed, for it is used modulo n
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return int((h ^ h>>33) % uint64(n))
}
