package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:home
var home embed.FS

// Home returns the home folder of a person who used these agents.
func Home() fs.FS {
	f, err := fs.Sub(home, "home")
	if err != nil {
		panic(err) // the name is valid
	}
	return f
}
