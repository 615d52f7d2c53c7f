package amplifier_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestAmplifierIsRead(t *testing.T) {
	for _, name := range []string{"plain", "generations", "forks", "agents"} {
		t.Run(name+": as many messages as its transcripts have lines", func(t *testing.T) {
			root, err := filepath.Abs(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			s := memory.New()
			defer s.Close()
			bring(t, s, root)
			for id, want := range transcripts(t, root) {
				sess, err := s.Session(t.Context(), skein.SessionID(id))
				if err != nil {
					t.Errorf("Session(%s) = %v", id, err)
				} else if got := messages(t, s, sess.ID); got != want {
					t.Errorf("%s has %d messages, its transcript %d lines", id, got, want)
				}
			}
		})
	}
	t.Run("the metadata's backup, and the transcript's", TestADamagedFolderIsReadFromItsBackups)
	t.Run("every event that there is", TestEveryEventOfItsLogIsKept)
}

// transcripts returns how many lines of messages the transcripts below root
// have, by the folder of each.
func transcripts(t *testing.T, root string) map[string]int {
	t.Helper()
	all := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "transcript.jsonl" || strings.Contains(path, ".deleted") {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range bytes.Lines(data) {
			var m struct{ Role string }
			if json.Unmarshal(bytes.ReplaceAll(line, []byte("NaN"), []byte("0")), &m) == nil && m.Role != "" {
				all[filepath.Base(filepath.Dir(path))]++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// messages returns how many messages a session shows, its parent's too.
func messages(t *testing.T, s *memory.Store, id skein.SessionID) (n int) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == skein.KindSaid {
			n++
		}
	}
	return n
}

func TestADamagedFolderIsReadFromItsBackups(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	f.save(user(1, "one"), user(2, "two"))
	f.lay(map[string]string{"transcript.jsonl": `{"role": "us`, "metadata.json": `{"role": "us`})
	bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one" || session(t, s, liveID).Cwd != "/home/ann/shop" {
		t.Errorf("it says %q in %q, want what its backups say", got, session(t, s, liveID).Cwd)
	}
}

// events are the names that the program's core has.
const events = `session:start session:end session:fork session:resume prompt:submit prompt:complete plan:start plan:end
	provider:request provider:response provider:retry provider:error provider:throttle provider:tool_sequence_repaired provider:resolve
	llm:request llm:response content_block:start content_block:delta content_block:end thinking:delta thinking:final
	tool:pre tool:post tool:error context:pre_compact context:post_compact context:compaction context:include
	orchestrator:complete execution:start execution:end user:notification artifact:write artifact:read policy:violation
	approval:required approval:granted approval:denied cancel:requested cancel:completed module:on_session_ready_failed
	session:config session-naming:set skills:loaded llm:stream_delta never:heard_of`

func TestEveryEventOfItsLogIsKept(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	names := strings.Fields(events)
	for i, name := range names {
		f.logs(logLine(i, name, fmt.Sprintf(`{"tool_call_id": "c", "n": %d}`, i)))
	}
	if rep := bring(t, s, f.path); rep.Damaged != 0 {
		t.Errorf("Import = %+v, want no damage", rep)
	}
	kinds := map[skein.Kind]int{}
	noted := map[string]bool{}
	for e, err := range s.Events(t.Context(), liveID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds[e.Kind]++
		if n, err := skein.Decode[skein.Noted](e); e.Kind == skein.KindNoted && err == nil {
			noted[n.Name] = true
		}
	}
	if kinds[skein.KindTool] != 3 || kinds[skein.KindStep] != 1 || kinds[skein.KindResumed] != 1 || kinds[skein.KindEnded] != 1 {
		t.Errorf("the log makes %v, want 3 tool events, a step, resumed and ended", kinds)
	}
	for _, name := range names {
		switch name {
		case "tool:pre", "tool:post", "tool:error", "llm:response", "session:resume", "session:end":
		default:
			if !noted["amplifier:"+name] {
				t.Errorf("event %s is not noted: %v", name, noted)
			}
		}
	}
}

func TestAmplifierIsWritten(t *testing.T) {
	t.Run("a transcript as Python spells", TestAFileIsSpelledAsPythonSpells)
	t.Run("with backups and by renaming, where it is written back", TestWhatWentOnHereIsWrittenBack)
	t.Run("sub-agents beside their parent", TestSubAgentsLieBesideTheirParent)
	t.Run("modes, the folder's time, and events that Amplifier knows", func(t *testing.T) {
		said := skein.Time(1_788_000_123_456)
		s := store(t, map[skein.SessionID][]skein.Event{first: {
			created(skein.Created{}), skein.Say(said-9, skein.UserSays("go")), skein.Say(said-5, calls("a")), skein.Say(said-2, answers("a")),
			skein.Say(said, skein.Message{Role: skein.RoleAssistant, Provider: "p", Model: "m", Usage: &skein.Usage{Input: 1}, Parts: []skein.Part{skein.TextPart("done")}}),
		}}, first)
		home, done := export(t, s, first)
		dir := filepath.Join(home, filepath.FromSlash(done[0].Spot.Path))
		if info, err := os.Stat(dir); err != nil || info.ModTime().UnixMilli() != int64(said) {
			t.Errorf("the folder's time is %v, %v, want that of the last word", info.ModTime().UTC(), err)
		}
		for _, name := range []string{"transcript.jsonl", "metadata.json", "events.jsonl"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
				t.Errorf("%s is %v, %v, want it 0600", name, info, err)
			}
		}
		for line := range strings.Lines(readFile(t, dir, "events.jsonl")) {
			var in struct {
				TS, Lvl, Event string
				Session        string `json:"session_id"`
				Schema         struct{ Name, Ver string }
			}
			if err := json.Unmarshal([]byte(line), &in); err != nil || in.Schema.Name != "amplifier.log" || in.Schema.Ver != "1.0.0" || in.Session != done[0].Spot.ID ||
				in.TS == "" || in.Lvl == "" || !strings.Contains(" "+strings.Join(strings.Fields(events), " ")+" ", " "+in.Event+" ") {
				t.Errorf("the log has %s, want the envelope of an event that Amplifier knows", line)
			}
		}
	})
}

func TestAmplifierBesides(t *testing.T) {
	t.Run("slug", TestSlugIsTheFoldersName)
	t.Run("synthetic results behind the real ones", TestAForkHasSyntheticResultsBehindTheRealOnes)
	t.Run("turns as it counts and as a person would", func(t *testing.T) {
		f, s := newFolder(t), memory.New()
		defer s.Close()
		hook := strings.Replace(user(2, "<system-reminder>\nNo todos.\n</system-reminder>"), `"timestamp"`, `"source": "hook", "timestamp"`, 1)
		f.save(user(1, "one"), hook, user(3, "two"))
		bring(t, s, f.path)
		if got := session(t, s, liveID).Turns; got != 2 {
			t.Errorf("it has %d turns, want the 2 that a person typed", got)
		}
		if _, err := skein.Add(t.Context(), s, liveID, skein.Say(1_790_000_000_000, skein.UserSays("three"))); err != nil {
			t.Fatal(err)
		}
		if _, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID); err != nil {
			t.Fatal(err)
		}
		if got := f.read("metadata.json"); !strings.Contains(got, `"turn_count": 4`) {
			t.Errorf("its metadata is %s, want the 4 turns that Amplifier counts", got)
		}
		fork := skein.SessionID("a1000000-0000-4000-8000-000000000001")
		last := session(t, s, liveID).Last
		if _, err := s.Append(t.Context(), skein.Batch{Session: fork, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1_790_000_000_000, skein.Created{Parent: &skein.Parent{Session: liveID, Seq: last, Why: skein.Fork}}),
			skein.Say(1_790_000_000_001, skein.UserSays("another")),
		}}); err != nil {
			t.Fatal(err)
		}
		home := strings.TrimSuffix(f.path, filepath.FromSlash("/projects/-home-ann-shop/sessions/"+liveID))
		done, err := writeback.Export(t.Context(), s, amplifier.Format(), fork, home, writeback.Exports{})
		if err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, home, done[0].Spot.Path, "metadata.json"); !strings.Contains(got, `"forked_from_turn": 4`) || !strings.Contains(got, `"parent_id": "`+liveID+`"`) || !strings.Contains(got, `"turn_count": 5`) {
			t.Errorf("the fork's metadata is %s, want it forked from turn 4, and 5 turns", got)
		}
	})
	t.Run("a session in which nothing was said", TestASessionWithoutWordsIsAFolderWithoutLines)
}
