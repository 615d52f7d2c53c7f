package skillet

import (
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// backwards is the content of a source, to be taken back from its end.
type backwards struct {
	rows []rowThere
	log  [][]byte // its lines
}

// rowThere is an existing row, and what it covers.
type rowThere struct {
	raw   []byte
	asked string // the user message in it, see wordsIn
	at    skein.Seq
	still bool // it is still live in the session
}

func (b *backwards) take(r skein.Record, d interop.Draft) {
	at, still := d.Tells(r)
	if row, ok, err := foreign.ParseRow(r.Raw); err == nil && ok && row.Damage == "" && row.Table == tableName {
		there := rowThere{raw: r.Raw, at: at, still: still}
		if it, err := unmarshal[item]([]byte(row.Text("item_json"))); err == nil && it.Role == "user" {
			there.asked = wordsIn(func(s *said) { s.list(it.Content) })
		}
		b.rows = append(b.rows, there)
	} else if l, err := folder.Parse(r.Raw); err == nil && l.Line != nil {
		b.log = append(b.log, l.Data())
	}
}

// wordsIn returns a user message without spaces: row and log divide it differently.
func wordsIn(add func(*said)) string {
	var s said
	add(&s)
	return strings.Join(strings.Fields(string(s.texts())), "")
}

// takeBack removes the rows that the session rewound, as the SDK's popItem does, and
// their turns from the log, which the program shows when it resumes.
func (w *writer) takeBack(b *backwards) {
	n := slices.IndexFunc(b.rows, func(r rowThere) bool { return !r.still })
	if n < 0 {
		n = len(b.rows)
	}
	w.keep = 0
	for _, r := range b.rows[:n] {
		if r.at > 0 {
			w.keep = r.at
		}
	}
	asked := map[string]int{}
	for _, r := range b.rows[n:] {
		w.gone = append(w.gone, r.raw)
		asked[r.asked]++
	}
	delete(asked, "")
	if w.logName != "" {
		w.cutLog(b.log, asked)
	}
}

// cutLog removes from the log the last turns that begin with these words. The lines
// after them move up.
func (w *writer) cutLog(lines [][]byte, asked map[string]int) {
	leave := make([]bool, len(lines))
	for end := len(lines); end > 0; {
		begin := end - 1
		words, opens := asks(lines[begin])
		for !opens && begin > 0 {
			begin--
			words, opens = asks(lines[begin])
		}
		if opens && asked[words] > 0 {
			asked[words]--
			for i := begin; i < end; i++ {
				leave[i] = true
			}
		}
		end = begin
	}
	first := slices.Index(leave, true)
	if first < 0 {
		return
	}
	w.logLines, w.cut = first, true
	for i := first; i < len(lines); i++ {
		if !leave[i] {
			w.log = append(w.log, interop.OutLine{Body: folder.Piece(w.logName, w.logLines, lines[i]).Rope()})
			w.logLines++
		}
	}
}

// asks returns the user message, if a line opens a turn.
func asks(line []byte) (words string, opens bool) {
	in, err := unmarshal[logged](line)
	if err != nil || in.Kind != "user_message" {
		return "", false
	}
	return wordsIn(func(s *said) { s.input(&in) }), true
}
