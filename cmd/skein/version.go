package main

import (
	"regexp"
	"runtime/debug"
	"sync"
)

// version returns the version that the go command built in: a tag, or devel
// and the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// pseudo matches the end of a version that the go command makes for a commit without
// a tag, such as v0.0.0-20261122135100-673e5a4c01d2+dirty; its groups are the parts
// worth showing.
var pseudo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})(\+dirty)?$`) })

func versionOf(info *debug.BuildInfo) string {
	v := info.Main.Version
	if commit := pseudo().FindStringSubmatch(v); commit != nil {
		return "devel-" + commit[1] + commit[2]
	}
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
