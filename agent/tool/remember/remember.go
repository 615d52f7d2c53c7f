package remember

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// maxFile is the maximum size of either file in bytes: as many as a session
// reads at its start.
const maxFile = 32 << 10

// maxAsked is how many bytes of a text an approval question shows.
const maxAsked = 4 << 10

// New returns the tool, which writes USER.md and MEMORY.md in dir.
func New(dir string) tool.Tool {
	k := keeper{dir}
	return tool.Tool{
		Each: true,
		Spec: llm.ToolSpec{
			Name: "remember",
			Doc: "Remember something for later sessions, in a file that each session reads when it begins: USER.md for facts about the person, or " +
				"MEMORY.md for facts that are useful in other projects too. The person is asked each time, so use it when they want something " +
				"remembered, or have said something more than once. Write one short line. To replace or forget something, give replaces, the exact " +
				"text in the file now; without text it is removed.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "file": {"type": "string", "enum": ["USER.md", "MEMORY.md"]},
    "text": {"type": "string", "description": "what to remember; it is added as lines of its own"},
    "replaces": {"type": "string", "description": "the exact text in the file that is to be replaced"}
  },
  "required": ["file"],
  "additionalProperties": false
}`),
		},
		Title: func(input json.RawMessage) string {
			in, err := read(input)
			if err != nil { // Run reports the error
				return ""
			}
			return tool.Line(in.File + ": " + in.Text)
		},
		Ask: k.ask,
		Run: k.run,
	}
}

type keeping struct {
	File     string `json:"file"`
	Text     string `json:"text"`
	Replaces string `json:"replaces"`
}

func read(input json.RawMessage) (in keeping, err error) {
	if err := tool.Read(input, &in); err != nil {
		return in, err
	}
	in.Text = strings.TrimSpace(in.Text)
	switch {
	case in.File != "USER.md" && in.File != "MEMORY.md":
		return in, fmt.Errorf("file %q: want USER.md or MEMORY.md", in.File)
	case in.Text == "" && strings.TrimSpace(in.Replaces) == "":
		return in, errors.New("text: empty")
	}
	return in, nil
}

type keeper struct{ dir string }

func (k keeper) ask(c tool.Call) string {
	in, err := read(c.Input)
	if err != nil { // Run reports the error
		return ""
	}
	q := "Change " + tool.Visible(filepath.Join(k.dir, in.File), maxAsked) + ", which every later session reads?"
	for _, x := range []struct{ mark, text string }{{"- ", in.Replaces}, {"+ ", in.Text}} {
		if x.text != "" {
			q += "\n" + x.mark + strings.ReplaceAll(tool.Visible(strings.TrimSpace(x.text), maxAsked), "\n", "\n"+x.mark)
		}
	}
	return q
}

func (k keeper) run(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	in, err := read(c.Input)
	if err != nil {
		return out, err
	}
	lock, err := k.lock(ctx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", in.File, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	path := filepath.Join(k.dir, in.File)
	was, err := content(path)
	if err != nil {
		return out, fmt.Errorf("%s: %w", in.File, err)
	}
	now, err := change(was, in)
	switch {
	case err != nil:
		return out, err
	case now == was:
		out.Text = in.File + " already has this\n"
		return out, nil
	case len(now) > maxFile:
		return out, fmt.Errorf("%s would have %d bytes, of which only %d are read: replace or remove something first", in.File, len(now), maxFile)
	}
	if err := put(path, now); err != nil {
		return out, err
	}
	out.Text = fmt.Sprintf("changed %s; this session continues with what the file said before\n", in.File)
	return out, nil
}

// lock waits until no other agent is changing either file: a change is computed
// from what was read, so one of two concurrent changes would be lost.
func (k keeper) lock(ctx context.Context) (*flock.Flock, error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(k.dir, ".remember.lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), lock.Close())
	}
	return lock, nil
}

// change returns the file's new content.
func change(was string, in keeping) (string, error) {
	if in.Replaces == "" {
		if strings.Contains("\n"+was+"\n", "\n"+in.Text+"\n") {
			return was, nil
		}
		if was != "" && !strings.HasSuffix(was, "\n") {
			was += "\n"
		}
		return was + in.Text + "\n", nil
	}
	switch strings.Count(was, in.Replaces) {
	case 0:
		return "", fmt.Errorf("replaces: %s does not contain this text", in.File)
	case 1:
	default:
		return "", fmt.Errorf("replaces: %s contains this text more than once: give more of it", in.File)
	}
	before, after, _ := strings.Cut(was, in.Replaces)
	if in.Text == "" && (before == "" || strings.HasSuffix(before, "\n")) {
		after = strings.TrimPrefix(after, "\n")
	}
	return before + in.Text + after, nil
}

// content returns the file's content; "" if it does not exist.
func content(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it is only read
	b, err := io.ReadAll(io.LimitReader(f, 2*maxFile))
	if err == nil && len(b) == 2*maxFile {
		err = fmt.Errorf("more than %d bytes: shorten the file first", len(b)-1)
	}
	return string(b), err
}

// put writes the file, all or nothing; a link stays a link.
func put(path, text string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(path), "."+rand.Text()+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp) // the earlier error is returned
	}
	return err
}
