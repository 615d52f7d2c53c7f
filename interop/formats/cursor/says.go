package cursor

import (
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
)

// The tags that the program puts around what a user typed.
const (
	queryOpen   = "<user_query>"
	queryClose  = "</user_query>"
	workspaceIs = "Workspace Path: "
)

// asked returns the parts of a text that was sent as the user's: what was typed,
// and as synthetic what the program put around it.
func asked(text string) (parts []skein.Part) {
	program := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			p := skein.TextPart(s)
			p.Synthetic = true
			parts = append(parts, p)
		}
	}
	from, to := strings.Index(text, queryOpen), strings.LastIndex(text, queryClose)
	if from < 0 || to < from {
		if strings.HasPrefix(strings.TrimSpace(text), "<user_info>") {
			program(text)
			return parts
		}
		return []skein.Part{skein.TextPart(text)}
	}
	program(text[:from])
	typed := strings.TrimPrefix(text[from+len(queryOpen):to], "\n")
	parts = append(parts, skein.TextPart(strings.TrimSuffix(typed, "\n")))
	program(text[to+len(queryClose):])
	return parts
}

// unwrap splits what was sent as the user's.
func unwrap(parts []skein.Part) (all []skein.Part) {
	for _, p := range parts {
		if p.Kind == skein.PartText && !p.Synthetic {
			all = append(all, asked(string(p.Text))...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// typed reports whether the user typed some part of a message.
func typed(parts []skein.Part) bool {
	for _, p := range parts {
		if !p.Synthetic {
			return true
		}
	}
	return false
}

// workspaceIn returns the folder that the program named to the model, "" if it did
// not.
func workspaceIn(parts []skein.Part) string {
	for _, p := range parts {
		if _, after, ok := strings.Cut(string(p.Text), workspaceIs); ok && p.Kind == skein.PartText {
			line, _, _ := strings.Cut(after, "\n")
			return clean(strings.TrimSpace(line))
		}
	}
	return ""
}

// pathOf returns the path of a file URI, or a path unchanged.
func pathOf(uri string) string {
	if !strings.Contains(uri, "://") {
		return clean(uri)
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	if p := clean(u.Path); len(p) < 3 || p[0] != '/' || p[2] != ':' {
		return p
	}
	return clean(u.Path[1:]) // /c:/Users
}

// clean returns s if it can be a path.
func clean(s string) string {
	if len(s) > 4096 || strings.ContainsAny(s, "\x00\n\r") {
		return ""
	}
	return skein.Text(s).UTF8()
}
