package pack

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Programs that store a session in a folder, or in a database, have lines that
// contain a line in a string.
func TestStringsWithinStringsAreLeftOutToo(t *testing.T) {
	text := "some \"text\" that\\ is long\nenough\t é\x01 to be referred to"
	said := string(skein.AppendQuoted([]byte(`{"role": "user", "content": `), text)) + `, "n": 1}` + "\n"
	raw := string(skein.AppendQuoted([]byte(`{"file":"transcript.jsonl","line":0,"text":`), said)) + "}\n"
	p := testPacker(t)
	f, err := skein.FactsOf(skein.Say(1, skein.UserSays(text)))
	if err != nil {
		t.Fatal(err)
	}
	texts := &Texts{}
	texts.Add(0, Quote(f.Text, f.Spans))
	b := p.OneBlock([]skein.Record{{Raw: []byte(raw), Key: "k"}}, texts)
	if strings.Contains(string(encodeBlock(nil, b.Records)), "referred to") || b.Form&formWithin == 0 {
		t.Errorf("the block of form %#x has the text: %q", b.Form, encodeBlock(nil, b.Records))
	}
	rs, _, err := p.Open(Seal(b.Form, []int64{7}, b.Body))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := rs[0].Whole([]string{f.Text}, nil); err != nil || string(r.Raw) != raw {
		t.Errorf("the record comes back as\n%s, %v, want\n%s", r.Raw, err, raw)
	}
	if r, err := rs[0].Whole([]string{""}, nil); err != nil || r.Damage != DeletedText || !strings.Contains(string(r.Raw), `\"content\": \"\", `) {
		t.Errorf("without its text the record is %s (%s), %v, want an empty string", r.Raw, r.Damage, err)
	}
}

func TestDamagedBlocksAreErrors(t *testing.T) {
	p := testPacker(t)
	var rs []skein.Record
	texts := &Texts{}
	for i := range 3 {
		f, err := skein.FactsOf(skein.Say(1, skein.UserSays(fmt.Sprintf("message %d has a text that is long enough to be left out", i))))
		if err != nil {
			t.Fatal(err)
		}
		texts.Add(i, Quote(f.Text, f.Spans))
		rs = append(rs, skein.Record{N: i, Raw: []byte(fmt.Sprintf("{\"content\":%s}\n", skein.AppendQuoted(nil, f.Text)))})
	}
	b := p.OneBlock(rs, texts)
	plain := Seal(formRefs, []int64{7, 8, 9}, encodeBlock(nil, b.Records))
	for i := range plain {
		if _, _, err := p.Open(plain[:i]); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("openBlock of the first %d bytes = %v, want %v", i, err, skein.ErrCorrupt)
		}
	}
	if strings.Contains(string(plain), "left out") {
		t.Errorf("the block has the text: %q", plain)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"a":"some text that is long enough to be referred to"}`), "some text that is long enough to be referred to")
	f.Add([]byte(`"\`), "x")
	f.Add([]byte(`{"text":"{\"a\": \"some \\\"text\\\" that is long\\nenough to be referred to\"}\n"}`), "some \"text\" that is long\nenough to be referred to")
	f.Add([]byte(`{"text":"\"some text that is long enough to be referred to\\`), "some text that is long enough to be referred to\\")
	p, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(p.Close)
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		facts, err := skein.FactsOf(skein.Say(1, skein.UserSays(text)))
		if err != nil {
			return
		}
		texts := &Texts{}
		texts.Add(0, Quote(facts.Text, facts.Spans))
		b := p.OneBlock([]skein.Record{{Raw: raw, Key: "k"}, {N: 1, Offset: int64(len(raw)), Raw: raw}}, texts)
		rs, ids, err := p.Open(Seal(b.Form, make([]int64, len(b.Events)), b.Body))
		if err != nil {
			t.Fatal(err)
		}
		for i := range rs {
			r, err := rs[i].Whole([]string{facts.Text}[:len(ids)], nil)
			if err != nil || string(r.Raw) != string(raw) {
				t.Fatalf("record %d of %q = %q, %v", i, raw, r.Raw, err)
			}
		}
		if _, _, err := p.Open(raw); err != nil && !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("openBlock(%q) = %v, want %v", raw, err, skein.ErrCorrupt)
		}
	})
}
