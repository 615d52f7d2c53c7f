package thread

import (
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
)

// Limits on what a prompt attaches.
const (
	maxAttachedText = 256 << 10 // bytes of a text file, or of the requested lines
	maxAttachedFile = 20 << 20  // bytes of any other file
)

// A mention is a word of a prompt that begins with @, and what it may mean.
type mention struct {
	start, end  int // byte offsets in the prompt
	name        string
	first, last int // lines; 0 for all
}

// mentions returns the words of text that begin with @: @path, @path:10-20 for
// lines, @"a path with spaces", @agent.
func mentions(text string) (all []mention) {
	for _, at := range mentionSyntax().FindAllStringSubmatchIndex(text, -1) {
		m := mention{start: at[2], end: at[3]}
		word := text[m.start+1 : m.end]
		if strings.HasPrefix(word, `"`) {
			word = strings.Trim(word, `"`)
		}
		m.name = word
		all = append(all, m)
	}
	return all
}

func mentionSyntax() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(])(@(?:"[^"\n]+"(?::\d+(?:-\d+)?)?|[^\s"]+))`)
}

func lineSyntax() *regexp.Regexp { return regexp.MustCompile(`^(.*?)"?:(\d+)(?:-(\d+))?$`) }

// attach returns text as a message, with a part for each file and agent that it
// mentions, and the blobs of the parts. A mention that is neither stays text.
//
// The error names the file that cannot be attached.
func attach(t *Thread, text string) (skein.Message, []skein.Blob, error) {
	m := skein.UserSays(text)
	var blobs []skein.Blob
	for _, at := range mentions(text) {
		parts, blob, err := attachment(t, text, at)
		if err != nil {
			return m, nil, err
		}
		m.Parts = append(m.Parts, parts...)
		if blob != nil {
			blobs = append(blobs, *blob)
		}
	}
	return m, blobs, nil
}

// attachment returns the parts for a mention in text; none if it is neither a file
// nor an agent.
func attachment(t *Thread, text string, at mention) ([]skein.Part, *skein.Blob, error) {
	for _, try := range at.readings() {
		path, info := mentioned(t, try.name)
		if info == nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return nil, nil, nil // a folder stays text: tools can read it
		}
		if isStore(t.Job, info) {
			return nil, nil, fault.Usage("@%s: this is skein's own store, which cannot be attached", at.name)
		}
		return attachFile(text, try, path, info.Size())
	}
	for _, try := range at.readings() {
		if d, err := t.Roster.Definition(try.name, t.Cwd()); err == nil && !strings.ContainsAny(try.name, `/\`) {
			return attachAgent(t, d, source(text, try, "")), nil, nil
		}
	}
	return nil, nil, nil
}

// isStore reports whether info describes a file of the store. Closing such a file
// would drop the locks that this process has on it.
func isStore(j *job.Job, info os.FileInfo) bool {
	if j.Place.File() == "" {
		return false
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if own, err := os.Stat(j.Place.Path + end); err == nil && os.SameFile(own, info) {
			return true
		}
	}
	return false
}

// attachAgent returns the parts for an agent that is mentioned. They tell the model
// that answers, if it can delegate to that agent; if not, the person is told.
func attachAgent(t *Thread, d roster.Definition, source []byte) []skein.Part {
	parts := []skein.Part{{Kind: skein.PartAgent, Text: skein.Text(d.Name), Meta: source}}
	at := slices.IndexFunc(t.Team.Delegates, func(other roster.Definition) bool { return other.Path == d.Path })
	if at < 0 {
		t.face.Tell("@%s does not see this: it is not a subagent of the agent that answers", d.Name)
		return parts
	}
	return append(parts, skein.Part{Kind: skein.PartText, Synthetic: true, Text: skein.Text(fmt.Sprintf(
		"<agent %q>\nThe user wants this agent to do it: hand the work to it with the tool delegate.\n</agent>", t.Team.Delegates[at].Name))})
}

// mentioned returns the file that name means: in the session's folder, else in the
// person's own; nil if there is none.
func mentioned(t *Thread, name string) (string, os.FileInfo) {
	name = config.FromHome(name, t.Job.Dirs.Home)
	folders := []string{t.Cwd()}
	if cwd, err := t.Job.Getwd(); err == nil {
		folders = append(folders, cwd)
	}
	for _, folder := range folders {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		if info, err := os.Stat(path); err == nil {
			return path, info
		}
	}
	return "", nil
}

// readings returns what m may mean: as written, without the lines, and without a
// punctuation mark at the end.
func (m mention) readings() []mention {
	all := []mention{m}
	if short := strings.TrimRight(m.name, `.,;:!?)]}'`); short != m.name && short != "" {
		m.end -= len(m.name) - len(short)
		m.name = short
		all = append(all, m)
	}
	for _, one := range all {
		if got := lineSyntax().FindStringSubmatch(one.name); got != nil {
			one.name = got[1]
			one.first, _ = strconv.Atoi(got[2]) //nolint:errcheck // digits; too many of them are 0: all lines
			one.last = one.first
			if got[3] != "" {
				one.last, _ = strconv.Atoi(got[3]) //nolint:errcheck // as above
			}
			all = append(all, one)
		}
	}
	return all
}

// source says where in the prompt an attachment was mentioned, in the format of
// AgentUse's parts; start and end are byte offsets.
func source(text string, at mention, path string) []byte {
	type span struct {
		Value string `json:"value"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}
	in := span{text[at.start:at.end], at.start, at.end}
	if path == "" {
		return skein.MustJSON(map[string]any{"source": in})
	}
	return skein.MustJSON(map[string]any{"source": map[string]any{"type": "file", "path": path, "text": in}})
}

// attachFile returns the file at path as a part. A text file is attached as text,
// which every model can read; other files are blobs.
func attachFile(prompt string, at mention, path string, size int64) ([]skein.Part, *skein.Blob, error) {
	if size > maxAttachedFile {
		return nil, nil, fault.Usage("@%s: the file has %s; want at most %s", at.name, terminal.BytesText(size), terminal.BytesText(maxAttachedFile))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return fileParts(at, "@"+at.name, path, data, source(prompt, at, path))
}

// fileParts is attachFile for the bytes of a file. Errors call it label.
func fileParts(at mention, label, path string, data, meta []byte) ([]skein.Part, *skein.Blob, error) {
	media := mediaOf(path, data)
	f := skein.File{Name: at.name, Media: media, Size: int64(len(data))}
	part := skein.Part{Kind: skein.PartFile, File: &f, Meta: meta}
	if !utf8.Valid(data) || strings.HasPrefix(media, "image/") || strings.HasPrefix(media, "application/pdf") {
		blob := skein.NewBlob(data)
		f.Blob = blob.Hash
		return []skein.Part{part}, &blob, nil
	}
	text := string(data)
	if at.first > 0 {
		if text, f.First, f.Last = lines(text, at.first, at.last); f.Last == 0 {
			return nil, nil, fault.Usage("%s: no line %d", label, at.first)
		}
		f.Size = int64(len(text))
	}
	if len(text) > maxAttachedText {
		return nil, nil, fault.Advise(fault.Usage("%s: the file has %s of text; want at most %s", label, terminal.BytesText(int64(len(text))), terminal.BytesText(maxAttachedText)),
			"attach some lines of it: @%s:1-200", at.name)
	}
	named := fmt.Sprintf("<file %q", at.name)
	if f.First > 0 {
		named += fmt.Sprintf(" lines %d to %d", f.First, f.Last)
	}
	return []skein.Part{part, {Kind: skein.PartText, Synthetic: true, Text: skein.Text(named + ">\n" + text + "\n</file>")}}, nil, nil
}

// lines returns the lines first to last of text, and their actual range; 0 and 0 if
// text has none of them.
func lines(text string, first, last int) (string, int, int) {
	n, from, to := 0, 0, 0
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at - 1
		}
		if n++; n == first {
			from = at
		}
		at += end + 1
		if n >= first && n <= last {
			to = at
		}
	}
	if first > n || last < first {
		return "", 0, 0
	}
	return text[from:to], first, min(last, n)
}

// mediaOf returns the media type of a file. For text it includes the character set,
// to distinguish it from files whose bytes are sent to the model.
func mediaOf(path string, data []byte) string {
	media := mime.TypeByExtension(filepath.Ext(path))
	sniffed := http.DetectContentType(data)
	switch {
	case strings.HasPrefix(sniffed, "image/"), strings.HasPrefix(sniffed, "application/pdf"):
		return sniffed
	case media == "" || strings.HasPrefix(media, "video/mp2t") && utf8.Valid(data): // .ts is TypeScript
		media = sniffed
	}
	if name, params, err := mime.ParseMediaType(media); err == nil && params["charset"] == "" && utf8.Valid(data) {
		media = name + "; charset=utf-8"
	}
	return media
}
