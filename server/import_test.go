package server_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

const transcript = `{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"sessionId":"99999999-9999-4999-8999-999999999999","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/ada/pear","version":"2.0.0","isSidechain":false,"userType":"external","message":{"role":"user","content":"hello"}}
`

const answer = `{"type":"assistant","uuid":"22222222-2222-4222-8222-222222222222","parentUuid":"11111111-1111-4111-8111-111111111111","sessionId":"99999999-9999-4999-8999-999999999999","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/home/ada/pear","version":"2.0.0","isSidechain":false,"userType":"external","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":1}}}
`

type report struct {
	Files, Sessions, Grown, Events, Messages, Unmatched int
	Damaged                                             int `json:"damaged_records"`
	Changed                                             []skein.SessionID
}

func TestAFileIsTakenInOnce(t *testing.T) {
	emptyTemp(t)
	s := newSite(t)
	const octets = "Content-Type: application/octet-stream"
	name := "projects/-home-ada-pear/99999999-9999-4999-8999-999999999999.jsonl"
	var r report
	if s.wants(200, "POST /v1/import?name="+name, transcript, &r, octets); r.Sessions != 1 || r.Messages != 1 {
		t.Errorf("POST import = %+v, want a session", r)
	}
	if s.wants(200, "POST /v1/import?name="+name, transcript, &r, octets); r.Events != 0 {
		t.Errorf("POST import again = %+v, want nothing new", r)
	}
	if s.wants(200, "POST /v1/import?name="+name, transcript+answer, &r, octets); r.Grown != 1 || r.Messages != 1 {
		t.Errorf("POST import of what has grown = %+v, want a message more", r)
	}
	source := s.raw(200, "GET /v1/sessions/99999999-9999-4999-8999-999999999999/export?to=source", "")
	if string(source) != transcript+answer {
		t.Errorf("the source comes back as %s", source)
	}
	for x, err := range s.store.Sessions(t.Context(), skein.Filter{}) {
		if err != nil || x.Origin == nil || !strings.HasPrefix(x.Origin.Path, "upload:") || !strings.HasSuffix(x.Origin.Path, "/"+name) {
			t.Errorf("the session comes from %+v, %v, want upload:…/%s", x.Origin, err, name)
		}
	}
	for f, err := range skein.SourcesOf(s.store).Files(t.Context(), "") {
		if err != nil || strings.Contains(f.Path, os.TempDir()) {
			t.Errorf("the store knows the file %s, %v, want it by the name that it was sent by", f.Path, err)
		}
	}
	log := s.raw(200, "GET /v1/sessions/99999999-9999-4999-8999-999999999999/export", "")
	other := newSite(t)
	if other.wants(200, "POST /v1/import?name=x.jsonl&format=skein", string(log), &r, octets); r.Sessions != 1 || r.Messages != 2 {
		t.Errorf("POST import of an export = %+v, want the session", r)
	}
	if got := other.raw(200, "GET /v1/sessions/99999999-9999-4999-8999-999999999999/export", ""); !bytes.Equal(got, log) {
		t.Errorf("the export of the import is %s, want %s", got, log)
	}
	if s.wants(200, "POST /v1/import?name=notes.txt", "hello", &r, octets); r.Unmatched != 1 {
		t.Errorf("POST import of no session = %+v, want it unmatched", r)
	}
	s.refuses(400, "invalid", "POST /v1/import?name=x&format=none", "x", octets)
	s.refuses(400, "invalid", "POST /v1/import", "x", octets)
	for _, bad := range []string{"..", "../x", "a/../../x", "..%5Cx", "%00", ".", "C:%5Cx", "x/" + strings.Repeat("d/", 40) + "y"} {
		s.refuses(400, "invalid", "POST /v1/import?name="+bad, "x", octets)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("imports leave %v behind (%v)", left, err)
	}
}

func TestAnArchiveIsUnpackedWithinItsFolder(t *testing.T) {
	emptyTemp(t)
	const octets = "Content-Type: application/octet-stream"
	name := "projects/-home-ada-pear/99999999-9999-4999-8999-999999999999.jsonl"
	var zipped, tarred, tgz bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(transcript)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	g := gzip.NewWriter(&tgz)
	for _, out := range []*tar.Writer{tar.NewWriter(&tarred), tar.NewWriter(g)} {
		for _, h := range []tar.Header{{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: name, Typeflag: tar.TypeReg, Size: int64(len(transcript)), Mode: 0o644}} {
			if err := out.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				if _, err := out.Write([]byte(transcript)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for ending, data := range map[string]*bytes.Buffer{"zip": &zipped, "tar": &tarred, "tgz": &tgz} {
		s := newSite(t)
		var r report
		if s.wants(200, "POST /v1/import?name=all."+ending, data.String(), &r, octets); r.Sessions != 1 {
			t.Errorf("POST import of a %s = %+v, want a session", ending, r)
		}
		s.refuses(400, "invalid", "POST /v1/import?name=all."+ending, "no archive at all, but long enough to look at for a while"+strings.Repeat(".", 1000), octets)
	}
	var evil bytes.Buffer
	out := tar.NewWriter(&evil)
	if err := out.WriteHeader(&tar.Header{Name: "../../evil", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.refuses(400, "invalid", "POST /v1/import?name=evil.tar", evil.String(), octets)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("imports leave %v behind (%v)", left, err)
	}
}

// emptyTemp sets an empty folder for temporary files.
func emptyTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
}
