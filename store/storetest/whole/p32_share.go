package whole

import (
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func sharing() []harness.Check {
	return []harness.Check{
		{Name: "it is found by its secret, counted and ended", Run: lifeOfShare},
		{Name: "a purged session has none", Run: shareOfPurged},
		{Name: "a view has none", Run: viewOfShares},
	}
}

// sharesOf returns the links of the store; nil if it keeps none.
func sharesOf(t *harness.Test) accounts.Shares {
	all, _ := skein.PartOf[accounts.Shares](t.Store)
	return all
}

// ownerOf returns whose session id is.
func ownerOf(t *harness.Test, id skein.SessionID) skein.User {
	one, err := t.Store.Session(t.Context(), id)
	t.NoErr("Session", err)
	return one.User
}

// linkTo returns a link to a session.
func linkTo(name string, id skein.SessionID, user skein.User) accounts.SharedLink {
	return accounts.SharedLink{
		ID: name, Hash: sha256.Sum256([]byte(name)), User: user, Session: id, Shows: []byte(`{"from": 1, "to": 2}`), By: "laptop",
		Created: fixture.Noon, Expires: fixture.Noon + 1000,
	}
}

func lifeOfShare(t *harness.Test) {
	links := sharesOf(t)
	if links == nil {
		return
	}
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	owner := ownerOf(t, "a")
	one, two := linkTo("one", "a", owner), linkTo("two", "b", owner)
	two.Created++
	t.NoErr("AddShare", links.AddShare(t.Context(), one))
	t.NoErr("AddShare", links.AddShare(t.Context(), two))
	t.WantErr("AddShare of a taken ID", links.AddShare(t.Context(), one), skein.ErrExists)
	t.WantErr("AddShare of no session", links.AddShare(t.Context(), linkTo("x", "none", owner)), skein.ErrNotFound)
	t.WantErr("AddShare of another's session", links.AddShare(t.Context(), linkTo("x", "a", "mallory")), skein.ErrNotFound)

	t.NoErr("CountView", links.CountView(t.Context(), "one", fixture.Noon+20))
	t.NoErr("CountView", links.CountView(t.Context(), "one", fixture.Noon+10))
	t.NoErr("CountView of no link", links.CountView(t.Context(), "none", fixture.Noon))
	one.Views, one.Viewed = 2, fixture.Noon+20
	got, err := links.FindShare(t.Context(), one.Hash)
	t.NoErr("FindShare", err)
	harness.Equal(t, "FindShare", got, one)
	for what, x := range map[string]struct {
		user    skein.User
		session skein.SessionID
		want    []accounts.SharedLink
	}{
		"all": {"", "", []accounts.SharedLink{two, one}}, "the owner's": {owner, "", []accounts.SharedLink{two, one}},
		"a's": {"", "a", []accounts.SharedLink{one}}, "another's": {"mallory", "a", nil},
	} {
		got, err := links.Shares(t.Context(), x.user, x.session)
		t.NoErr("Shares", err)
		harness.Equal(t, "Shares: "+what, got, x.want)
	}

	t.WantErr("RemoveShare of another's link", links.RemoveShare(t.Context(), "mallory", "one"), skein.ErrNotFound)
	t.NoErr("RemoveShare", links.RemoveShare(t.Context(), owner, "one"))
	t.WantErr("RemoveShare again", links.RemoveShare(t.Context(), "", "one"), skein.ErrNotFound)
	_, err = links.FindShare(t.Context(), one.Hash)
	t.WantErr("FindShare of an ended link", err, skein.ErrNotFound)
}

func shareOfPurged(t *harness.Test) {
	links := sharesOf(t)
	if links == nil {
		return
	}
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	owner := ownerOf(t, "a")
	t.NoErr("AddShare", links.AddShare(t.Context(), linkTo("one", "a", owner)))
	t.NoErr("AddShare", links.AddShare(t.Context(), linkTo("two", "b", owner)))
	t.Delete("a")
	_, err := links.FindShare(t.Context(), linkTo("one", "a", owner).Hash)
	t.WantErr("FindShare of a purged session's link", err, skein.ErrNotFound)
	if left, err := links.Shares(t.Context(), "", ""); err != nil || len(left) != 1 || left[0].ID != "two" {
		t.Errorf("after the purge of a, Shares returns %+v, %v, want b's", left, err)
	}
}

func viewOfShares(t *harness.Test) {
	if sharesOf(t) == nil {
		return
	}
	t.As("ann", func() {
		anns := sharesOf(t)
		_, err := anns.Shares(t.Context(), "", "")
		t.WantErr("Shares of a view", err, skein.ErrRefused)
		_, err = anns.FindShare(t.Context(), linkTo("one", "a", "ann").Hash)
		t.WantErr("FindShare of a view", err, skein.ErrRefused)
		t.WantErr("AddShare of a view", anns.AddShare(t.Context(), linkTo("one", "a", "ann")), skein.ErrRefused)
		t.WantErr("CountView of a view", anns.CountView(t.Context(), "one", 1), skein.ErrRefused)
		t.WantErr("RemoveShare of a view", anns.RemoveShare(t.Context(), "", "one"), skein.ErrRefused)
	})
}
