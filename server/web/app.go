package web

import (
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// appRoutes make the dashboard an app that a browser can install. They say
// nothing about sessions, and browsers request them without a login.
func (s *site) appRoutes() []door.Route {
	return []door.Route{
		{Pattern: "GET /manifest.webmanifest", Scope: door.Open, Handler: http.HandlerFunc(s.manifest)},
		{Pattern: "GET /favicon.ico", Scope: door.Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.assets["icon-192.png"].serve(w, r) })},
	}
}

// icon is an icon of a manifest.
type icon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

// shortcut is a page that the app's menu leads to.
type shortcut struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// manifest answers with the web app manifest.
func (s *site) manifest(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Write(skein.MustJSON(struct { //nolint:errcheck // the client has gone
		Name       string     `json:"name"`
		ShortName  string     `json:"short_name"`
		About      string     `json:"description"`
		ID         string     `json:"id"`
		Start      string     `json:"start_url"`
		Scope      string     `json:"scope"`
		Display    string     `json:"display"`
		Background string     `json:"background_color"`
		Theme      string     `json:"theme_color"`
		Icons      []icon     `json:"icons"`
		Shortcuts  []shortcut `json:"shortcuts"`
	}{
		"skein", "skein", "The sessions of AI agents", "/", "/", "/", "standalone", "#fbfbf9", "#2f5fb3",
		[]icon{
			{s.assets["icon.svg"].url, "any", "image/svg+xml", ""},
			{s.assets["icon-192.png"].url, "192x192", "image/png", ""},
			{s.assets["icon-512.png"].url, "512x512", "image/png", ""},
			{s.assets["icon-mask.png"].url, "512x512", "image/png", "maskable"},
		},
		[]shortcut{{"Search", "/search"}, {"Usage", "/usage"}},
	}))
}
