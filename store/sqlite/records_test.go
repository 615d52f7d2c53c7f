package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// transcript returns n lines with the events made from them.
func transcript(from, n int) (rs []skein.Record, evs []skein.Event) {
	offset := int64(0)
	for i := range from + n {
		text := fmt.Sprintf("message %d has a text that is \"long\" enough\nto be left out", i)
		raw := fmt.Sprintf(`{"uuid":"u%d","cwd":"/src","again":%s,"message":{"content":%s}}`+"\r\n", i, skein.AppendQuoted(nil, text), skein.AppendQuoted(nil, text))
		if i >= from {
			e := skein.Say(skein.Time(i+1), skein.UserSays(text))
			e.ClientID = skein.ClientID(fmt.Sprint("u", i))
			rs = append(rs, skein.Record{N: i, Offset: offset, Raw: []byte(raw), Key: e.ClientID, Events: 1})
			evs = append(evs, e)
		}
		offset += int64(len(raw))
	}
	return rs, evs
}

func importLines(t *testing.T, s *Store, im skein.Import, evs ...skein.Event) {
	t.Helper()
	im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: evs, Import: &im}); err != nil {
		t.Fatal(err)
	}
}

func wantRecords(t *testing.T, s *Store, from int, want []skein.Record) {
	t.Helper()
	var got []skein.Record
	for r, err := range s.Records(t.Context(), "f", "/x", from) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != len(want) {
		t.Fatalf("Records from %d yields %d, want %d", from, len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("Records from %d yields\n%+v %q\nat %d, want\n%+v %q", from, got[i], got[i].Raw, i, want[i], want[i].Raw)
		}
	}
}

func blocks(t *testing.T, s *Store) (n, size int64) {
	t.Helper()
	err := s.read(t.Context(), func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*), coalesce(sum(length(raw)), 0) FROM records`, nil, &n, &size)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, size
}

// A file that grows line by line is stored like one that is read at once: in
// few blocks, without the texts.
func TestRecordsThatComeOneByOneShareBlocks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	importLines(t, s, skein.Import{}, skein.NewEvent(skein.KindCreated, 1, skein.Created{}))
	rs, evs := transcript(0, 300)
	total := 0
	for i := range rs {
		importLines(t, s, skein.Import{Records: rs[i : i+1]}, evs[i])
		total += len(rs[i].Raw)
	}
	wantRecords(t, s, 0, rs)
	wantRecords(t, s, 123, rs[123:])
	wantRecords(t, s, 300, nil)
	if n, size := blocks(t, s); n > 3 || size > int64(total/6) {
		t.Errorf("300 lines of %d bytes are in %d blocks of %d bytes, want few and a sixth", total, n, size)
	}
}

// Records that pack to next to nothing do not all go into one block, which
// would be packed again with every append.
func TestABlockHasFewRecordsHoweverShortTheyAre(t *testing.T) {
	const each, appends = 700, 10
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	importLines(t, s, skein.Import{}, skein.NewEvent(skein.KindCreated, 1, skein.Created{}))
	var all []skein.Record
	for range appends {
		from := len(all)
		for n := range each {
			all = append(all, skein.Record{N: from + n, Offset: int64(from + n), Raw: []byte("\n")})
		}
		importLines(t, s, skein.Import{Records: all[from:]})
	}
	wantRecords(t, s, 0, all)
	var most int64
	err := s.read(t.Context(), func(c *engine.Conn) error {
		_, err := c.One(`SELECT max(count) FROM records`, nil, &most)
		return err
	})
	if err != nil || most >= pack.TailRecords+each {
		t.Errorf("a block has %d records (%v), want fewer than %d", most, err, pack.TailRecords+each)
	}
}

func TestRecordsAreReplacedWithinBlocks(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	rs, evs := transcript(0, 50)
	importLines(t, s, skein.Import{Records: rs}, append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs...)...)
	rs[20].Raw, rs[20].Damage, rs[20].Copy = []byte("other \x00 bytes"), "damaged", true
	rs[21].Raw = nil
	importLines(t, s, skein.Import{Records: rs[20:22]})
	rs[21].Raw = []byte{}
	wantRecords(t, s, 0, rs)
	wantRecords(t, s, 21, rs[21:])
	importLines(t, s, skein.Import{Records: rs[10:12], Forget: true})
	wantRecords(t, s, 0, rs[:12])
	importLines(t, s, skein.Import{Records: rs[12:]})
	wantRecords(t, s, 0, rs)
	importLines(t, s, skein.Import{Forget: true})
	wantRecords(t, s, 0, nil)
	// Records can also refer to events that were stored before.
	importLines(t, s, skein.Import{Records: rs}, evs...)
	wantRecords(t, s, 0, rs)
	if _, size := blocks(t, s); size > 1500 {
		t.Errorf("the block takes %d bytes, want the texts left out", size)
	}
}

// A text that was deleted in the shell is removed from the record too.
func TestRecordOfADeletedMessage(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	rs, evs := transcript(0, 3)
	importLines(t, s, skein.Import{Records: rs}, append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs...)...)
	err := s.change(t.Context(), func(tx *txn.Tx) error {
		_, _, err := tx.Exec(`DELETE FROM messages WHERE content LIKE 'message 1 %'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rs[1].Raw = []byte(`{"uuid":"u1","cwd":"/src","again":"","message":{"content":""}}` + "\r\n")
	rs[1].Damage = pack.DeletedText
	wantRecords(t, s, 0, rs)
	again, _ := transcript(0, 3)
	importLines(t, s, skein.Import{Records: again, Forget: true}, evs...)
	wantRecords(t, s, 0, again)
}

// fileLine returns a record that has a file twice, and its event.
func fileLine(n int, offset int64, b skein.Blob) (skein.Record, skein.Event) {
	text := fmt.Sprintf("message %d has a text that is long enough, and a file", n)
	in64 := base64.StdEncoding.EncodeToString(b.Data)
	raw := fmt.Sprintf(`{"uuid":"u%d","content":%q,"file":"%s","again":["data:text/plain;base64,%s"],"text":"b"}`+"\n", n, text, in64, in64)
	e := skein.Say(skein.Time(n+1), skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart(text), {Kind: skein.PartFile, File: &skein.File{Media: "text/plain", Blob: b.Hash, Size: int64(len(b.Data))}}}})
	e.ClientID = skein.ClientID(fmt.Sprint("u", n))
	return skein.Record{N: n, Offset: offset, Raw: []byte(raw), Key: e.ClientID, Events: 1}, e
}

// A file stands once, as a blob: records refer to it.
func TestFilesAreLeftOutOfRecords(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	random := make([]byte, 30_000)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(random); err != nil {
		t.Fatal(err)
	}
	blobs := []skein.Blob{skein.NewBlob(random), skein.NewBlob(append([]byte("the secret-4711 is in "), random[:20_000]...))}
	bring := func(r skein.Record, forget bool, blobs []skein.Blob, evs ...skein.Event) {
		t.Helper()
		im := skein.Import{Records: []skein.Record{r}, Forget: forget}
		im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
		if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: evs, Blobs: blobs, Import: &im}); err != nil {
			t.Fatal(err)
		}
	}
	var rs []skein.Record
	offset := int64(0)
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for i, b := range blobs {
		r, e := fileLine(i, offset, b)
		offset += int64(len(r.Raw))
		rs = append(rs, r)
		bring(r, false, []skein.Blob{b}, append(evs, e)...)
		evs = nil
	}
	wantRecords(t, s, 0, rs)
	wantRecords(t, s, 1, rs[1:])
	if _, size := blocks(t, s); size > 1000 {
		t.Errorf("two records with files of 30,000 and 20,022 bytes take %d bytes, want the files left out", size)
	}
	err := s.change(t.Context(), func(tx *txn.Tx) error {
		_, _, err := tx.Exec(`DELETE FROM messages WHERE content LIKE 'message 0 %'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rs[0].Raw, rs[0].Damage = []byte(`{"uuid":"u0","content":"","file":"","again":["data:text/plain;base64,"],"text":"b"}`+"\n"), pack.DeletedText
	wantRecords(t, s, 0, rs)

	_, e := fileLine(1, 0, blobs[1])
	bring(rs[1], true, blobs[1:], e) // it refers to the event that was stored before
	wantRecords(t, s, 0, rs)

	if _, err := s.Scrub(t.Context(), "a", []string{"secret-4711"}); err != nil {
		t.Fatal(err)
	}
	clean := skein.NewBlob(bytes.Replace(blobs[1].Data, []byte("secret-4711"), []byte("***********"), 1))
	rs[1], _ = fileLine(1, rs[1].Offset, clean)
	wantRecords(t, s, 0, rs)
}

// A file that is damaged damages only the records that have it.
func TestRecordOfADamagedFile(t *testing.T) {
	for _, damage := range []string{`UPDATE blobs SET data = zeroblob(length(data))`, `DELETE FROM blobs`, `DELETE FROM blob_refs`} {
		s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
		rs, evs := transcript(0, 1)
		b := skein.NewBlob(bytes.Repeat([]byte("0123456789 "), 3000))
		r, e := fileLine(1, int64(len(rs[0].Raw)), b)
		im := skein.Import{Records: append(rs, r)}
		im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
		batch := skein.Batch{Session: "a", Events: append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs[0], e), Blobs: []skein.Blob{b}, Import: &im}
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if err := s.change(t.Context(), func(tx *txn.Tx) error { return tx.Script(damage) }); err != nil {
			t.Fatal(err)
		}
		n, bad := 0, error(nil)
		for got, err := range s.Records(t.Context(), "f", "/x", 0) {
			if err != nil {
				bad = err
				break
			}
			if n++; string(got.Raw) != string(rs[0].Raw) {
				t.Errorf("%s: record %d is %q, want %q", damage, got.N, got.Raw, rs[0].Raw)
			}
		}
		if d := (*skein.DamagedRecordsError)(nil); n != 1 || !errors.As(bad, &d) || d.First != 1 || d.Last != 1 {
			t.Errorf("%s: %d records and %v, want 1 and that record 1 is damaged", damage, n, bad)
		}
	}
}

// Two messages of one batch that have the same file each keep it: a record never depends
// on the message of another.
func TestAFileOfTwoMessagesOutlivesEither(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	b := skein.NewBlob(bytes.Repeat([]byte("0123456789 "), 3000))
	r0, e0 := fileLine(0, 0, b)
	r1, e1 := fileLine(1, int64(len(r0.Raw)), b)
	im := skein.Import{Records: []skein.Record{r0, r1}}
	im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
	batch := skein.Batch{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{}), e0, e1}, Blobs: []skein.Blob{b}, Import: &im}
	if _, err := s.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	err := s.change(t.Context(), func(tx *txn.Tx) error {
		_, _, err := tx.Exec(`DELETE FROM messages WHERE content LIKE 'message 0 %'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantRecords(t, s, 1, []skein.Record{r1})
}

// A file that is brought again heals the damaged one.
func TestAFileBroughtAgainHealsADamagedOne(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	b := skein.NewBlob(bytes.Repeat([]byte("0123456789 "), 3000))
	_, e := fileLine(0, 0, b)
	for _, id := range []skein.SessionID{"a", "b"} {
		batch := skein.Batch{Session: id, Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{}), e}, Blobs: []skein.Blob{b}}
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if id == "b" {
			break
		}
		if err := s.change(t.Context(), func(tx *txn.Tx) error { return tx.Script(`UPDATE blobs SET data = zeroblob(length(data))`) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []skein.SessionID{"a", "b"} {
		if got, err := s.Blob(t.Context(), id, b.Hash); err != nil || !bytes.Equal(got, b.Data) {
			t.Errorf("the file of session %s has %d bytes (%v), want the %d that were brought last", id, len(got), err, len(b.Data))
		}
	}
}

// The records beside a damaged one can be replaced, and so can it; until then it stays,
// and is said to be damaged.
func TestRecordsAreReplacedBesideADamagedOne(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	rs, evs := transcript(0, 4)
	b := skein.NewBlob(bytes.Repeat([]byte("0123456789 "), 3000))
	r, e := fileLine(1, rs[1].Offset, b)
	rs[1], evs[1] = r, e
	for i := 2; i < len(rs); i++ {
		rs[i].Offset = rs[i-1].Offset + int64(len(rs[i-1].Raw))
	}
	im := skein.Import{Records: rs}
	im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
	batch := skein.Batch{Session: "a", Events: append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs...), Blobs: []skein.Blob{b}, Import: &im}
	if _, err := s.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	damage := func(script string) {
		t.Helper()
		if err := s.change(t.Context(), func(tx *txn.Tx) error { return tx.Script(script) }); err != nil {
			t.Fatal(err)
		}
	}
	damage(`UPDATE blobs SET data = zeroblob(length(data))`)
	for _, i := range []int{2, 0} { // once it ends what is left of its block, once it begins that
		rs[i].Raw = append([]byte(nil), rs[i].Raw...)
		rs[i].Raw[2] = 'U'
		importLines(t, s, skein.Import{Records: rs[i : i+1]})
		wantRecords(t, s, 2, rs[2:])
		var bad *skein.DamagedRecordsError
		n := 0
		for got, err := range s.Records(t.Context(), "f", "/x", 0) {
			if errors.As(err, &bad) {
				break
			}
			if n++; err != nil || string(got.Raw) != string(rs[0].Raw) {
				t.Errorf("record %d is %q (%v), want %q", got.N, got.Raw, err, rs[0].Raw)
			}
		}
		if n != 1 || bad == nil || bad.First != 1 || bad.Last != 1 {
			t.Errorf("after record %d was replaced, %d records and then %v are read, want one and that record 1 is damaged", i, n, bad)
		}
	}
	importLines(t, s, skein.Import{Records: rs[1:2]})
	wantRecords(t, s, 0, rs)
	importLines(t, s, skein.Import{Records: rs}) // in one block
	damage(`UPDATE records SET raw = zeroblob(length(raw))`)
	importLines(t, s, skein.Import{Records: rs[1:2]})
	var seen, bad []int
	for r, err := range lenient.Records(t.Context(), s, "f", "/x", func(e *skein.DamagedRecordsError) { bad = append(bad, e.First, e.Last) }) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, r.N)
	}
	if !slices.Equal(seen, []int{1}) || !slices.Equal(bad, []int{0, 0, 2, 3}) {
		t.Errorf("after record 1 of a lost block was replaced, records %v are read and %v damaged, want 1, and those before and behind it", seen, bad)
	}
	importLines(t, s, skein.Import{Records: rs})
	wantRecords(t, s, 0, rs)
}

// However short the lines are as they are stored, a block is read as a whole, with the
// files that it refers to.
func TestABlockOfFilesIsBounded(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	at := int64(0)
	for i := range 10 {
		b := skein.NewBlob(bytes.Repeat(fmt.Appendf(nil, "file %d ", i), 12000))
		r, e := fileLine(i, at, b)
		at += int64(len(r.Raw))
		im := skein.Import{Records: []skein.Record{r}}
		im.File.Format, im.File.Path, im.File.Session = "f", "/x", "a"
		batch := skein.Batch{Session: "a", Events: []skein.Event{e}, Blobs: []skein.Blob{b}, Import: &im}
		if i == 0 {
			batch.Events = append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, e)
		}
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	err := s.read(t.Context(), func(c *engine.Conn) error {
		return c.Query(`SELECT raw FROM records`, nil, func(row []driver.Value) error {
			rs, _, err := s.pack.Open(row[0].([]byte))
			size := 0
			for _, r := range rs {
				size += r.Length
			}
			if n += len(rs); size > 2*pack.BlockBytes {
				t.Errorf("a block has %d records of %d bytes together, want at most %d", len(rs), size, 2*pack.BlockBytes)
			}
			return err
		})
	})
	if err != nil || n != 10 {
		t.Errorf("the blocks have %d records (%v), want 10", n, err)
	}
}

// A blob that an event names outlives a repair, though the row that says so was lost; one
// that no event names does not.
func TestRepairRestoresLostReferencesToBlobs(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	rs, evs := transcript(0, 1)
	b := skein.NewBlob(bytes.Repeat([]byte("0123456789 "), 3000))
	_, evs[0] = fileLine(0, rs[0].Offset, b)
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs...), Blobs: []skein.Blob{b}}); err != nil {
		t.Fatal(err)
	}
	err := s.change(t.Context(), func(tx *txn.Tx) error {
		// In the shell, the blob would go with its last reference.
		return tx.Script(`CREATE TABLE kept AS SELECT * FROM blobs; DELETE FROM blob_refs; INSERT INTO blobs SELECT * FROM kept; DROP TABLE kept;
			INSERT INTO blobs (hash, size, form, data) VALUES (zeroblob(32), 1, 0, x'78')`)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Examine(t.Context(), inspect.Examination{Repair: true}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Blob(t.Context(), "a", b.Hash); err != nil || !bytes.Equal(got, b.Data) {
		t.Errorf("the blob has %d bytes (%v) after the repair, want %d", len(got), err, len(b.Data))
	}
	var left int64
	err = s.read(t.Context(), func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*) FROM blobs`, nil, &left)
		return err
	})
	if err != nil || left != 1 {
		t.Errorf("%d blobs are left (%v), want the one that an event names", left, err)
	}
}
