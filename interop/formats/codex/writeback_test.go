package codex

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
)

const (
	threadOne = "019e2000-1111-7fff-8fff-00000000b001"
	threadAt  = "sessions/2026/05/04/rollout-2026-05-04T09-00-00-" + threadOne + ".jsonl"
)

// lay writes a rollout and imports it.
func (x *exporting) lay(lines ...string) {
	x.Helper()
	at := filepath.Join(x.home, filepath.FromSlash(threadAt))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		x.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		x.Fatal(err)
	}
	x.bring()
}

// bring imports the home, and returns how many events that added.
func (x *exporting) bring() int {
	x.Helper()
	rep, err := importer.Import(x.Context(), x.store, []interop.Format{Format()}, []string{x.home}, interop.Options{})
	if err != nil || rep.Skipped != 0 {
		x.Fatalf("Import = %+v, %v, want no error", rep, err)
	}
	return rep.Events
}

// sync continues the session, and returns the lines that this adds to the file.
func (x *exporting) sync(evs ...skein.Event) (added []string, losses interop.Losses) {
	x.Helper()
	at := filepath.Join(x.home, filepath.FromSlash(threadAt))
	was, err := os.ReadFile(at)
	if err != nil {
		x.Fatal(err)
	}
	if _, err := skein.Add(x.Context(), x.store, threadOne, evs...); err != nil {
		x.Fatal(err)
	}
	done, err := writeback.Sync(x.Context(), x.store, Format(), threadOne)
	if err != nil {
		x.Fatalf("Sync = %v", err)
	}
	is, err := os.ReadFile(at)
	if err != nil {
		x.Fatal(err)
	}
	rest, ok := strings.CutPrefix(string(is), string(was))
	if !ok {
		x.Fatalf("Sync left\n%s\nwant\n%s\nand more", is, was)
	}
	if n := x.bring(); n != 0 {
		x.Errorf("Import after Sync adds %d events, want 0", n)
	}
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(rest, "\n"), "\n"), "\n"), done.Losses
}

func says(text string) skein.Event {
	return skein.Say(epoch+2000, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(text)}})
}

func TestACountedRolloutIsGoneOnWithAsItCounts(t *testing.T) {
	x := newExporting(t)
	x.lay(
		`{"timestamp":"2026-05-04T09:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"`+threadOne+`","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home/ada","originator":"codex-tui","cli_version":"0.169.0","source":"cli","history_mode":"paginated"}}`,
		`{"timestamp":"2026-05-04T09:00:01.000Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
		`{"timestamp":"2026-05-04T09:00:02.000Z","ordinal":7,"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}}`)
	call := skein.Call{ID: "c", Name: "shell", Input: []byte(`{"command":"ls"}`)}
	got, losses := x.sync(skein.Say(epoch, skein.UserSays("go on")),
		skein.Say(epoch+1000, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("I look."), {Kind: skein.PartCall, Call: &call}}}),
		skein.Say(epoch+2000, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: "a"}}}}))
	for i, want := range []string{
		`"ordinal":8,"type":"event_msg","payload":{"type":"task_started"`,
		`"ordinal":9,"type":"response_item","payload":{"type":"message","role":"user"`,
		`"ordinal":10,"type":"event_msg","payload":{"type":"item_completed","thread_id":"` + threadOne + `"`,
		`"ordinal":11,"type":"event_msg","payload":{"type":"item_completed"`,
		`"ordinal":12,"type":"response_item","payload":{"type":"message","role":"assistant"`,
		`"ordinal":13,"type":"response_item","payload":{"type":"function_call","name":"exec_command"`,
		`"type":"CommandExecution","id":"c","command":["/bin/sh","-lc","ls"],"cwd":"file:///home/ada"`,
		`"ordinal":15,"type":"response_item","payload":{"type":"function_call_output"`,
		`"ordinal":16,"type":"event_msg","payload":{"type":"task_complete"`,
	} {
		if len(got) <= i || !strings.Contains(got[i], want) {
			t.Errorf("line %d of %d is not one with %s:\n%s", i+1, len(got), want, strings.Join(got, "\n"))
		}
	}
	if len(losses) != 1 || losses[0].What != "call of shell: written as Codex' exec_command" {
		t.Errorf("losses = %+v, want what became of the call alone", losses)
	}
}

func TestABareRolloutIsGoneOnWithInBareItems(t *testing.T) {
	x := newExporting(t)
	x.lay(`{"id":"`+threadOne+`","timestamp":"2025-05-04T09:00:00.000Z","instructions":null}`, `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`, ``)
	got, _ := x.sync(says("Hello."))
	if want := []string{`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]}`}; !cmp.Equal(want, got) {
		t.Errorf("Sync adds %v, want %v", got, want)
	}
}

// turns is a rollout of two turns.
func turns() []string {
	return []string{
		wrap("session_meta", `{"id":"`+threadOne+`","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home/ada","originator":"codex-tui","cli_version":"0.130.0","source":"cli"}`),
		wrap("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}`),
		wrap("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"1"}]}`),
		wrap("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}`),
		wrap("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"2"}]}`), "",
	}
}

func TestGoingBackOverTurnsIsWritten(t *testing.T) {
	x := newExporting(t)
	x.lay(turns()...)
	got, losses := x.sync(skein.NewEvent(skein.KindRewound, epoch, skein.Rewound{To: 4}), skein.Say(epoch, skein.UserSays("other")))
	if len(losses) != 0 || !strings.Contains(got[0], `"payload":{"type":"thread_rolled_back","num_turns":1}}`) {
		t.Errorf("Sync adds %v and loses %+v, want that a turn is rolled back first", got, losses)
	}
	_, losses = x.sync(skein.NewEvent(skein.KindRewound, epoch, skein.Rewound{To: 3}), skein.Say(epoch, skein.UserSays("more")))
	if len(losses) != 1 || !strings.Contains(losses[0].What, "in the middle of a turn") {
		t.Errorf("losses = %+v, want that a turn cannot be rolled back in its middle", losses)
	}
}

func TestGoingBackToBeforeASummaryIsTold(t *testing.T) {
	x := newExporting(t)
	x.lay(turns()...)
	x.sync(skein.NewEvent(skein.KindCompacted, epoch, skein.Compacted{To: 6, Summary: "We counted."}))
	_, losses := x.sync(skein.NewEvent(skein.KindRewound, epoch, skein.Rewound{To: 4}), skein.Say(epoch, skein.UserSays("other")))
	if len(losses) == 0 || !strings.Contains(losses[0].What, "before a summary") {
		t.Errorf("losses = %+v, want that the summary stands", losses)
	}
}

func TestACompactionTellsWhatItDoesNotCover(t *testing.T) {
	x := newExporting(t)
	x.lay(turns()...)
	got, _ := x.sync(skein.NewEvent(skein.KindCompacted, epoch, skein.Compacted{To: 4, Summary: "We counted."}))
	const summary = `{"type":"message","role":"user","content":[{"type":"input_text","text":"<conversation_summary>\nWe counted.\n</conversation_summary>"}]}`
	want := `"type":"compacted","payload":{"message":"We counted.","replacement_history":[` + summary +
		`,{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"2"}]}]}}`
	if !strings.HasSuffix(got[0], want) {
		t.Errorf("Sync adds %s, want %s", got[0], want)
	}

	y := newExporting(t)
	y.begin("s", skein.Created{}, skein.Say(epoch, skein.UserSays("one")), says("1"), skein.Say(epoch, skein.UserSays("two")),
		skein.NewEvent(skein.KindCompacted, epoch, skein.Compacted{To: 3, Summary: "We counted."}), says("2"))
	y.export("s")
	if got, want := strings.Join(y.lines(y.done[0].Spot.Path, typeItem, typeCompact), "\n"), strings.Join([]string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"1"}]}`,
		`{"message":"We counted.","replacement_history":[` + summary + `]}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"2"}]}`,
	}, "\n"); got != want {
		t.Errorf("it is written\n%s\nwant the compaction where it begins to count:\n%s", got, want)
	}
}

func TestAThreadThatCodexHasOpenIsNotWrittenTo(t *testing.T) {
	x := newExporting(t)
	x.lay(turns()...)
	locks := filepath.Join(x.home, "thread-writer-locks")
	if err := os.Mkdir(locks, 0o700); err != nil {
		t.Fatal(err)
	}
	open := flock.New(filepath.Join(locks, threadOne+".lock"))
	if ok, err := open.TryLock(); err != nil || !ok {
		t.Fatalf("TryLock = %t, %v, want true", ok, err)
	}
	if _, err := skein.Add(t.Context(), x.store, threadOne, says("3")); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), x.store, Format(), threadOne); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Sync = %+v, %v, want ErrLocked", done, err)
	}
	if err := open.Unlock(); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), x.store, Format(), threadOne); err != nil || done.Events != 1 {
		t.Errorf("Sync = %+v, %v, want it written", done, err)
	}
	if _, err := os.Stat(open.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file is there still: %v", err)
	}
}
