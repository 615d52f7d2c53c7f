package door_test

import (
	"testing"

	"github.com/skein-dev/skein/server/door"
)

func TestOnlyATokenOfEverybodyMayNameAUser(t *testing.T) {
	h := newHouse(t)
	ann, err := h.tokens.Add(door.Token{Name: "ann's", Scope: "admin", User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	bearer := "Authorization: Bearer " + ann
	if got := h.ask("GET /v1/read", "", door.UserHeader+": a%26b").Body.String(); got != "first a&b" {
		t.Errorf("the first token for the user a&b is %q, want that user's", got)
	}
	h.wants(200, "GET /v1/read", "", bearer, door.UserHeader+": ann")
	h.wants(403, "GET /v1/read", "", bearer, door.UserHeader+": bob")
	h.wants(403, "GET /v1/read", "", bearer, door.UserHeader+": %zz")
	if got := h.ask("GET /v1/read", "", bearer).Body.String(); got != "ann's ann" {
		t.Errorf("ann's token without a user is %q, want hers", got)
	}
}
