package adkgo_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/skein-dev/skein/integrations/adkgo"
	"github.com/skein-dev/skein/store/sqlite"
)

// Example runs an ADK agent twice on one file: the second run finds the session
// of the first.
func Example() {
	dir, err := os.MkdirTemp("", "adkgo")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		if err := ask(context.Background(), filepath.Join(dir, "sessions.db"), "Are you open?"); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// clerk: Yes. 1 event came before.
	// clerk: Yes. 3 events came before.
}

// ask has the clerk of the shop answer once, in the session of ada.
func ask(ctx context.Context, file, question string) error {
	clerk, err := agent.New(agent.Config{Name: "clerk", Run: answer})
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	shop, err := runner.New(runner.Config{
		AppName:           "shop",
		Agent:             clerk,
		SessionService:    adkgo.New(store),
		AutoCreateSession: true,
	})
	if err != nil {
		return err
	}
	for event, err := range shop.Run(ctx, "ada", "s1", genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", event.Author, event.Content.Parts[0].Text)
	}
	return nil
}

// answer says how many events the session has.
func answer(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		n, s := ctx.Session().Events().Len(), "s"
		if n == 1 {
			s = ""
		}
		event := session.NewEvent(ctx, ctx.InvocationID())
		event.Author = "clerk"
		event.LLMResponse = model.LLMResponse{Content: genai.NewContentFromText(fmt.Sprintf("Yes. %d event%s came before.", n, s), genai.RoleModel)}
		yield(event, nil)
	}
}

// The code in the README is that of the example, which is run.
func TestTheReadmesExampleIsTheOneThatIsRun(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```go\n")
	block, _, found := strings.Cut(block, "```")
	if !found || block == "" {
		t.Fatal("README.md has no Go example")
	}
	indented := "\t" + strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", "\n\t")
	if !strings.Contains(string(example), indented) {
		t.Errorf("README.md shows what example_test.go does not run:\n%s", block)
	}
}
