package postgres_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/postgres"
)

func TestTheRegistryIsNoViews(t *testing.T) {
	s, err := postgres.Open(t.Context(), pgtest.DSN(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	if err := s.AddUser(ctx, accounts.Account{User: "ann"}); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("t"))
	if err := s.AddAccess(ctx, accounts.Access{Name: "anns", User: "ann", Scope: "write", Hash: hash}); err != nil {
		t.Fatal(err)
	}
	view := s.As("ann").(accounts.Registry)
	_, findErr := view.FindAccesses(ctx, [][32]byte{hash})
	_, usersErr := view.Users(ctx)
	_, loginsErr := view.Logins(ctx)
	_, findLoginsErr := view.FindLogins(ctx, nil)
	_, removeLoginsErr := view.RemoveLogins(ctx, nil)
	for what, err := range map[string]error{
		"FindAccesses": findErr, "Users": usersErr, "Logins": loginsErr, "FindLogins": findLoginsErr, "RemoveLogins": removeLoginsErr,
		"AddLogin": view.AddLogin(ctx, accounts.Login{}), "UseLogin": view.UseLogin(ctx, hash, 1, ""), "AddUser": view.AddUser(ctx, accounts.Account{User: "eve"}),
		"AddAccess":  view.AddAccess(ctx, accounts.Access{Name: "x", Scope: "admin", Hash: sha256.Sum256([]byte("x"))}),
		"SetUser":    view.SetUser(ctx, accounts.Account{User: "ann"}),
		"RemoveUser": view.RemoveUser(ctx, "ann"), "RemoveAccess": view.RemoveAccess(ctx, "anns"), "SetAccess": view.SetAccess(ctx, accounts.Access{Name: "anns", Scope: "admin"}),
	} {
		if !errors.Is(err, skein.ErrRefused) {
			t.Errorf("%s of a view = %v, want %v", what, err, skein.ErrRefused)
		}
	}
	a, err := s.FindAccesses(ctx, [][32]byte{{1}, hash})
	if err != nil || len(a) != 1 || a[0].User != "ann" || a[0].Name != "anns" || a[0].Scope != "write" {
		t.Errorf("FindAccesses = %+v, %v, want what was added", a, err)
	}
	if err := s.RemoveUser(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	if a, err := s.FindAccesses(ctx, [][32]byte{hash}); err != nil || len(a) > 0 {
		t.Errorf("FindAccesses of a removed user's token = %+v, %v, want none", a, err)
	}
	for _, name := range []skein.User{"", "a/b", "a\x00b", "\xff"} {
		if err := s.AddUser(ctx, accounts.Account{User: name}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("AddUser(%q) = %v, want %v", name, err, skein.ErrInvalid)
		}
	}
}

func TestLoginsGoWithTheirTokensAndUsers(t *testing.T) {
	ctx := t.Context()
	s, err := postgres.Open(ctx, pgtest.DSN(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, u := range []skein.User{"ann", "bob"} {
		if err := s.AddUser(ctx, accounts.Account{User: u}); err != nil {
			t.Fatal(err)
		}
		if err := s.AddAccess(ctx, accounts.Access{Name: string(u), User: u, Scope: "write", Hash: sha256.Sum256([]byte(u))}); err != nil {
			t.Fatal(err)
		}
	}
	login := func(id, token string, used skein.Time) accounts.Login {
		return accounts.Login{ID: id, Hash: sha256.Sum256([]byte(id)), Access: accounts.Access{Name: token}, Device: "Firefox on Linux", Address: "::1", Created: used, Used: used, Expires: used + 1000}
	}
	for _, l := range []accounts.Login{login("a1", "ann", 10), login("a2", "ann", 20), login("b1", "bob", 30), login("b2", "bob", 40)} {
		if err := s.AddLogin(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddLogin(ctx, login("x", "nobody", 1)); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("AddLogin with a token that is not there = %v, want %v", err, skein.ErrNotFound)
	}
	if err := s.UseLogin(ctx, sha256.Sum256([]byte("a1")), 50, "10.0.0.1"); err != nil {
		t.Fatal(err)
	}
	ids := func() string {
		t.Helper()
		all, err := s.Logins(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, l := range all {
			text += l.ID + " "
		}
		return text
	}
	if got, want := ids(), "a1 b2 b1 a2 "; got != want {
		t.Errorf("Logins = %s, want %s", got, want)
	}
	found, err := s.FindLogins(ctx, [][32]byte{sha256.Sum256([]byte("a1")), {1}})
	if err != nil || len(found) != 1 || found[0].Access.User != "ann" || found[0].Access.Scope != "write" || found[0].Address != "10.0.0.1" || found[0].Used != 50 || found[0].Created != 10 {
		t.Errorf("FindLogins = %+v, %v, want ann's first", found, err)
	}
	if n, err := s.RemoveLogins(ctx, []string{"a1", "zz"}); n != 1 || err != nil {
		t.Errorf("RemoveLogins = %d, %v, want 1", n, err)
	}
	if err := s.SetAccess(ctx, accounts.Access{Name: "bob", Scope: "read"}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.AccessNamed(ctx, "bob"); err != nil || a.Scope != "read" || a.User != "bob" {
		t.Errorf("AccessNamed after SetAccess = %+v, %v, want bob's with the scope read", a, err)
	}
	if err := s.SetAccess(ctx, accounts.Access{Name: "nobody", Scope: "read"}); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("SetAccess of a token that is not there = %v, want %v", err, skein.ErrNotFound)
	}
	if err := s.RemoveAccess(ctx, "bob"); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(), "a2 "; got != want {
		t.Errorf("Logins after a token was removed = %s, want %s", got, want)
	}
	if err := s.RemoveUser(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := ids(); got != "" {
		t.Errorf("Logins after the users are gone = %s, want none", got)
	}
}
