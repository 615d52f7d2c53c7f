package otelgenai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format: [skein.Origin.Format] of what it reads.
const Name = "otel-genai"

// Names of the lists that OTLP/JSON is split at.
const (
	spansList = "resourceSpans"
	logsList  = "resourceLogs"
)

// peek is how much of a file is read to recognize a document, in bytes.
const peek = 256 << 10

// Format returns the format of OpenTelemetry's records of models.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenTelemetry GenAI: traces, logs (OTLP/JSON) and message lists that are named",
		Places: func(interop.Home) []string { return nil },
		Match:  match,
		Open:   open,
		Unit:   unit,
		Look:   look,
		Write:  write,
		Put:    interop.PutDocument,

		Document: document,
		PlacedFiles: []interop.PlacedFile{
			{Name: "a list of messages", Path: "*.json", Is: guessMessages},
		},
	}
}

// match recognizes files of lines, as the file exporter of the collector writes them.
func match(name string, head []byte) interop.Guess {
	if unit(name) == "" && isOTLP(head) && interop.IsLines(head) {
		return interop.KnownBy("its lines begin with " + spansList + " or " + logsList)
	}
	return interop.Guess{}
}

// document recognizes a document of OTLP under any name.
func document(_ string, head []byte) interop.Guess {
	if isOTLP(head) {
		return interop.KnownBy("it begins with " + spansList + " or " + logsList)
	}
	return interop.Guess{}
}

// guessMessages knows that a list has the shape of the messages in an attribute.
func guessMessages(head []byte) interop.Guess {
	return interop.StartsWith("[", "its messages have a role, and parts with a type", `"role"`, `"parts"`, `"type"`)(head).AtMost(interop.Alike)
}

func isOTLP(head []byte) bool {
	head = bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && (bytes.HasPrefix(rest, []byte(`"`+spansList+`"`)) || bytes.HasPrefix(rest, []byte(`"`+logsList+`"`)))
}

// unit returns the file itself if its name may be a document's.
func unit(name string) string {
	if base := path.Base(name); path.Ext(base) == ".json" && !strings.HasPrefix(base, ".") {
		return name
	}
	return ""
}

// look opens a document that has requests to models.
func look(ctx context.Context, name string) (interop.Unit, error) {
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		list, ok := kindOf(data)
		if ours = ok; !ours {
			return nil, true
		}
		if list != "" && isLines(data) {
			return cutLines(data)
		}
		return loose.Cut(data, list)
	})
	switch {
	case err == nil && ours, errors.Is(err, interop.ErrTorn), errors.Is(err, interop.ErrTooLong) && ours:
		return u, err
	case err == nil:
		return nil, errors.Join(interop.ErrOther, u.Close())
	}
	return nil, errors.Join(interop.ErrOther, err)
}

// kindOf returns the list that a document is split at, "" for one that is a list
// itself, and false for any other file.
func kindOf(data []byte) (list string, ok bool) {
	head := bytes.TrimLeft(data[:min(len(data), peek)], "\xef\xbb\xbf \t\r\n")
	switch {
	case isOTLP(head):
		if !bytes.Contains(data, []byte(`"gen_ai.`)) {
			return "", false
		}
		if bytes.Contains(head[:min(len(head), 64)], []byte(`"`+logsList+`"`)) {
			return logsList, true
		}
		return spansList, true
	case bytes.HasPrefix(head, []byte("[")):
		pieces, _ := loose.Cut(data, "")
		for _, p := range pieces[1:] {
			if o, err := loose.Parse(loose.Element(p)); err == nil {
				return "", isMessage(o)
			}
		}
	}
	return "", false
}

// isMessage reports whether o is a message in the conventions' form; other programs'
// messages have role and parts too, but no type in a part.
func isMessage(o loose.Object) bool {
	parts := o.List("parts")
	if o.Str("role") == "" || len(parts) == 0 {
		return false
	}
	p, err := loose.Parse(parts[0])
	return err == nil && p.Str("type") != "" && (p.Has("content") || p.Str("type") != "text")
}

// isLines reports whether a document consists of lines, each of which is a document.
func isLines(data []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n"))
	return more && json.Valid(bytes.TrimSpace(first))
}

func cutLines(data []byte) (pieces [][]byte, whole bool) {
	for line := range bytes.Lines(data) {
		pieces = append(pieces, line[:len(line):len(line)])
	}
	last := bytes.TrimSpace(pieces[len(pieces)-1])
	return pieces, len(last) == 0 || json.Valid(last)
}
