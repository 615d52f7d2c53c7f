package opencode

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein/interop"
)

// Only a child's own file names its parent, so a child created while that file is
// being written would never have one.
func TestASessionWaitsForItsOwnFileToBeWhole(t *testing.T) {
	const child = "ses_child"
	for _, part := range []string{"", `{"id":"` + child + `","parentID":`} {
		p := newPlace(t)
		p.run(`DELETE FROM session`)
		files := old()
		own := "session/global/" + child + ".json"
		files[own] = part
		files["message/"+child+"/msg_9000.json"] = `{"id":"msg_9000","sessionID":"` + child + `","role":"user","time":{"created":9000}}`
		files["part/msg_9000/prt_9000_0.json"] = text("look around")
		p.moveOut(files)
		at := filepath.Join(p.dir, folderName, filepath.FromSlash(own))
		write := func(text string, age time.Duration) {
			t.Helper()
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			then := time.Now().Add(-age)
			if err := os.Chtimes(at, then, then); err != nil {
				t.Fatal(err)
			}
		}
		s := store(t)
		write(part, 0)
		p.bring(s)
		write(`{"id":"`+child+`","parentID":"`+ses+`","time":{"created":8000,"updated":8000}}`, 0)
		p.bring(s)
		sess, err := s.Session(t.Context(), child)
		if err != nil || sess.Parent == nil || sess.Parent.Session != ses {
			t.Errorf("after %q the child is %+v, %v, want it below %s", part, sess.Parent, err, ses)
		}
		broken := store(t)
		write(part, interop.TornFor)
		p.bring(broken)
		if _, err := broken.Session(t.Context(), child); err != nil {
			t.Errorf("a session whose file stays %q is not read: %v", part, err)
		}
	}
}
