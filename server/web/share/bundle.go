package share

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// bundlePolicy lets the pages of a bundle load only what is beside them, also when a
// browser opens them as files, which have no origin.
const bundlePolicy = "default-src 'none'; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'"

// Bundle is a folder of pages that any web server can serve, and a browser can open.
type Bundle struct {
	Dir    string            // must be empty, or not exist
	Styles map[string][]byte // the style sheets, by file name
	Order  []string          // of their names
}

// Write writes what p shows of session id and returns the path of the first page.
//
// The error wraps [fs.ErrExist] if the folder has files, or is the store's or the system's.
func (b Bundle) Write(ctx context.Context, store skein.Store, id skein.SessionID, p *Preview) (first string, err error) {
	if found, err := os.ReadDir(b.Dir); err == nil && len(found) > 0 {
		return "", fmt.Errorf("%s: %w: it has files", b.Dir, fs.ErrExist)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(b.Dir, 0o755); err != nil { //nolint:gosec // it is made to be published
		return "", err
	}
	for name, text := range b.Styles {
		if err := b.put(name, text); err != nil {
			return "", err
		}
	}
	pictures := b.pictures(ctx, store, id)
	for n := range p.Pages() {
		if err := b.page(p, n+1, pictures); err != nil {
			return "", err
		}
	}
	return filepath.Join(b.Dir, fileOf(1)), nil
}

func fileOf(n int) string {
	if n == 1 {
		return "index.html"
	}
	return "page-" + strconv.Itoa(n) + ".html"
}

func (b Bundle) put(name string, text []byte) error {
	return os.WriteFile(filepath.Join(b.Dir, name), text, 0o644) //nolint:gosec // it is made to be published
}

func (b Bundle) page(p *Preview, n int, picture func(skein.Hash) (string, error)) (err error) {
	f, err := os.OpenFile(filepath.Join(b.Dir, fileOf(n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // it is made to be published
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var failed error
	err = p.write(f, n, sharedPage{Styles: b.Order, Policy: bundlePolicy}, fileOf, func(h skein.Hash) string {
		name, err := picture(h)
		failed = errors.Join(failed, err)
		return name
	})
	return errors.Join(err, failed)
}

// pictures returns a function that writes a picture, when a page shows it first, and
// returns its name, "" if it is no picture.
func (b Bundle) pictures(ctx context.Context, store skein.Store, id skein.SessionID) func(skein.Hash) (string, error) {
	names := map[skein.Hash]string{}
	return func(h skein.Hash) (name string, err error) {
		if name, ok := names[h]; ok {
			return name, nil
		}
		defer func() { names[h] = name }()
		data, err := store.Blob(ctx, id, h)
		if errors.Is(err, skein.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		ext := map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/avif": ".avif", "image/bmp": ".bmp"}[render.PictureKind(data)]
		if ext == "" {
			return "", nil
		}
		name = string(h)[:min(len(h), 16)] + ext
		return name, b.put(name, data)
	}
}
