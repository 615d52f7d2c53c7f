package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsATagOrACommit(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "673e5a4c01d2e3f405060708090a0b0c0d0e0f10"}}
	for _, c := range []struct {
		main, want string
		settings   []debug.BuildSetting
	}{
		{"v1.4.0", "v1.4.0", nil},
		{"v1.4.0-rc.1", "v1.4.0-rc.1", nil},
		{"v1.4.0+dirty", "v1.4.0+dirty", commit},
		{"v0.0.0-20261122135100-673e5a4c01d2", "devel-673e5a4c01d2", nil},
		{"v0.0.0-20261122135100-673e5a4c01d2+dirty", "devel-673e5a4c01d2+dirty", commit},
		{"v1.4.1-0.20261122135100-673e5a4c01d2", "devel-673e5a4c01d2", nil},
		{"v1.4.0-rc.1.0.20261122135100-673e5a4c01d2", "devel-673e5a4c01d2", nil},
		{"(devel)", "devel-673e5a4c01d2", commit},
		{"", "devel", nil},
	} {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: c.main}, Settings: c.settings}); got != c.want {
			t.Errorf("the version of a build of %q is %q, want %q", c.main, got, c.want)
		}
	}
}
