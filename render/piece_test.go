package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

func TestPiecesAreSafe(t *testing.T) {
	p := render.NewPieces()
	const attack = "<script>alert(1)</script> [x](javascript:alert(1)) ![y](https://evil.example/p.png) <img src=x onerror=alert(1)>"
	for name, got := range map[string]string{"Prose": p.Prose(attack), "Typed": p.Typed(attack), "Code": p.Code("go", attack), "Code of a diff": p.Code("diff", "+"+attack)} {
		for _, bad := range []string{"<script", "<img", "href=\"javascript"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s(%q) = %q, want no %q", name, attack, got, bad)
			}
		}
	}
}

func TestFieldsKeepTheirOrder(t *testing.T) {
	got := render.Fields(json.RawMessage(`{"b":"x\ny","a":{"c":1},"n":2}`))
	if len(got) != 3 || got[0].Name != "b" || got[0].Value != "x\ny" || !got[0].Long || !got[1].JSON || got[2].Value != "2" {
		t.Errorf("Fields = %+v, want b, a and n as they stand", got)
	}
	for _, input := range []string{
		`{"n":{},"cmd":"go test"}`, `{"command":["bash","-lc","go test"],"workdir":"/home/ada"}`, `{"command":["go","test"]}`, `{"n":[1,2],"cmd":"go test"}`,
	} {
		if g := render.Gist(json.RawMessage(input)); g != "go test" {
			t.Errorf("Gist(%s) = %q, want %q", input, g, "go test")
		}
	}
}

// An error says its kind and its status only once.
func TestErrorLineSaysNothingTwice(t *testing.T) {
	for want, e := range map[string]skein.ErrorInfo{
		"overloaded: try later (HTTP 529)":             {Kind: "overloaded", Message: "try later", Status: 529},
		"request was turned down (HTTP 400): no":       {Kind: "request", Message: "request was turned down (HTTP 400): no", Status: 400},
		"rate_limit: 429 Too Many Requests: slow down": {Kind: "rate_limit", Message: "429 Too Many Requests: slow down", Status: 429},
		"gone": {Message: "gone"},
	} {
		if got := render.ErrorLine(&e); got != want {
			t.Errorf("ErrorLine(%+v) = %q, want %q", e, got, want)
		}
	}
}
