package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func testPacker(t testing.TB) *Packer {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// roundTrip packs and unpacks a payload as that of an event, and returns its
// stored form.
func roundTrip(t *testing.T, p *Packer, kind skein.Kind, payload []byte) []byte {
	t.Helper()
	f, err := skein.FactsOf(skein.Event{Kind: kind, Payload: payload})
	if err != nil {
		return nil // no store accepts it
	}
	stored := p.Pack(payload, Quote(f.Text, f.Spans))
	got, err := p.Unpack(stored, f.Text)
	if err != nil || !bytes.Equal(got, payload) {
		t.Fatalf("unpack(pack(%q)) = %q, %v", payload, got, err)
	}
	return stored
}

func TestPackedPayloadsComeBackExactly(t *testing.T) {
	p := testPacker(t)
	long := strings.Repeat("a long text that stands once ", 4)
	for _, c := range []struct {
		name, payload string
		text          bool // some of it stays in the payload
	}{
		{"short", `{"role":"user","parts":[{"kind":"text","text":"hi"}]}`, true},
		{"long", `{"role":"user","parts":[{"kind":"text","text":"` + long + `"}]}`, false},
		{"twice", `{"role":"user","parts":[{"kind":"text","text":"` + long + `"}],"meta":["` + long + `"]}`, false},
		{"escaped as we do", `{"role":"user","parts":[{"kind":"text","text":"` + long + `\n\t\"\\ é 東"}]}`, false},
		{"escaped otherwise", `{"role":"user","parts":[{"kind":"text","text":"` + long + `\u000a\/"}]}`, true},
		{"lone surrogate", `{"role":"user","parts":[{"kind":"text","text":"` + long + `\ud800"}]}`, true},
		{"NUL", `{"role":"user","parts":[{"kind":"text","text":"` + long + `\u0000"}]}`, false},
		{"as a key", `{"role":"user","parts":[{"kind":"text","text":"` + long + `"}],"` + long + `":1}`, false},
		{"many", `{"role":"user","parts":[{"kind":"text","text":"` + long + `1"},{"kind":"reasoning","text":"` + long + `2"},{"kind":"call","call":{"id":"c","name":"n","input":{"a":"` + long + `3"}}}]}`, false},
		{"unknown fields", `{ "role" : "user", "parts" : [ {"kind":"text","text":"` + long + `"} ] , "x" : [1.10, null], "x": 2 }`, false},
	} {
		stored := roundTrip(t, p, skein.KindSaid, []byte(c.payload))
		if stored == nil {
			t.Fatalf("%s: it is no event", c.name)
		}
		if got := bytes.Contains(stored, []byte("stands once")) || stored[0] == '{'; got != c.text {
			t.Errorf("%s: stored is %q: text in it %v, want %v", c.name, stored, got, c.text)
		}
	}
	big := `{"role":"user","parts":[],"meta":"` + strings.Repeat("many words ", 10_000) + `"}`
	if stored := roundTrip(t, p, skein.KindSaid, []byte(big)); len(stored) > len(big)/10 {
		t.Errorf("%d bytes are stored as %d, want them compressed", len(big), len(stored))
	}
}

func TestLongPayloadsComeBackExactly(t *testing.T) {
	p := testPacker(t)
	for _, unit := range []string{"a long text\n", "\"", "\u6587", "\x01", "x"} {
		text := strings.Repeat(unit, longSpan/len(unit)+1)
		other := text[:len(text)-len(unit)] + strings.Repeat("y", len(unit)) // differs at the end
		payload := skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart(text), skein.TextPart(other), skein.TextPart(text)}}).Payload
		if stored := roundTrip(t, p, skein.KindSaid, payload); len(stored) > 500 {
			t.Errorf("a payload of %q, which is in the text beside it, takes %d bytes", unit, len(stored))
		}
	}
}

// What schemas 1 and 2 stored has no dictionary.
func TestPayloadsWithoutADictionary(t *testing.T) {
	p := testPacker(t)
	payload := `{"name":"x","data":"` + strings.Repeat("many words ", 100) + `"}`
	got, err := p.Unpack(p.compress(p.enc, []byte(payload), formZstd), "")
	if err != nil || string(got) != payload {
		t.Errorf("Unpack = %.40q, %v, want %.40q", got, err, payload)
	}
}

// The dictionary holds what is in most payloads.
func TestShortPayloadsAreCompressed(t *testing.T) {
	p := testPacker(t)
	payload := `{"id":"msg_01Ab2Cd3Ef4Gh5Jk6Lm7Np8Q","role":"assistant","parts":[{"kind":"call","call":{"id":"toolu_01Zy9Xw8Vu7Ts6Rq5Pn4Mk","name":"Bash","input":{"command":"ls","timeout":120000}}}],"provider":"anthropic","model":"claude-opus-4-6","request":"msg_01Ab2Cd3Ef4Gh5Jk6Lm7Np8Q/req_011CBcDeFgHjKmNpQrStUvWx","usage":{"input":1,"output":25,"cache_read":75618,"cache_write":202}}`
	if stored := roundTrip(t, p, skein.KindSaid, []byte(payload)); len(stored) > len(payload)*2/5 {
		t.Errorf("%d bytes are stored as %d, want two fifths", len(payload), len(stored))
	}
}

func TestDamagedPayloadsAreErrors(t *testing.T) {
	p := testPacker(t)
	text := strings.Repeat("a long text that stands once ", 4)
	payload := skein.MustJSON(skein.UserSays(text))
	stored := roundTrip(t, p, skein.KindSaid, payload)
	for i := range stored { // cut at every byte
		if got, err := p.Unpack(stored[:i], text); err == nil && i > 0 && !json.Valid(got) {
			continue // shorter, and not JSON: its reader reports that
		} else if err != nil && !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("unpack of the first %d bytes = %v, want %v", i, err, skein.ErrCorrupt)
		}
	}
	for _, bad := range []string{"", "\x00x", "\x05x", "\x02nozstd", "\x01\x01x\x01\xff\xff\xff\xff\x0f", "\x01\x7fx"} {
		if got, err := p.Unpack([]byte(bad), text); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("unpack(%q) = %q, %v, want %v", bad, got, err, skein.ErrCorrupt)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add("said", []byte(`{"role":"user","parts":[{"kind":"text","text":"some text that is long enough to be referred to\n"}]}`))
	f.Add("said", []byte(`{"role":"tool","parts":[{"kind":"result","result":{"call_id":"c","text":"\ud800 some text that is long enough to be referred to"}}]}`))
	f.Add("compacted", []byte(`{"to":0,"summary":"some text that is long enough to be referred to \\ \" \u0000"}`))
	f.Add("noted", []byte(`{"name":"x","data":"\"\\"}`))
	p, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(p.Close)
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		roundTrip(t, p, skein.Kind(kind), payload)
		// Stored bytes may be damaged in any way.
		if _, err := p.Unpack(payload, "some text"); err != nil && !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("unpack(%q) = %v, want %v", payload, err, skein.ErrCorrupt)
		}
	})
}
