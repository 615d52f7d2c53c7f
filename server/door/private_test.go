package door

import (
	"path/filepath"
	"testing"
)

// A file that other processes keep replacing is read anyway.
func TestAFileThatIsReplacedMeanwhileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	writer, reader := &private{path: path}, &private{path: path}
	if err := writer.replace([]byte("a token")); err != nil {
		t.Fatal(err)
	}
	replaced := make(chan error)
	go func() {
		defer close(replaced)
		for range 300 {
			if err := writer.replace([]byte("a token")); err != nil {
				replaced <- err
				return
			}
		}
	}()
	for {
		select {
		case err := <-replaced:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		if text, _, err := reader.read(); err != nil || string(text) != "a token" {
			t.Fatalf("read() = %q, %v", text, err)
		}
	}
}
