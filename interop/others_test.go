package interop_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/importer"
)

// kinToy is the format toy, whose files another program writes too.
func kinToy() interop.Format {
	f := toy()
	f.Kin = []interop.SimilarProgram{{Program: "Puppet", Dirs: []string{".puppet"}, Signs: []string{"puppet-only"}}}
	return f
}

func TestWhatOnlyLooksAlikeIsNamedAndLeftAlone(t *testing.T) {
	p := newPlace(t)
	p.write(".puppet/a.toy", "a1")
	p.write("b.toy", "Puppet-only")
	p.write("c.toy", "c1")
	rep := p.bringAs(kinToy(), leaves())
	if rep.Sessions != 1 || rep.Alike != 2 || rep.Unmatched != 0 || len(rep.Others) != 2 || rep.Failed != 0 {
		t.Fatalf("Import = %+v, want 1 session, and 2 files that look alike", rep)
	}
	for _, o := range rep.Others {
		if o.Of != "Puppet" || o.Format != "toy" || o.Why == "" {
			t.Errorf("a file that looks alike is told of as %+v, want Puppet's, and why", o)
		}
	}
	found, rep, err := discover.Find(t.Context(), p.store, []interop.Format{kinToy()}, []string{p.dir})
	if err != nil || len(found) != 1 || found[0].Files != 1 || rep.Alike != 2 {
		t.Errorf("Find = %+v, %+v, %v, want 1 file, and 2 that look alike", found, rep, err)
	}
	named := []string{p.path("b.toy")}
	rep, err = importer.Import(t.Context(), p.store, []interop.Format{kinToy(), leaves()}, named, interop.Options{Named: true})
	if err != nil || rep.Failed != 1 || len(rep.Skips) != 1 || !strings.Contains(rep.Skips[0].Why, "--format toy") {
		t.Errorf("Import of one that is named = %+v, %v, want it to fail, and to say how it is taken", rep, err)
	}
	if rep, err = importer.Import(t.Context(), p.store, []interop.Format{kinToy()}, named, interop.Options{Named: true}); err != nil || rep.Sessions != 1 {
		t.Errorf("Import of one that is named, as toy's = %+v, %v, want its session", rep, err)
	}
}

// This holds whatever is learned about a program's kin later.
func TestWhatWasTakenInGoesOn(t *testing.T) {
	p := newPlace(t)
	p.write(".puppet/a.toy", "a1")
	if rep := p.bringAs(toy()); rep.Sessions != 1 {
		t.Fatalf("Import = %+v, want 1 session", rep)
	}
	p.write(".puppet/a.toy", "a1", "a2")
	if rep := p.bringAs(kinToy()); rep.Grown != 1 || rep.Alike != 0 {
		t.Errorf("Import of what has grown = %+v, want the session to grow", rep)
	}
}

func TestAFirstLineTellsOfItsProgramAlone(t *testing.T) {
	f := toy()
	f.Kin = []interop.SimilarProgram{{Program: "Puppet", Header: []string{"puppet"}}}
	p := newPlace(t)
	p.write("a.toy", "Puppet", "a1")
	p.write("b.toy", "b1", "Puppet")
	if rep := p.bringAs(f); rep.Sessions != 1 || rep.Alike != 1 {
		t.Errorf("Import = %+v, want the session that only speaks of it", rep)
	}
}

func TestASignIsKnownHoweverItsJSONIsSpaced(t *testing.T) {
	f := toy()
	f.Kin = []interop.SimilarProgram{{Program: "Puppet", Signs: []string{`"by":"puppet`}}, {Program: "Marionette", Header: []string{`"of":{"by":"marionette"`}}}
	p := newPlace(t)
	p.write("a.toy", "a1", `{"by": "Puppet"}`)
	p.write("b.toy", `{"of" : { "by":	"Marionette" }}`)
	p.write("c.toy", `{"said":"\"by\": \"puppet\""}`)
	if rep := p.bringAs(f); rep.Sessions != 1 || rep.Alike != 2 {
		t.Errorf("Import = %+v, want the session that only speaks of it", rep)
	}
}

func TestANamedFileIsOfTheFormatThatIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		file, data string
		format     interop.Format
	}{
		"lines":    {"a.txt", line("a1") + line("a2"), toy()},
		"document": {"a.txt", leafText("a1", "a2"), func() interop.Format { f := leaves(); f.Document = never; return f }()},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.raw(tt.file, tt.data)
			for want, o := range []interop.Options{{}, {Named: true}} {
				rep, err := importer.Import(t.Context(), p.store, []interop.Format{tt.format}, []string{p.path(tt.file)}, o)
				if err != nil || rep.Sessions != want {
					t.Errorf("Import(%+v) = %+v, %v, want %d sessions", o, rep, err, want)
				}
			}
		})
	}
}

// What a person says counts, but it is not taken in without a word.
func TestAFileThatIsForcedIsToldOfWithWhatItLooksLike(t *testing.T) {
	other := leaves()
	other.Match = func(_ string, head []byte) (g interop.Guess) {
		if bytes.Contains(head, []byte("leafy")) {
			g = interop.KnownBy("it is leafy")
		}
		return g
	}
	for name, tt := range map[string]struct {
		file, data string
		format     interop.Format
		want       []interop.Forced
	}{
		"another's":   {"a.txt", line("leafy"), toy(), []interop.Forced{{Format: "toy", Looks: "leaf", Why: "it is leafy"}}},
		"by its name": {"a.toy", line("leafy"), toy(), []interop.Forced{{Format: "toy", Looks: "leaf", Why: "it is leafy"}}},
		"a document":  {"a.txt", leafText("a1"), toy(), []interop.Forced{{Format: "toy", Looks: "leaf", Why: "it has toys"}}},
		"a unit's":    {"x.box/a.toy", line("a1"), func() interop.Format { f := toy(); f.Match = ending(".other"); return f }(), []interop.Forced{{Format: "toy", Looks: "box", Why: "it lies where that keeps its files"}}},
		"its kin's":   {"a.toy", line("puppet-only"), kinToy(), []interop.Forced{{Format: "toy", Looks: "Puppet", Why: "it has puppet-only"}}},
		"nobody's":    {"a.txt", line("a1"), toy(), nil},
		"its own":     {"a.toy", line("a1"), toy(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.raw(tt.file, tt.data)
			for i := range tt.want {
				tt.want[i].Path = p.path(tt.file)
			}
			rep, err := importer.Import(t.Context(), p.store, []interop.Format{tt.format}, []string{p.path(tt.file)}, interop.Options{Named: true, All: []interop.Format{tt.format, other, box()}})
			if err != nil || !slices.Equal(rep.Forced, tt.want) {
				t.Errorf("Import = %+v, %v, want it told of as %+v", rep, err, tt.want)
			}
		})
	}
}

// never is a Document that recognizes nothing.
func never(string, []byte) interop.Guess { return interop.Guess{} }
