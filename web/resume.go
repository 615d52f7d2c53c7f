package web

import (
	"context"
	"io"

	"github.com/skein-dev/skein"
)

// A Download is a form that a session can be downloaded in.
type Download struct {
	Name  string // in links: md, html, skein
	Title string // for people
	File  string // how the file is called
	Media string // its media type

	// Write writes it. It is called with a context of the request.
	Write func(context.Context, io.Writer, skein.Store, skein.Session) error
}
