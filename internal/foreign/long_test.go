package foreign

import (
	"bytes"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/lines"
)

// longRow returns the line of a row with a text that is too long to be read.
func longRow(id int64) []byte {
	text := strings.Repeat("a long text\n", (MaxValue+2<<20)/12)
	return Row{Table: "lines", Rowid: &id, Columns: []string{"id", "talk", "words", "odd"}, Values: []Value{id, "a", text, 0.5}}.AppendLine(nil)
}

func TestARowMayBeLongerWhereItIsWritten(t *testing.T) {
	path, _ := fixture(t)
	_, db := split(t, path)
	frame := db.Frame("lines")
	to := filepath.Join(t.TempDir(), "to.db")
	if err := Build(t.Context(), to, bytes.NewReader(frame), bytes.NewReader(longRow(1))); err != nil {
		t.Fatalf("Build with a row of more than %d bytes: %v", MaxValue, err)
	}
	if err := Merge(t.Context(), to, nil, nil, bytes.NewReader(longRow(1)), bytes.NewReader(longRow(2))); err != nil {
		t.Fatalf("Merge of such rows: %v", err)
	}
	if rows := rowsOf(t, to, ""); len(rows) != 2 || rows[0].Damage == "" || rows[1].Damage == "" {
		t.Errorf("Rows gives %d rows, want 2 that are too long to be read", len(rows))
	}
	if err := Merge(t.Context(), to, nil, nil, bytes.NewReader(bytes.Replace(longRow(2), []byte("a long"), []byte("no long"), 1))); !errors.Is(err, ErrDiffers) {
		t.Errorf("Merge of another row in its place: %v, want ErrDiffers", err)
	}
}

func TestOfALongRowOneCopyIsMade(t *testing.T) {
	line := longRow(1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, ok, err := ParseRow(line); err != nil || !ok {
		t.Fatalf("ParseRow: %t, %v", ok, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(len(line)*5/4) {
		t.Errorf("ParseRow of %d bytes allocates %d", len(line), got)
	}
}

func TestALongTextThatIsNoRowIsNotQuoted(t *testing.T) {
	for _, name := range []string{"text", "file"} {
		var line lines.Rope
		line.Append([]byte(`{"` + name + `":`))
		line.AppendQuoted(lines.RopeOfText(strings.Repeat("\x01", 1<<20)), quoted[[]byte])
		line.Append([]byte("}\n"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, ok, err := ParseRope(line); ok || err != nil {
			t.Errorf("ParseRope of a long %s = %t, %v, want that it is no row", name, ok, err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("ParseRope of a line that is no row allocates %d bytes", got)
		}
	}
}

func TestALongRowInAnyFormIsReadFromARope(t *testing.T) {
	text := strings.Repeat("long\n", 30_000)
	var line lines.Rope
	line.Append([]byte(`{ "row": {"a":`))
	line.AppendQuoted(lines.RopeOfText(text), quoted[[]byte])
	line.Append([]byte(`}, "table": "lines" }`))
	r, ok, err := ParseRope(line)
	if err != nil || !ok || r.Table != "lines" || r.Text("a") != text {
		t.Errorf("ParseRope of a row with its table last = table %q, %d bytes, %t, %v", r.Table, len(r.Text("a")), ok, err)
	}
}

func TestALongRowIsTheSameAsARope(t *testing.T) {
	id := int64(1)
	for _, text := range []string{strings.Repeat("\x01", 100_000), "\"" + strings.Repeat("é\n\U0001f600", 50_000)} {
		var inner lines.Rope
		inner.Append([]byte(`{"é":`))
		inner.AppendQuoted(lines.RopeOfText(text), quoted[[]byte])
		inner.Append([]byte(`}`))
		row := Row{Table: "li\"nes", Rowid: &id, Columns: []string{"id", "a", "b", "c"}, Values: []Value{id, inner, "plain\n", text}}
		want, ok, err := ParseRow(row.Line().Bytes())
		if err != nil || !ok {
			t.Fatalf("ParseRow: %t, %v", ok, err)
		}
		got, ok, err := ParseRope(row.Line())
		if err != nil || !ok || len(got.Values) != 4 || got.Table != want.Table || *got.Rowid != id {
			t.Fatalf("ParseRope = %d values of table %q, %t, %v", len(got.Values), got.Table, ok, err)
		}
		for i, v := range got.Values {
			if asArg(v) != want.Values[i] || got.Columns[i] != want.Columns[i] {
				t.Errorf("ParseRope: column %s differs from that of ParseRow", got.Columns[i])
			}
		}
		if _, ok := got.Values[1].(lines.Rope); !ok {
			t.Errorf("ParseRope holds the text of a long column: %T", got.Values[1])
		}
	}
}
