package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// upload sends a form with files, as a browser without scripts does, and returns the status
// and the page that follows.
func (v *visit) upload(path string, form url.Values, files ...[2]string) (int, string) {
	v.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range form {
		for _, value := range values {
			if err := w.WriteField(name, value); err != nil {
				v.t.Fatal(err)
			}
		}
	}
	for _, f := range files {
		part, err := w.CreateFormFile("file", f[0])
		if err == nil {
			_, err = io.WriteString(part, f[1])
		}
		if err != nil {
			v.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		v.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.url+path, &body)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Origin", v.url)
	a, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	page, err := io.ReadAll(a.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return a.StatusCode, string(page)
}

func TestAMessageHasFiles(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	wants(t, "the form", v.get("/chat"), `enctype="multipart/form-data"`, `type="file" name="file"`, "multiple")
	v.upload("/sessions/s-fork/chat", said("what is that?"), [2]string{"../../a shot.png", "\x89PNG"}, [2]string{"", ""}, [2]string{"notes.md", "# A"})
	v.send("/sessions/s-fork/chat/stop", url.Values{})
	if want := []string{"a shot.png 4", "notes.md 3"}; !slices.Equal(p.files, want) {
		t.Errorf("the files of the turn are %q, want %q", p.files, want)
	}
}

// What is too much is refused with the bound, and the text is given back.
func TestOnlySoManyFilesAreSent(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	large := strings.Repeat("x", 11<<20)
	var many [][2]string
	for i := range 11 {
		many = append(many, [2]string{fmt.Sprint("f", i), "x"})
	}
	for _, path := range []string{"/chat", "/sessions/s-fork/chat"} {
		_, page := v.upload(path, said("look <here>"), [2]string{"a.log", large}, [2]string{"b.log", large})
		wants(t, "the page after 22 MB", page, `role="alert">b.log has 11.5 MB; the files of a message have at most 20.0 MB together<`, ">look &lt;here&gt;</textarea>", "Choose the files again")
		_, page = v.upload(path, said("look"), many...)
		wants(t, "the page after 11 files", page, "11 files; attach at most 10 to a message", ">look</textarea>")
		_, page = v.upload(path, said(" "), [2]string{"a.png", "x"})
		wants(t, "the page after files alone", page, "files without a message")
	}
	status, page := v.upload("/chat", said("look"), [2]string{"a.log", large}, [2]string{"b.log", large}, [2]string{"c.log", large})
	if wants(t, "the page after 33 MB", page, "send less at once"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form with 33 MB: %d, want 413", status)
	}
	if len(p.files) > 0 {
		t.Errorf("the turns have the files %q, want none", p.files)
	}
}

// Messages with files wait like others, as long as the server need not hold too much.
func TestFilesWait(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	v.send("/sessions/s-fork/chat", said("first"))
	large := strings.Repeat("x", 11<<20)
	_, page := v.upload("/sessions/s-fork/chat", said("second"), [2]string{"a<b>.log", large})
	wants(t, "the page", page, "with a&lt;b&gt;.log")
	_, page = v.upload("/sessions/s-fork/chat", said("third"), [2]string{"b.log", large})
	wants(t, "the page", page, "send these after the answer", ">third</textarea>")
	h := v.hear("/sessions/s-fork/live")
	end := p.end()
	close(p.hold)
	h.grown(end + 3)
	if want := []string{"a<b>.log 11534336"}; !slices.Equal(p.files, want) {
		t.Errorf("the files are %q, want %q", p.files, want)
	}
}
