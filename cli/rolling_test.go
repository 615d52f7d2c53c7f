package cli

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/sqlite"
)

// alwaysDue is a store that always needs a backup.
type alwaysDue struct{ *sqlite.Store }

func (alwaysDue) Due(context.Context, int) (bool, error) { return true, nil }

func (alwaysDue) Roll(context.Context, int) (string, error) { return "", nil }

// A command starts a process that makes the backup. That process must not start
// another one, or there would be no end.
func TestTheProcessThatMakesTheBackupStartsNone(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"list"}, 1},
		{[]string{"backup", "--due"}, 0},
		{[]string{"backup", "--due", "file"}, 0},
	} {
		env, _, _ := clitest.NewEnv(t, nil)
		env.Open = func(ctx context.Context, _ config.Place) (skein.Store, error) {
			s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
			return alwaysDue{s}, err
		}
		var started [][]string
		env.Detach = func(d config.Detached) error {
			started = append(started, slices.Clone(d.Args))
			return nil
		}
		Main(t.Context(), env, c.args)
		if len(started) != c.want {
			t.Errorf("skein %q starts %q, want %d processes", c.args, started, c.want)
		}
	}
}
