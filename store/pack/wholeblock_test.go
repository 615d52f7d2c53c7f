package pack

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/skein-dev/skein"
)

func testCompressor(t testing.TB) *Compressor {
	t.Helper()
	p, err := NewCompressor()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestBlocksHoldTheRecordsThatWentIn(t *testing.T) {
	p := testCompressor(t)
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(0, 1e6).Draw(t, "first")
		var rs []skein.Record
		for i := range rapid.IntRange(0, 700).Draw(t, "records") {
			r := skein.Record{N: first + i, Offset: rapid.Int64().Draw(t, "offset"), Events: rapid.IntRange(0, 9).Draw(t, "events"), Copy: i%3 == 0}
			r.Raw = bytes.Repeat([]byte{byte(i), 0, '\n'}, rapid.SampledFrom([]int{0, 1, 40, 3000}).Draw(t, "length"))
			r.Key = skein.ClientID(rapid.StringN(0, 20, -1).Draw(t, "key"))
			r.Damage = rapid.StringN(0, 20, -1).Draw(t, "damage")
			rs = append(rs, r)
		}
		var got []skein.Record
		for _, b := range p.WholeBlocks(rs) {
			if want := first + len(got); b.First != want {
				t.Fatalf("a block begins with record %d, want %d", b.First, want)
			}
			part, err := p.OpenWhole(b.First, b.Count, b.Raw)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
		}
		for i := range got {
			if got[i].Raw = append([]byte{}, got[i].Raw...); len(rs[i].Raw) == 0 {
				got[i].Raw = rs[i].Raw
			}
		}
		if !reflect.DeepEqual(got, rs) {
			t.Fatalf("blocks of %d records hold %d others", len(rs), len(got))
		}
	})
}

func TestADamagedBlockIsAnError(t *testing.T) {
	p := testCompressor(t)
	rs := []skein.Record{{N: 4, Raw: []byte("one\n"), Key: "k"}, {N: 5, Raw: []byte("two\n"), Damage: "torn"}}
	whole, err := p.dec.DecodeAll(p.SealWhole(rs), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if got, err := p.OpenWhole(4, 2, p.enc.EncodeAll(whole[:n], nil)); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("OpenWhole of the first %d of %d bytes = %v, %v, want an error that wraps %v", n, len(whole), got, err, skein.ErrCorrupt)
		}
	}
	for _, count := range []int{0, 1, 3} {
		if got, err := p.OpenWhole(4, count, p.SealWhole(rs)); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("OpenWhole of %d records of 2 = %v, %v, want an error that wraps %v", count, got, err, skein.ErrCorrupt)
		}
	}
}

func FuzzOpenBlock(f *testing.F) {
	p := testCompressor(f)
	f.Add([]byte("\x04\x01\x00\x00\x00\x00one\nk"), 1)
	f.Fuzz(func(t *testing.T, b []byte, count int) {
		if count < 0 || count > 1000 {
			return
		}
		rs, err := p.OpenWhole(0, count, p.enc.EncodeAll(b, nil))
		if err == nil && len(rs) != count {
			t.Errorf("OpenWhole(%q, %d) = %d records", b, count, len(rs))
		}
	})
}
