package codex

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// keyPrefix is the prefix of the keys of all Codex records.
const keyPrefix = "cx:"

// A place is a record's position in its family of threads, described the same way in
// a thread and in a fork that replays it.
type place struct {
	root  string // thread that the family began with
	chain string // hash of what was typed so far, if turns have no ID
	turn  string // ID of the turn; "" in older versions

	seen   map[uint64]int // hash of a record → number of them so far
	groups map[string]int // place → number of the model's messages that began there
}

func newPlace() place {
	return place{seen: map[uint64]int{}, groups: map[string]int{}}
}

// name returns the place's name. A turn's ID is globally unique; without one, two
// files have the same place if the same thread came to the same text.
func (p *place) name() string {
	if p.turn != "" {
		return p.turn
	}
	return p.root + "/" + p.chain
}

// typed moves to the place after a user's message.
func (p *place) typed(text skein.Text) {
	if p.turn == "" {
		sum := sha256.Sum256([]byte(p.chain + "\x00" + string(text)))
		p.chain = hex.EncodeToString(sum[:8])
	}
}

// key returns the key of a record that makes these items at this place: equal in a
// thread and in its replays, and nowhere else.
func (p *place) key(items []interop.Item) skein.ClientID {
	h := sha256.New()
	h.Write([]byte(p.name()))
	for _, it := range items {
		h.Write([]byte{0})
		h.Write([]byte(it.Event.Kind))
		h.Write([]byte{0})
		h.Write(it.Event.Payload)
	}
	sum := h.Sum(nil)
	short := binary.BigEndian.Uint64(sum)
	n := p.seen[short]
	p.seen[short]++
	return skein.ClientID(keyPrefix + base64.RawURLEncoding.EncodeToString(sum[:16]) + ":" + strconv.Itoa(n))
}

// group returns the ID of the next message of the model at this place.
func (p *place) group() string {
	name := p.name()
	p.groups[name]++
	return keyPrefix + short(name) + ":" + strconv.Itoa(p.groups[name])
}

// request returns the ID of the model request after which the thread's token total
// was all.
func (p *place) request(all int64) string {
	return keyPrefix + short(p.name()) + ":" + strconv.FormatInt(all, 10)
}

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// threadKey is the key of a thread's own session_meta record.
func threadKey(id string) skein.ClientID {
	if len(id) > 64 {
		id = short(id)
	}
	return skein.ClientID(keyPrefix + "thread:" + id)
}
