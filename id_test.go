package skein_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

func TestNewSessionIDIsAUUIDv7(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	at := time.UnixMilli(0x0123456789ab)
	seen := map[skein.SessionID]bool{}
	for range 1000 {
		id := skein.NewSessionID(at)
		if !uuid.MatchString(string(id)) || !strings.HasPrefix(string(id), "01234567-89ab-7") || id.Check() != nil {
			t.Fatalf("NewSessionID(%v) = %s, %v; want a UUIDv7 that begins 01234567-89ab", at, id, id.Check())
		}
		if seen[id] {
			t.Fatalf("NewSessionID gave %s twice", id)
		}
		seen[id] = true
	}
	if early, late := skein.NewSessionID(at), skein.NewSessionID(at.Add(time.Millisecond)); early >= late {
		t.Errorf("%s, made before %s, does not sort before it", early, late)
	}
}

func TestSessionIDCheck(t *testing.T) {
	for id, ok := range map[skein.SessionID]bool{
		"a": true, "ses_0123": true, "a b~12": true, "é": true, skein.SessionID(strings.Repeat("x", skein.MaxIDLen)): true,
		"": false, "a/b": false, ".": false, "..": false, "...": true, "a\nb": false, "a\x7f": false, "\xff": false, skein.SessionID(strings.Repeat("x", skein.MaxIDLen+1)): false,
	} {
		if err := id.Check(); (err == nil) != ok || err != nil && !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("SessionID(%q).Check() = %v, want ok: %v", id, err, ok)
		}
	}
}

func TestTimeHasOneShape(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T04:36:00.123Z": "2026-11-21T04:36:00.123Z", "2026-11-21T05:36:00.1239+01:00": "2026-11-21T04:36:00.123Z",
		"2026-11-21T04:36:00Z": "2026-11-21T04:36:00.000Z", "1969-12-31T23:59:59.999Z": "1969-12-31T23:59:59.999Z", "": "",
	} {
		got, err := skein.ParseTime(in)
		if err != nil || got.String() != want {
			t.Errorf("ParseTime(%q) = %s, %v; want %s", in, got, err, want)
		}
		b, err := json.Marshal(got)
		var back skein.Time
		if err != nil || string(b) != `"`+want+`"` || json.Unmarshal(b, &back) != nil || back != got {
			t.Errorf("%#v in JSON is %s, %v, and %#v again", got, b, err, back)
		}
	}
	for _, in := range []string{"yesterday", "2026-11-21", "1795235760"} {
		if _, err := skein.ParseTime(in); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), in) {
			t.Errorf("ParseTime(%q): %v, want an error wrapping ErrInvalid that names it", in, err)
		}
	}
	if _, err := skein.Time(1 << 60).MarshalText(); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("a time in the year 36 million in JSON: %v, want an error wrapping ErrInvalid", err)
	}
	if skein.At(time.Time{}) != 0 || !skein.Time(0).Std().IsZero() {
		t.Error("the time that is not known is not kept")
	}
}

func TestSlotIsTheQuarterOfAnHour(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T04:36:00.123Z": "2026-11-21T04:30:00.000Z", "2026-11-21T04:30:00Z": "2026-11-21T04:30:00.000Z",
		"1969-12-31T23:59:59Z": "1969-12-31T23:45:00.000Z",
	} {
		at, err := skein.ParseTime(in)
		if got := at.Slot().String(); err != nil || got != want {
			t.Errorf("Slot of %s is %s, want %s", in, got, want)
		}
	}
}
