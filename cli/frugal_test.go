package cli

import "testing"

func TestTheGoalIsHigherWhereCollectionsFindNothing(t *testing.T) {
	const mb = 1 << 20
	var g goal
	made := int64(0)
	for i, c := range []struct{ live, made, want int64 }{
		{200 * mb, 33 * mb, 48 * mb}, // large pieces: each collection frees some
		{200 * mb, 33 * mb, 48 * mb},
		{200 * mb, mb, 48 * mb},
		{200 * mb, mb, 48 * mb},
		{200 * mb, mb, 48 * mb},
		{200 * mb, mb, (200 + 24) * mb},
		{220 * mb, 60 * mb, (200 + 24) * mb},
		{20 * mb, 60 * mb, 48 * mb},
	} {
		made += c.made
		if got := g.after(c.live, made); got != c.want {
			t.Errorf("collection %d, with %d MB in use, %d MB after the one before: the goal is %d MB, want %d", i, c.live/mb, c.made/mb, got/mb, c.want/mb)
		}
	}
}
