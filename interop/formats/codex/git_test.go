package codex

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestTheMetaSaysTheRepositoryAndAgainWhenItChanged(t *testing.T) {
	meta := func(git string) string {
		return wrap("session_meta", `{"id":"019de000-3333-7ccc-8ccc-00000000d003","cwd":"/home/ada/orchard","git":`+git+`}`)
	}
	const pears = `{"commit_hash":"64f8faf7b6145f03e7399048b6194e7ea1031d4d","branch":"pears","repository_url":"https://ada:s3cret@github.com/Ada/Orchard.git"}`
	asks := response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`)
	want := skein.Checkout{Repository: "github.com/ada/orchard", Branch: "pears", Commit: "64f8faf7b6145f03e7399048b6194e7ea1031d4d"}

	all := readAll(t, "x.jsonl", strings.Join([]string{meta(pears), asks, meta(pears), meta(`{"branch":"figs"}`), meta(`"odd"`), meta(`null`)}, "\n"))
	if got := all[0].Begin[0].Created.Checkout; got == nil || *got != want {
		t.Errorf("Created.Checkout = %+v, want %+v", got, want)
	}
	var changed []skein.Checkout
	for _, m := range all {
		for _, it := range m.Items {
			if c, err := skein.Decode[skein.Changed](it.Event); it.Event.Kind == skein.KindChanged && err == nil {
				changed = append(changed, *c.Checkout)
			}
		}
		if m.Damage != "" {
			t.Errorf("Damage = %q, want none", m.Damage)
		}
	}
	if len(changed) != 2 || changed[0] != (skein.Checkout{Branch: "figs"}) || changed[1] != (skein.Checkout{}) {
		t.Errorf("checkouts of changed events = %+v, want figs, then none", changed)
	}
}
