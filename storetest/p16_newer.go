package storetest

import "github.com/skein-dev/skein"

func newer() []check {
	return []check{
		{name: "what a newer version wrote is refused, and is as it was", newer: refusedNewer},
	}
}

func refusedNewer(t *test) {
	t.add("a", created(), user("x"))
	t.noErr("Close", t.s.Close())
	unchanged := t.options.Newer(t.T, t.address)
	for range 2 {
		s, err := t.options.Dial(t.address)
		t.wantErr("opening what a newer version wrote", err, skein.ErrNewer)
		if err == nil {
			t.noErr("Close", s.Close())
		}
	}
	t.noErr("what the newer version wrote", unchanged())
}
