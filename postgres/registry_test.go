package postgres_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/postgres"
)

func TestTheRegistryIsNoViews(t *testing.T) {
	s, err := postgres.Open(t.Context(), pgtest.DSN(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	if err := s.AddUser(ctx, skein.Account{User: "ann"}); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("t"))
	if err := s.AddAccess(ctx, skein.Access{Name: "anns", User: "ann", Scope: "write", Hash: hash}); err != nil {
		t.Fatal(err)
	}
	view := s.As("ann").(skein.Registry)
	_, findErr := view.FindAccess(ctx, hash)
	_, usersErr := view.Users(ctx)
	_, secretErr := view.LoginSecret(ctx)
	for what, err := range map[string]error{
		"FindAccess": findErr, "Users": usersErr, "LoginSecret": secretErr, "AddUser": view.AddUser(ctx, skein.Account{User: "eve"}),
		"AddAccess":  view.AddAccess(ctx, skein.Access{Name: "x", Scope: "admin", Hash: sha256.Sum256([]byte("x"))}),
		"SetUser":    view.SetUser(ctx, skein.Account{User: "ann"}),
		"RemoveUser": view.RemoveUser(ctx, "ann"), "RemoveAccess": view.RemoveAccess(ctx, "anns"),
	} {
		if !errors.Is(err, skein.ErrRefused) {
			t.Errorf("%s of a view = %v, want %v", what, err, skein.ErrRefused)
		}
	}
	a, err := s.FindAccess(ctx, hash)
	if err != nil || a.User != "ann" || a.Name != "anns" || a.Scope != "write" {
		t.Errorf("FindAccess = %+v, %v, want what was added", a, err)
	}
	if err := s.RemoveUser(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.FindAccess(ctx, hash); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("FindAccess of a removed user's token = %v, want %v", err, skein.ErrNotFound)
	}
	for _, name := range []skein.User{"", "a/b", "a\x00b", "\xff"} {
		if err := s.AddUser(ctx, skein.Account{User: name}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("AddUser(%q) = %v, want %v", name, err, skein.ErrInvalid)
		}
	}
}
