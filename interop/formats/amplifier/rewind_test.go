package amplifier_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestWhatIsRewoundIsNotSavedAgain(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	f.save(user(1, "one"), `{"role": "assistant", "content": "two"}`, user(3, "three"), `{"role": "assistant", "content": "four"}`)
	bring(t, s, f.path)
	three := seqOf(t, s, "three")
	if _, err := skein.Add(t.Context(), s, liveID, skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: three - 1}), skein.Say(1_790_000_000_000, skein.UserSays("drei"))); err != nil {
		t.Fatal(err)
	}
	was := f.read("transcript.jsonl")
	done, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID)
	if err != nil || len(done.Losses) != 0 {
		t.Fatalf("Sync = %+v, %v, want all of it written", done, err)
	}
	lines := strings.SplitAfter(was, "\n")
	want := lines[0] + lines[1] + `{"role": "user", "content": "drei", "metadata": {"timestamp": "2026-09-21T14:13:20.000+00:00"}}` + "\n"
	if got := f.read("transcript.jsonl"); got != want {
		t.Errorf("the transcript is\n%swant\n%s", got, want)
	}
	if got := f.read("transcript.jsonl.backup"); got != was {
		t.Errorf("its backup is\n%swant the transcript as it was\n%s", got, was)
	}
	if got := f.read("metadata.json"); !strings.Contains(got, `"turn_count": 2`) {
		t.Errorf("its metadata is %s, want 2 turns", got)
	}
}

func seqOf(t *testing.T, s *memory.Store, text string) skein.Seq {
	t.Helper()
	for e, err := range s.Events(t.Context(), liveID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, err := skein.Decode[skein.Message](e); e.Kind == skein.KindSaid && err == nil && m.Words() == text {
			return e.Seq
		}
	}
	t.Fatalf("nobody said %q", text)
	return 0
}

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{
		Format: amplifier.Format(), Session: liveID, From: 17, Seeds: 8,
		Lay: func(t testing.TB) string {
			f := newFolder(t.(*testing.T))
			f.save(user(1, "one"), `{"role": "assistant", "content": "two"}`)
			return f.path
		},
		Check: func(t testing.TB, at string) {
			for line := range strings.Lines(readFile(t.(*testing.T), at, "transcript.jsonl")) {
				if !json.Valid([]byte(line)) {
					t.Errorf("the transcript has the line %s", line)
				}
			}
		},
	}.Run(t)
}
