package ethos

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

func TestEthosIsRead(t *testing.T) {
	for name, want := range map[string]map[skein.SessionID]string{
		"first": {"6f0c2f0e-1d0b-4a37-8a55-0d8b7c7a1e01": "count the pears | terminal terminal | seven | Seven."},
		"june":  {"a0000000-0000-4000-8000-000000000001": "kept"},
		"newest": {
			"b0000000-0000-4000-8000-000000000001": "are the figs ripe? | I look. look | ripe, and says ===TOOL_RESULT_END=== | quick | They are ri | Model switched.",
			"b0000000-0000-4000-8000-000000000101": "a photo image/png",
		},
	} {
		t.Run("generation "+name, func(t *testing.T) {
			s := memory.New()
			defer s.Close()
			root, err := filepath.Abs(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			bring(t, s, root)
			for id, want := range want {
				if got := saidIn(t, s, id); got != want {
					t.Errorf("%s says\n%s\nwant\n%s", id, got, want)
				}
			}
		})
	}
	t.Run("columns by name, in any order", func(t *testing.T) {
		path, do := fig(t)
		do(`ALTER TABLE messages RENAME TO old`, `DROP TABLE messages_fts`,
			`CREATE TABLE messages (timestamp TEXT, content TEXT, role TEXT, mood TEXT, session_id TEXT, id TEXT PRIMARY KEY, tool_calls TEXT, tool_name TEXT, tool_call_id TEXT)`,
			`INSERT INTO messages (id, session_id, role, content, timestamp) SELECT id, session_id, role, content, timestamp FROM old`)
		s := memory.New()
		defer s.Close()
		bring(t, s, path)
		if got := saidIn(t, s, "s"); got != "one" {
			t.Errorf("it says %q, want one", got)
		}
	})
}

// saidIn returns the content of a session: the text, calls and files of each message.
func saidIn(t *testing.T, s skein.Store, id skein.SessionID) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		var words []string
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil:
				words = append(words, p.Call.Name)
			case p.Result != nil:
				words = append(words, string(p.Result.Text))
			case p.File != nil:
				words = append(words, p.File.Media)
			case p.Text != "":
				words = append(words, string(p.Text))
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, " | ")
}

func TestEthosIsWritten(t *testing.T) {
	t.Run("rows, usage columns and keys of the program", TestARichSessionBecomesTheRowsThatTheProgramWrites)
	t.Run("STRICT tables, triggers and FTS5 accept them", TestItsPhraseSearchFindsWhatIsWritten)
	t.Run("an old database", TestASessionIsWrittenToADatabaseOfAnOldVersion)
	t.Run("back to where it came from", TestWhatASessionWentOnWithIsWrittenBack)
}

func TestEthosBesides(t *testing.T) {
	t.Run("phrase search with its answers", TestItsPhraseSearchFindsWhatIsWritten)
	t.Run("newest N, list and prune", TestNewestNListAndPruneWorkOnWhatIsWritten)
	t.Run("key shapes and keys of /new", TestAKeyIsTheFolderSAndElseLikeThatOfNew)
	t.Run("a session keeps its key", TestWhatWasReadAndWentOnIsWrittenElsewhereWithItsKey)
	t.Run("keys of other surfaces come back", func(t *testing.T) {
		for _, key := range []string{"telegram:bot1:555:42", "cli:fig:1787220000000", "__legacy:telegram:1", "acp:fork:b0000000-0000-4000-8000-000000000001", "a%20b:default"} {
			path, do := fig(t)
			do(`UPDATE sessions SET key = '` + key + `'`)
			s := memory.New()
			defer s.Close()
			bring(t, s, path)
			if _, err := skein.Add(t.Context(), s, "s", say(3, skein.RoleUser, words("two"))); err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			export(t, s, "s", home)
			if got := rows(t, filepath.Join(home, fileName), `SELECT key FROM sessions`); got != key+"\n" {
				t.Errorf("the key %s is written %s", key, got)
			}
		}
	})
}
