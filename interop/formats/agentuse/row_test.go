package agentuse

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/memory"
)

func TestAgentUseIsRead(t *testing.T) {
	t.Run("all part types", TestPartsOfEveryType)
	t.Run("sessions of every generation", TestSessionsOfEveryGeneration)
	t.Run("a tree under a hash or global, nested sub-agents, snapshots, artifacts", func(t *testing.T) {
		for _, project := range []string{"00aa11bb22cc33dd", "global"} {
			from, err := filepath.Abs(filepath.Join("testdata", "one", "project", "00aa11bb22cc33dd"))
			if err != nil {
				t.Fatal(err)
			}
			home, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(home, "project", project), os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			s := memory.New()
			defer s.Close()
			if rep := bring(t, s, home); rep.Sessions != 2 || rep.Skipped != 0 || rep.Damaged != 1 {
				t.Errorf("Import from %s = %+v, want a session, its child, and the part that is torn", project, rep)
			}
			child, err := s.Session(t.Context(), "01KXAMPE000000000000000008")
			if err != nil || child.Parent == nil || child.Parent.Session != "01KXAMPE000000000000000001" {
				t.Errorf("the sub-agent's session is %+v, %v, want a child", child, err)
			}
		}
	})
}

func TestAgentUseIsWritten(t *testing.T) {
	t.Run("as the program would", TestASessionIsWrittenAsTheProgramWould)
	t.Run("children in their parents", TestAChildIsWrittenInItsParent)
	t.Run("results into the parts of their calls", TestAResultIsWrittenIntoThePartOfItsCall)
	t.Run("names, an indent of two and no line feed at the end", func(t *testing.T) {
		s := memory.New()
		defer s.Close()
		if _, err := s.Append(t.Context(), skein.Batch{Session: "top", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1e12, skein.Created{Agent: "A b", Cwd: "/home/ada"}), skein.Say(1e12, skein.UserSays("hi")),
			skein.Say(1e12+1, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("ho")}}),
		}}); err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		if _, err := writeback.Export(t.Context(), s, Format(), "top", home, writeback.Exports{NoSide: true}); err != nil {
			t.Fatal(err)
		}
		name := regexp.MustCompile(`^project/[0-9a-f]{16}/session/[0-9A-HJKMNP-TV-Z]{26}-a-b/(session\.json|[0-9A-HJKMNP-TV-Z]{26}/(message\.json|part/[0-9A-HJKMNP-TV-Z]{26}\.json))$`)
		files := 0
		err := filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			files++
			rel, err := filepath.Rel(home, path)
			if !name.MatchString(filepath.ToSlash(rel)) {
				t.Errorf("there is a file %s, want them called as the program does", rel)
			}
			data, readErr := os.ReadFile(path)
			if text := string(data); !strings.HasPrefix(text, "{\n  \"") || !strings.HasSuffix(text, "\n}") {
				t.Errorf("%s is\n%s\nwant it indented by two, without a line feed at the end", rel, text)
			}
			return errors.Join(err, readErr)
		})
		if err != nil || files != 3 {
			t.Errorf("there are %d files, %v, want 3", files, err)
		}
	})
}

func TestAgentUseBesides(t *testing.T) {
	t.Run("agent names", TestSanitise)
	t.Run("project hash", func(t *testing.T) {
		for _, root := range []string{"/home/user/projects/my-app", "/", "/é b"} {
			sum := sha256.Sum256([]byte(root))
			if got, want := hash(root), hex.EncodeToString(sum[:])[:16]; got != want {
				t.Errorf("hash(%s) = %s, want the first 16 digits of its SHA-256, %s", root, got, want)
			}
		}
	})
	t.Run("the project and the agent that a session is written to", TestASessionThatWentOnKeepsItsAgentElsewhere)
	t.Run("resolved by the beginning of its ID, in any case", func(t *testing.T) {
		tr := newTree(t)
		tr.begin(`{"id":"` + ann + `","agent":{"id":"agents/x","name":"helper"},"time":{"created":1}}`)
		tr.bring()
		for _, name := range []string{ann, ann[:12], strings.ToLower(ann[:25])} {
			if s, err := lookup.Resolve(t.Context(), tr.store, name, skein.Filter{}); err != nil || s.ID != ann {
				t.Errorf("Resolve(%s) = %s, %v, want %s", name, s.ID, err, ann)
			}
		}
	})
}
