package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that pages load.
type asset struct {
	url    string // contains a hash of the bytes
	media  string
	plain  []byte
	packed []byte // with gzip; nil if that is not smaller
}

// assets are all files, by their name in static/.
type assets map[string]*asset

// newAssets reads static/. A module may load another with from "./name.js",
// which is replaced by the URL with the other one's hash, so modules must not
// load each other in circles. The files are embedded, so it panics if one is
// wrong.
func newAssets() assets {
	all := assets{}
	files, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		all.add(f.Name(), 0)
	}
	return all
}

const maxDepth = 10 // of modules that load modules

func (all assets) add(name string, depth int) *asset {
	if a := all[name]; a != nil {
		return a
	}
	if depth > maxDepth {
		panic("web: modules load each other in circles: " + name)
	}
	data, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		panic(err)
	}
	ext := path.Ext(name)
	if ext == ".js" {
		data = all.linked(data, depth)
	}
	sum := sha256.Sum256(data)
	a := &asset{
		url:   "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
		media: mediaOf(ext), plain: data, packed: pack(data),
	}
	all[name] = a
	return a
}

// linked returns a module with the names of those that it loads replaced by
// their URLs.
func (all assets) linked(data []byte, depth int) []byte {
	const begin, end = `from "./`, `"`
	var b bytes.Buffer
	for {
		before, rest, ok := bytes.Cut(data, []byte(begin))
		b.Write(before)
		if !ok {
			return b.Bytes()
		}
		name, after, _ := bytes.Cut(rest, []byte(end))
		b.WriteString(`from "` + all.add(string(name), depth+1).url + end)
		data = after
	}
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	z.Write(data) //nolint:errcheck // it goes to memory
	z.Close()     //nolint:errcheck // as above
	if b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}

func mediaOf(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	}
	return "application/octet-stream"
}

// routes serve static files to everybody: the login page has a style too, and
// they say nothing about sessions. The same goes for what makes the dashboard an
// app that a browser can install: browsers request that without a login.
func (all assets) routes() []door.Route {
	byURL := map[string]*asset{}
	for _, a := range all {
		byURL[a.url] = a
	}
	open := func(path string, h http.HandlerFunc) door.Route {
		return door.Route{Pattern: "GET " + path, Scope: door.Open, Handler: h}
	}
	static := func(w http.ResponseWriter, r *http.Request) {
		a := byURL["/static/"+r.PathValue("name")]
		if a == nil {
			door.Refuse(w, r, http.StatusNotFound, "not_found", "nothing is at %s", r.URL.Path)
			return
		}
		a.serve(w, r)
	}
	return []door.Route{
		open("/static/{name}", static),
		open("/manifest.webmanifest", all.manifest),
		open("/favicon.ico", all["icon-192.png"].serve),
	}
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h, data := w.Header(), a.plain
	h.Set("Content-Type", a.media)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if a.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = a.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.Write(data) //nolint:errcheck // the client has gone
}

// offlinePages are what browsers keep for when this server cannot be reached.
type offlinePages struct{ *site }

// offlinePath is the page that is shown then.
const offlinePath = "/offline"

// routes serve everybody: what they serve is the same for all.
func (s offlinePages) routes() []door.Route {
	return []door.Route{
		{Pattern: "GET /sw.js", Scope: door.Open, Handler: http.HandlerFunc(s.worker)},
		{Pattern: "GET " + offlinePath, Scope: door.Open, Page: true, Handler: packed(s.offline)},
	}
}

func (s offlinePages) offline(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, "offline", layoutData{Title: "Offline"})
}

// worker answers with the service worker, which browsers load anew whenever a file of the
// shell has changed.
func (s offlinePages) worker(w http.ResponseWriter, _ *http.Request) {
	shell := []string{offlinePath}
	for _, name := range []string{"style.css", "app.js", "offline.js", "icon.svg", "icon-192.png"} {
		shell = append(shell, s.assets[name].url)
	}
	w.Header().Set("Content-Type", mediaOf(".js"))
	w.Header().Set("Cache-Control", "no-cache")
	fmt.Fprintf(w, "const shell = %s;\n%s", skein.MustJSON(shell), s.assets["sw.js"].plain) //nolint:errcheck // the client has gone
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
func (all assets) manifest(w http.ResponseWriter, _ *http.Request) {
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
			{all["icon.svg"].url, "any", "image/svg+xml", ""},
			{all["icon-192.png"].url, "192x192", "image/png", ""},
			{all["icon-512.png"].url, "512x512", "image/png", ""},
			{all["icon-mask.png"].url, "512x512", "image/png", "maskable"},
		},
		[]shortcut{{"Search", "/search"}, {"Usage", "/usage"}},
	}))
}

// Style returns a style sheet of the pages.
//
// The error wraps [fs.ErrNotExist] if there is none with this name.
func Style(name string) ([]byte, error) { return staticFiles.ReadFile("static/" + name) }
