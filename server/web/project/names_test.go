package project_test

import (
	"maps"
	"testing"

	"github.com/skein-dev/skein/server/web/project"
)

func TestProjectsOfOneBaseNameAreToldApart(t *testing.T) {
	for _, want := range []map[string]string{
		{},
		{"github.com/ada/api": "api", "github.com/ada/web": "web"},
		{"github.com/ada/api": "ada/api", "github.com/bob/api": "bob/api", "github.com/ada/web": "web"},
		{"github.com/ada/api": "github.com/ada/api", "gitlab.com/ada/api": "gitlab.com/ada/api", "/home/bob/api": "bob/api"},
		{"/api": "/api", "api": "api"},
		{"/srv/api": "srv/api", "/api": "/api", "/home/ada/web": "web"},
		{`C:\work\api`: `work\api`, "/home/api": "home/api"},
		{"/home/ada/api/": "/home/ada/api/", "/home/ada/api": "/home/ada/api"},
		{"": ""},
	} {
		var all []string
		for key := range want {
			all = append(all, key)
		}
		if got := project.Names(all); !maps.Equal(got, want) {
			t.Errorf("Names(%q) is %q, want %q", all, got, want)
		}
	}
}
