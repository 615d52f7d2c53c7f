package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/memory"
)

// items returns what Read yields, in one line each, and its error.
func items(log string) (all []string, err error) {
	for it, err := range replay.Read(strings.NewReader(log)) {
		if err != nil {
			return all, err
		}
		switch {
		case it.Head != nil:
			all = append(all, fmt.Sprintf("%d head %s %d-%d %s", it.Line, it.Session, it.Head.First, it.Head.Last, it.Head.For))
		case it.Event != nil:
			all = append(all, fmt.Sprintf("%d event %s %d %s", it.Line, it.Session, it.Event.Seq, it.Event.Payload))
		case it.Blob != nil:
			all = append(all, fmt.Sprintf("%d blob %s %d", it.Line, it.Session, len(it.Blob.Data)))
		default:
			all = append(all, fmt.Sprintf("%d damage torn=%v", it.Line, it.Torn))
		}
	}
	return all, nil
}

func TestEveryLineIsAnObjectWithoutLineFeeds(t *testing.T) {
	log := write(t, family(t), "g", "p")
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}\n") || strings.ContainsRune(line, '\r') {
			t.Errorf("line %.80q", line)
		}
	}
	if !strings.Contains(log, `{ "parts" : [ ],	"role" : "assistant", "unknown": 1.50e+3, "role2": "\u003c" }}`) {
		t.Error("a payload with spaces and escapes is not there byte for byte")
	}
}

func TestReadTakesWhatEditorsAndShellsDo(t *testing.T) {
	log := `{"skein":"replay","version":1,"session":"s","first":1,"more":{}}` + "\n" +
		`{"seq":1,"time":"","kind":"noted","payload":{"a": 1},"later":true}` + "\n"
	plain := []string{"1 head s 1-0 ", `2 event s 1 {"a": 1}`}
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"as it is":             {log, plain},
		"byte order mark":      {"\ufeff" + log, plain},
		"CR LF":                {strings.ReplaceAll(log, "\n", "\r\n"), plain},
		"blank lines":          {strings.ReplaceAll(log, "\n", "\n\n"), []string{plain[0], "3" + plain[1][1:]}},
		"no last line feed":    {strings.TrimSuffix(log, "\n"), plain},
		"two on a line":        {strings.Replace(log, "\n", "", 1), []string{plain[0], "1" + plain[1][1:]}},
		"torn":                 {log + `{"seq":2,"ti`, append(slices.Clone(plain), "3 damage torn=true")},
		"damage":               {log + "what?\n" + `{"seq":"x"}` + "\n{}\n" + log, append(slices.Clone(plain), "3 damage torn=false", "4 damage torn=false", "5 damage torn=false", "6"+plain[0][1:], "7"+plain[1][1:])},
		"cut off and begun":    {log + `{"seq":2,"time` + log, append(slices.Clone(plain), "3 damage torn=false", "3"+plain[0][1:], "4"+plain[1][1:])},
		"event without a kind": {log + `{"seq":2,"payload":{}}` + "\n", append(slices.Clone(plain), "3 damage torn=false")},
		"NULs of a power cut":  {log + "\x00\x00\x00", append(slices.Clone(plain), "3 damage torn=false")},
	} {
		if got, err := items(c.log); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: Read yields\n%s, %v, want\n%s", name, strings.Join(got, "\n"), err, strings.Join(c.want, "\n"))
		}
	}
}

func TestDamagedBlobsAreNoBlobs(t *testing.T) {
	head := `{"skein":"replay","version":1,"session":"s","first":1}` + "\n"
	b := skein.NewBlob([]byte("abc"))
	piece := func(size, at int, data string) string {
		return fmt.Sprintf(`{"blob":%q,"size":%d,"at":%d,"data":%q}`+"\n", b.Hash, size, at, data)
	}
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"whole":          {piece(3, 0, "YWJj"), []string{"2 blob s 3"}},
		"in two":         {piece(3, 0, "YQ==") + piece(3, 1, "YmM="), []string{"3 blob s 3"}},
		"other bytes":    {piece(3, 0, "YWJk"), []string{"2 damage torn=false"}},
		"no base64":      {piece(3, 0, "****"), []string{"2 damage torn=false"}},
		"too long":       {piece(2, 0, "YWJj"), []string{"2 damage torn=false"}},
		"a gap":          {piece(3, 0, "YQ==") + piece(3, 2, "Yw=="), []string{"3 damage torn=false"}},
		"no beginning":   {piece(3, 1, "YmM="), []string{"2 damage torn=false"}},
		"a size too big": {piece(replay.MaxBlob+1, 0, "YWJj"), []string{"2 damage torn=false"}},
		"negative":       {piece(3, -1, "YWJj"), []string{"2 damage torn=false"}},
	} {
		want := append([]string{"1 head s 1-0 "}, c.want...)
		if got, err := items(head + c.log); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: Read yields %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for head, want := range map[string]bool{
		`{"skein":"replay","version":1`:        true,
		"\ufeff\n { \"skein\" : \"replay\" , ": true,
		`{"skein":"other"`:                     false,
		`{"type":"user"`:                       false,
		"":                                     false,
	} {
		if got := replay.Match([]byte(head)); got != want {
			t.Errorf("Match(%q) = %v, want %v", head, got, want)
		}
	}
}

// holed is a store whose blobs are damaged.
type holed struct{ skein.Store }

func (w holed) Unwrap() skein.Store { return w.Store }

func (holed) Blob(context.Context, skein.SessionID, skein.Hash) ([]byte, error) {
	return nil, skein.ErrCorrupt
}

func TestADamagedBlobIsSaidAndTheRestWritten(t *testing.T) {
	var b bytes.Buffer
	done, err := replay.Write(context.Background(), &b, holed{small(t)}, "p")
	if err != nil || len(done.Missing) != 1 || done.Events != 12 {
		t.Errorf("Write = %+v, %v, want 12 events and one blob missing", done, err)
	}
	if got, err := items(b.String()); err != nil || len(got) != 13 {
		t.Errorf("the log has %d items, %v, want a head and 12 events", len(got), err)
	}
}

func TestWriteOfNoSession(t *testing.T) {
	var b bytes.Buffer
	if _, err := replay.Write(context.Background(), &b, memory.New(), "none"); !errors.Is(err, skein.ErrNotFound) || b.Len() > 0 {
		t.Errorf("Write of no session = %v, %q, want ErrNotFound and nothing", err, b.String())
	}
}

func FuzzLoad(f *testing.F) {
	s := memory.New()
	_, err := skein.Add(context.Background(), s, "s", skein.NewEvent(skein.KindCreated, noon, skein.Created{Key: "k"}), skein.Say(noon, skein.UserSays("hello")))
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := replay.Write(context.Background(), &b, s, "s"); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")))
	f.Add([]byte(`{"skein":"replay","version":1,"session":"s","first":1}` + "\n" + `{"blob":"x","size":1,"at":0,"data":"YQ=="}`))
	f.Add([]byte(`{"skein":"replay","version":1,"session":"s","first":1,"for":"t"}` + "\n" + `{"seq":1,"time":"","kind":"created","payload64":"e30="}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		to := memory.New()
		done, err := replay.Load(context.Background(), to, bytes.NewReader(log), replay.Options{})
		if err != nil {
			return
		}
		// What was loaded can be written, loaded elsewhere, and is the same.
		var again bytes.Buffer
		for _, s := range done.Sessions {
			if s.New == 0 {
				continue
			}
			if _, err := replay.Write(context.Background(), &again, to, s.Session); err != nil {
				t.Fatalf("Write of what was loaded: %v", err)
			}
		}
		second, err := replay.Load(context.Background(), to, &again, replay.Options{})
		if err != nil {
			t.Fatalf("Load of what was written: %v", err)
		}
		for _, s := range second.Sessions {
			if s.New > 0 {
				t.Errorf("loading its own log adds %+v", s)
			}
		}
	})
}
