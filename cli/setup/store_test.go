package setup

import (
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

// Services and agents are told which store to use if they would not find it, and
// never a password.
func TestServicesAreToldWhichStoreToUse(t *testing.T) {
	usual := config.Dirs{Data: "/data", Config: "/config"}
	for _, c := range []struct {
		name, value, from string
		dirs              config.Dirs
		want              []string
		refused           bool
	}{
		{"the usual one", "/data/skein.db", "default", usual, nil, false},
		{"set in the usual settings", "/x.db", "/config/config.toml", usual, nil, false},
		{"in another folder", "/home/data/skein.db", "default", config.Dirs{Data: "/home/data", Config: "/home/config"}, []string{"--store", "/home/data/skein.db"}, false},
		{"set in other settings", "/x.db", "/home/config/config.toml", config.Dirs{Data: "/data", Config: "/home/config"}, []string{"--store", "/x.db"}, false},
		{"from a variable", "/x.db", "$SKEIN_STORE", usual, []string{"--store", "/x.db"}, false},
		{"a database", "postgres://db/skein", "$SKEIN_STORE", usual, []string{"--store", "postgres://db/skein"}, false},
		{"with a password", "postgres://ada:hunter2@db/skein", "$SKEIN_STORE", usual, nil, true},
		{"with a password, in the usual settings", "postgres://ada:hunter2@db/skein", "/config/config.toml", usual, nil, false},
	} {
		place, err := config.ParsePlace(c.value, "/", "/home/ada")
		if err != nil {
			t.Fatal(err)
		}
		j := &job.Job{Env: &config.Env{}, Dirs: c.dirs, Place: place, Settings: config.Settings{Values: map[string]config.SettingValue{"store": {Text: c.value, From: c.from}}}}
		got, err := storeFlag(j, usual)
		if !slices.Equal(got, c.want) || (err != nil) != c.refused {
			t.Errorf("%s: %q, %v, want %q, refused: %t", c.name, got, err, c.want, c.refused)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error has the password: %v", c.name, err)
		}
	}
}
