package api_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
)

func TestPayloadsGoOverTheWireAsTheyAre(t *testing.T) {
	for _, payload := range []string{
		`{}`, `{ "a" : 1.0, "b":"\u003c<\/", "a":2 }`, `{"n":12345678901234567890}`, `{"lone":"\ud800"}`, "{\"line\":\n1}",
		"{\"no utf-8\":\"\xff\"}", `{"deep":` + strings.Repeat("[", 9500) + strings.Repeat("]", 9500) + `}`, `{"x":"` + strings.Repeat("ä", 1000) + `"}`,
	} {
		was := skein.Batch{Session: "a", Events: []skein.Event{{Seq: 3, Time: 1700000000123, Kind: skein.KindNoted, ClientID: `c"1`, Payload: json.RawMessage(payload)}}}
		var got api.Batch
		line := api.AppendBatch(nil, was)
		if err := json.Unmarshal(line, &got); err != nil {
			t.Errorf("%.60q on the wire is %.100s: %v", payload, line, err)
			continue
		}
		if is := got.Batch(); !reflect.DeepEqual(is, was) {
			t.Errorf("%.60q comes back as %.80q", payload, is.Events[0].Payload)
		}
	}
}

func TestTimesGoOverTheWireAsTheyAre(t *testing.T) {
	for _, at := range []skein.Time{0, 1, -1, -62135596800000, -62167219200000, 253402300799999} {
		var got api.Event
		line := api.AppendEvent(nil, skein.Event{Time: at, Kind: "x", Payload: []byte("{}")})
		if err := json.Unmarshal(line, &got); err != nil || got.Time != at {
			t.Errorf("%s is read as %d (%v), want %d", line, got.Time, err, at)
		}
	}
}

func TestABatchComesBackWhole(t *testing.T) {
	was := skein.Batch{
		Session: "a", After: skein.Fresh, Fence: 7, Again: true,
		Events: []skein.Event{skein.Say(5, skein.UserSays("hi")), skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: "<t>"})},
		Blobs:  []skein.Blob{skein.NewBlob([]byte{0, 255, 'x'})},
		Import: &skein.Import{
			File:    skein.SourceFile{Format: "codex", Path: "/x", Session: "a", ID: "i", CopyOf: "b", Size: 1 << 40, Mtime: 1700000000123456789, Inode: 1<<64 - 1, Offset: 3, Records: 2, Damaged: 1, Head: "h", State: []byte("s")},
			Records: []skein.Record{{N: 1, Offset: 2, Raw: []byte("raw\xff\n"), Key: "k", Events: 2, Copy: true, Damage: "d"}}, Forget: true,
		},
	}
	var got api.Appended
	line := append(api.AppendBatch([]byte(`{"batches":[`), was), "]}"...)
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if diff := cmp.Diff(was, got.Batches[0].Batch()); diff != "" {
		t.Errorf("a batch comes back otherwise:\n%s", diff)
	}
	if is := api.AppendBatch(nil, skein.Batch{Session: "a"}); string(is) != `{"session":"a","events":[]}` {
		t.Errorf("an empty batch is %s", is)
	}
}
