package erase_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

func newMasker(t *testing.T, secrets ...string) *erase.Masker {
	t.Helper()
	m, err := erase.NewMasker(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestASecretIsFourBytesOrMore(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"abc"}, {"long enough", "abc"}} {
		if _, err := erase.NewMasker(secrets); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("NewMasker(%q): %v, want ErrInvalid", secrets, err)
		}
	}
	newMasker(t, "abcd")
}

func TestAnEventRefersToTheBlobWithoutTheSecret(t *testing.T) {
	m := newMasker(t, "sk-1234")
	with, without := skein.NewBlob([]byte("key sk-1234")), skein.NewBlob([]byte("no key"))
	for range 2 { // events of two segments may refer to the same blob
		if err := m.Blob(with.Hash, with.Data, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Blob(without.Hash, without.Data, nil); err != nil {
		t.Fatal(err)
	}
	if m.Done.Blobs != 1 {
		t.Errorf("Done.Blobs = %d, want 1", m.Done.Blobs)
	}
	clean, moved, found := m.Payload([]byte(`{"a":"` + with.Hash + `","b":"` + without.Hash + `"}`))
	if !found || len(moved) != 1 || string(moved[0].Data) != "key *******" {
		t.Fatalf("Payload moves %q, %v", moved, found)
	}
	if want := `{"a":"` + string(moved[0].Hash) + `","b":"` + string(without.Hash) + `"}`; string(clean) != want {
		t.Errorf("Payload = %s, want %s", clean, want)
	}
	if all := m.Replaced(nil); !slices.Equal(all, []skein.Hash{with.Hash}) || len(m.Replaced(all)) != 0 {
		t.Errorf("Replaced = %v and %v, want the blob with the secret, and none", all, m.Replaced(all))
	}
}

func TestTheNoteOfAScrubHasNoSecret(t *testing.T) {
	m := newMasker(t, "sk-1234")
	rs := []skein.Record{{Raw: []byte("a sk-1234")}, {Raw: []byte("b"), Damage: "bad sk-1234"}, {Raw: []byte("c")}}
	m.Done.Records = m.Records(rs)
	if m.Done.Records != 2 || string(rs[0].Raw) != "a *******" || rs[1].Damage != "bad *******" {
		t.Errorf("Records changed %d, to %q and %q", m.Done.Records, rs[0].Raw, rs[1].Damage)
	}
	if e := m.Note(0); !strings.Contains(string(e.Payload), `"records":2`) || strings.Contains(string(e.Payload), "sk-1234") {
		t.Errorf("Note = %s", e.Payload)
	}
}

// A blob that is damaged is noted; one that could not be read stops the scrub.
func TestADamagedBlobIsNotedAsNotRead(t *testing.T) {
	m := newMasker(t, "sk-1234")
	if err := m.Blob("h", nil, fmt.Errorf("bad sum: %w", skein.ErrCorrupt)); err != nil || !slices.Equal(m.Done.UnreadBlobs, []skein.Hash{"h"}) {
		t.Errorf("a damaged blob: %v, UnreadBlobs = %v, want it noted", err, m.Done.UnreadBlobs)
	}
	if err := m.Blob("h", nil, io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a blob that cannot be read: %v, want the error", err)
	}
}

// Each event of a segment is looked at once, and those without a row are noted.
func TestEventsWithoutARowAreNoted(t *testing.T) {
	m := newMasker(t, "sk-1234")
	stored := []skein.Seq{2, 3, 6, 9}
	var looked []skein.Seq
	err := erase.EventRun[skein.Seq]{After: 1, Upto: 8, Seq: func(s *skein.Seq) skein.Seq { return *s }, Page: func(after skein.Seq) (page []skein.Seq, err error) {
		for _, s := range stored {
			if s > after && len(page) < 2 {
				page = append(page, s)
			}
		}
		return page, nil
	}}.Each(m, func(s *skein.Seq) error {
		looked = append(looked, *s)
		return nil
	})
	if err != nil || !slices.Equal(looked, []skein.Seq{2, 3, 6}) || !slices.Equal(m.Done.Unread, []skein.Seq{4, 5, 7, 8}) {
		t.Errorf("Each looks at %v, and notes %v, %v, want 2 3 6 and 4 5 7 8", looked, m.Done.Unread, err)
	}
}
