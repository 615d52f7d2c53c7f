package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// An object is a JSON object to send.
type object map[string]any

// encode returns v as JSON, with < and > not escaped.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // everything here can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode decodes a request into v. It returns the name of the first field that
// v does not have, which is an error.
func decode(body []byte, v any) (unknown string, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if _, name, ok := strings.Cut(err.Error(), "json: unknown field "); ok {
			return strings.Trim(name, `"`), err
		}
		return "", err
	}
	if _, err := d.Token(); err != io.EOF {
		return "", fmt.Errorf("more after the request: %w", err)
	}
	return "", nil
}

// pieces cuts s into pieces of a few bytes, between characters.
func pieces(s string) (all []string) {
	const size = 7
	for len(s) > size {
		n := size
		for !utf8.RuneStart(s[n]) {
			n--
		}
		all, s = append(all, s[:n]), s[n:]
	}
	return append(all, s)
}

// sign returns the servers' signature of s.
func sign(s string) string {
	sum := sha256.Sum256([]byte("signed by llmtest: " + s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// fileFrom returns a file whose bytes are in base64.
func fileFrom(media, data string) (*skein.File, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("%.20q is no base64 of anything", data)
	}
	return &skein.File{Media: media, Blob: skein.NewBlob(b).Hash, Size: int64(len(b))}, nil
}

// fileAt returns the file at a URL, which may contain its bytes.
func fileAt(url string) (*skein.File, error) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
			return nil, fmt.Errorf("%.20q is no URL", url)
		}
		return &skein.File{URL: url}, nil
	}
	media, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return nil, fmt.Errorf("%.20q is no data URL", url)
	}
	return fileFrom(media, data)
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}

func textOf(s string) skein.Part { return skein.TextPart(s) }

func blank(s string) bool { return strings.TrimSpace(s) == "" }
