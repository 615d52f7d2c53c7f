package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// A session and its --fork-session give the same in whatever order their files are
// read: the sessions, their parents, and what each cost.
func TestAForkedSessionIsTheSameInWhateverOrderItsFilesAreRead(t *testing.T) {
	const first, fork, third = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	line := func(session, parent, id, second, what string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/shop","sessionId":%q,"version":"2.1.12","uuid":%q,"timestamp":"2026-01-20T04:15:%sZ",%s}`+"\n", parent, session, id, second, what)
	}
	asked := func(text string) string {
		return fmt.Sprintf(`"type":"user","message":{"role":"user","content":%q}`, text)
	}
	answered := func(id, text string) string {
		return fmt.Sprintf(`"type":"assistant","requestId":%[1]q,"message":{"id":%[1]q,"type":"message","role":"assistant","model":"claude-opus-4-5-20251101","content":[{"type":"text","text":%[2]q}],"usage":{"input_tokens":100,"output_tokens":10}}`, id, text)
	}
	shared := func(session string) string {
		return line(session, "null", "a1", "01", asked("mend the till")) + line(session, "a1", "a2", "02", answered("msg_1", "done"))
	}
	went := line(first, "a2", "a3", "08", asked("and the door")) + line(first, "a3", "a4", "09", answered("msg_2", "done too"))
	forked := line(fork, "a2", "b1", "05", asked("and the window")) + line(fork, "b1", "b2", "06", answered("msg_3", "that as well"))
	// Without a terminal, the program begins with a line of its own, in a fork too.
	queued := func(session, second string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-20T04:15:%sZ","sessionId":%q}`+"\n", second, session)
	}
	// Versions of 2025 begin a file with titles of other sessions, some of which are gone.
	title := func(of string) string {
		return fmt.Sprintf(`{"type":"summary","summary":"Mend the shop","leafUuid":%q}`+"\n", of)
	}
	one, two := shared(first), shared(fork)+forked
	for name, c := range map[string]struct {
		one, two string
		third    string // another file, which is read with the first one that is
		copied   bool   // a backup keeps when a file was last written to, not when it was made
	}{
		"it went on":       {one: one + went, two: two},
		"it did not go on": {one: one, two: two},
		"it begins with the title of a session that is gone": {one: title("gone") + one + went, two: title("gone") + two},
		"a third file has its title":                         {one: one + went, two: two, third: title("a2") + strings.ReplaceAll(line(third, "null", "c1", "20", asked("sweep the floor")), "04:15", "05:15")},
		"restored from a backup":                             {one: queued(first, "00") + one + went, two: queued(fork, "04") + two, copied: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(realDir(t), ".claude", "projects", "-shop")
			hour := time.Date(2026, 1, 20, 4, 0, 0, 0, time.UTC)
			put := func(id, text string) string {
				path := filepath.Join(dir, id+".jsonl")
				hour = hour.Add(time.Hour)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, hour, hour); err != nil {
					t.Fatal(err)
				}
				return path
			}
			var one, two string
			if c.copied {
				two = put(fork, c.two)
			}
			one = put(first, c.one)
			if !c.copied {
				two = put(fork, c.two)
			}
			var with []string
			if c.third != "" {
				with = append(with, put(third, c.third))
			}
			var want string
			for _, order := range [][][]string{{{one}, {two}}, {{two}, {one}}, {{one, two}}, {{two, one}}, {{dir}}, {{two}, {dir}}, {{one}, {dir}}} {
				order[0] = append(order[0], with...)
				got := heldAfter(t, order)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("read in the order %v, the store has\n%s, want\n%s", order, got, want)
				}
			}
			if !strings.Contains(want, fork+" hangs on "+first) || !strings.Contains(want, first+" hangs on nothing") {
				t.Errorf("the store has\n%s, want the fork to hang on what was first", want)
			}
		})
	}
}

// heldAfter imports paths one after the other and returns what is listed then.
func heldAfter(t *testing.T, order [][]string) string {
	t.Helper()
	ctx := context.Background()
	s := memory.New()
	defer s.Close()
	for _, paths := range order {
		if _, err := importer.Import(ctx, s, []interop.Format{Format()}, paths, interop.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for id, err := range s.Sessions(ctx, skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		on := "nothing"
		if id.Parent != nil {
			on = fmt.Sprintf("%s@%d", id.Parent.Session, id.Parent.Seq)
		}
		fmt.Fprintf(&b, "%s hangs on %s: %d messages, %d turns, first %q, titled %q\n", id.ID, on, id.Messages, id.Turns, id.First, id.Title)
	}
	rows, err := s.Usage(ctx, skein.UsageQuery{By: skein.BySession})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "%+v\n", r)
	}
	return b.String()
}
