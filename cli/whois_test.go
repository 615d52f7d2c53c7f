package cli

import (
	"os"
	"testing"

	"github.com/skein-dev/skein"
)

func TestWhoHoldsASessionElsewhereIsSaidWithTheHost(t *testing.T) {
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    skein.Holder
		more string
	}{
		{skein.Holder{Program: "skein chat", PID: 7, Host: here}, ""},
		{skein.Holder{Program: "skein chat", PID: 7}, ""},
		{skein.Holder{Program: "agent", Host: "far"}, ""}, // it begins with the host
		{skein.Holder{Program: "skein chat", PID: 7, Host: "far"}, " on far"},
	} {
		if got, want := whoIs(c.h), c.h.String()+c.more; got != want {
			t.Errorf("whoIs(%+v) = %q, want %q", c.h, got, want)
		}
	}
}
