package amplifier

import (
	"bytes"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
)

// tells is what a line of the existing transcript covers.
type tells struct {
	at    skein.Seq // the message; 0 for none
	still bool      // it is still live in the session
}

// known is what the existing folder has.
type known struct {
	*output

	had     map[string][][]byte
	logMode string             // of events.jsonl
	tells   map[string][]tells // of the same lines
	stays   [][]byte           // lines of the transcript
	keep    skein.Seq          // the messages up to here are in them, or cannot be stored there
}

// read parses the existing folder.
func (k *known) read() error {
	if k.d.After == 0 {
		return nil
	}
	for r, err := range k.d.Known {
		if err != nil {
			return err
		}
		at, still := k.d.Tells(r)
		in, err := folder.Parse(r.Raw)
		if err == nil && in.File == eventLog && in.Mode != "" {
			k.logMode = in.Mode
		}
		if err != nil || in.Folder != "" || in.Lines != nil {
			continue
		}
		k.had[in.File] = append(k.had[in.File], in.Data())
		k.tells[in.File] = append(k.tells[in.File], tells{at, still})
	}
	for _, name := range []string{metadata, metadata + backup} {
		if data := k.had[name]; len(data) == 1 && len(k.meta) == 0 {
			k.meta, _ = parse(data[0]) // if it is not an object, it is rewritten
		}
	}
	k.stay()
	return nil
}

// stay determines which lines of the transcript stay: those before the first one that
// the session rewound. If only the backup has messages, Amplifier continues with that
// and saves it; if only the log has them, they are said here.
func (k *known) stay() {
	have, told := k.had[transcript], k.tells[transcript]
	spare := !slices.ContainsFunc(told, speaks) && slices.ContainsFunc(k.tells[transcript+backup], speaks)
	if spare {
		have, told = k.had[transcript+backup], k.tells[transcript+backup]
	}
	if slices.ContainsFunc(told, speaks) {
		k.keep = k.d.After
	}
	if k.d.WentBack() {
		if n := slices.IndexFunc(told, func(t tells) bool { return !t.still }); n >= 0 {
			have, told = have[:n], told[:n]
		}
		k.keep = 0
		for _, t := range told {
			k.keep = max(k.keep, t.at)
		}
	}
	for i, l := range have {
		if o, err := parse(l); err == nil && o.str("role") == "user" {
			k.turns++
		}
		if spare {
			k.said = append(k.said, line{lines.RopeOf(bytes.TrimSuffix(l, []byte("\n"))), told[i].at})
		}
	}
	if !spare {
		k.stays = have
	}
}

func speaks(t tells) bool { return t.at > 0 }

type numberedLine struct {
	folder.Line
	seq skein.Seq
}

// numbered returns lines to follow those that stay; the last of these gets a line
// feed if it had none.
func numbered(name string, stay [][]byte, ls []line) (out []numberedLine) {
	if n := len(stay); n > 0 && len(ls) > 0 && !strings.HasSuffix(string(stay[n-1]), "\n") {
		out = append(out, numberedLine{folder.Piece(name, n-1, append(stay[n-1 : n : n][0], '\n')), 0})
	}
	for i, l := range ls {
		l.body.Append([]byte{'\n'})
		out = append(out, numberedLine{folder.PieceRope(name, len(stay)+i, l.body), l.seq})
	}
	return out
}

// backups adds what the program's store does before it saves: a copy of each
// file.
func (w *writer) backups(add func(folder.Line, skein.Seq)) {
	now := w.d.Now.UnixNano()
	if had := w.known.had[transcript]; len(had) > 0 && (len(w.said) > 0 || len(w.known.stays) < len(had)) {
		for i, data := range had {
			add(folder.Piece(transcript+backup, i, data), w.d.After)
		}
		add(folder.End(folder.File{Name: transcript + backup, Mode: 0o600, Mtime: now}, len(had)), 0)
	}
	if had := w.known.had[metadata]; len(had) == 1 {
		add(folder.Whole(folder.File{Name: metadata + backup, Mode: 0o600, Mtime: now}, had[0]), w.d.After)
	}
}
