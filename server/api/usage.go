package api

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

// A UsageQuery is a [skein.UsageQuery] as JSON.
type UsageQuery struct {
	By         skein.Dimension   `json:"by"`
	Then       skein.Dimension   `json:"then,omitempty"`
	User       skein.User        `json:"user,omitempty"`
	Sessions   []skein.SessionID `json:"sessions,omitempty"`
	Project    string            `json:"project,omitempty"`
	Repository string            `json:"repository,omitempty"` // with project: sessions of either
	Agent      string            `json:"agent,omitempty"`
	Since      skein.Time        `json:"since,omitzero"`
	Until      skein.Time        `json:"until,omitzero"`
	Zone       []Offset          `json:"zone,omitempty"` // that days are counted in; empty for UTC
}

// An Offset is how far a zone's clocks are east of UTC from a moment on. The
// first offset of a zone also applies before that moment.
type Offset struct {
	From    skein.Time `json:"from"`
	Seconds int        `json:"seconds"`
}

// The years whose clock changes are sent: sessions of AI agents fall into
// these.
const (
	firstYear = 2000
	lastYear  = 2037 // the last full year of 32-bit seconds
)

// ZoneOf returns the offsets of a zone in the years 2000 to 2037; nil for UTC.
func ZoneOf(l *time.Location) []Offset {
	if l == nil || l == time.UTC {
		return nil
	}
	var out []Offset
	end := time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC)
	for t := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC).In(l); ; {
		_, seconds := t.Zone()
		out = append(out, Offset{skein.At(t), seconds})
		_, next := t.ZoneBounds()
		if next.IsZero() || next.After(end) {
			return out
		}
		t = next
	}
}

// Location returns the zone that has these offsets; nil if there are none.
//
// The error wraps [skein.ErrInvalid].
func Location(zone []Offset) (*time.Location, error) {
	if len(zone) == 0 {
		return nil, nil //nolint:nilnil // UTC, as skein.UsageQuery says it
	}
	l, err := time.LoadLocationFromTZData("zone", tzif(zone))
	if err != nil {
		return nil, fmt.Errorf("%w zone: %w", skein.ErrInvalid, err)
	}
	return l, nil
}

// tzif returns a zone in the format of RFC 8536, version 1: a header, the
// transition times (4 bytes each), the type of each transition (1 byte each),
// the types (4 bytes of offset, 1 of summer time, 1 of index of the name), and
// one name.
func tzif(zone []Offset) []byte {
	var b bytes.Buffer
	n := len(zone)
	b.WriteString("TZif")
	b.Write(make([]byte, 16))
	for _, count := range []int{0, 0, 0, n, n, len("-\x00")} {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(count))) //nolint:gosec // small
	}
	for _, o := range zone {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(int32(o.From.Std().Unix())))) //nolint:gosec // what does not fit is no zone of ours
	}
	for i := range zone {
		b.WriteByte(byte(i))
	}
	for _, o := range zone {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(int32(o.Seconds)))) //nolint:gosec // as above
		b.Write([]byte{0, 0})
	}
	b.WriteString("-\x00")
	return b.Bytes()
}

// A UsageRow is a [skein.UsageRow] as JSON.
type UsageRow struct {
	Of       string      `json:"of"`
	Then     string      `json:"then,omitempty"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
	Tier     skein.Tier  `json:"tier,omitempty"`
	Usage    skein.Usage `json:"usage"`
	Recorded skein.Usage `json:"recorded,omitzero" doc:"the part of usage of the requests whose cost the source reported"`
}
