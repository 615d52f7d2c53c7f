package leaks

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/skein-dev/skein/redact"
)

func detector(t testing.TB) *detect.Detector {
	t.Helper()
	zerolog.SetGlobalLevel(zerolog.Disabled)
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A sample is a text in which one of gitleaks' rules finds a secret.
type sample struct{ rule, text, secret string }

// samples generates n texts for each rule. A rule may not match the text of its
// own expression: it requires a minimum entropy, or excludes a word.
func samples(t testing.TB, n int) (all []sample) {
	t.Helper()
	d := detector(t)
	for _, id := range slices.Sorted(maps.Keys(d.Config.Rules)) {
		rule := d.Config.Rules[id]
		if rule.Regex == nil || rule.Path != nil {
			continue
		}
		re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		s := sampler{rand.New(rand.NewPCG(1, uint64(len(id))))}
		for tries, got := 0, 0; tries < 40*n && got < n; tries++ {
			text := s.of(re)
			if given, ok := named(re); ok {
				text = s.assigned(rule.Keywords[s.IntN(len(rule.Keywords))], s.of(given))
			}
			text = "# settings\n" + text + "\nend of it\n"
			for _, f := range d.DetectString(text) {
				if f.RuleID == id && f.Secret != "" {
					all = append(all, sample{id, text, f.Secret})
					got++
					break
				}
			}
		}
	}
	return all
}

// hides reports whether r leaves nothing of value of the secret.
func hides(r *redact.Redactor, text, secret string) bool {
	return !strings.Contains(r.Text(text), secret)
}

// Most of what gitleaks finds is hidden by redact.
func TestRecall(t *testing.T) {
	r := redact.New()
	all, hidden := map[string]int{}, map[string]int{}
	found, total := 0, 0
	for _, s := range samples(t, 10) {
		all[s.rule]++
		total++
		if hides(r, s.text, s.secret) {
			hidden[s.rule]++
			found++
		} else if testing.Verbose() && all[s.rule]-hidden[s.rule] == 1 {
			t.Logf("not hidden: %s %q in %.120q", s.rule, s.secret, s.text)
		}
	}
	whole := 0
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if hidden[id] == all[id] {
			whole++
			continue
		}
		t.Logf("%-40s %d of %d", id, hidden[id], all[id])
	}
	t.Logf("recall: %d of %d samples (%.1f %%); %d of %d rules whole", found, total, 100*float64(found)/float64(total), whole, len(all))
	if found*100 < total*85 {
		t.Errorf("redact hides %d of %d secrets that gitleaks finds, want 85 %%", found, total)
	}
}

// composed returns text without a secret that has everything that looks like
// one: IDs, hashes, versions, paths, code that handles secrets, forms, settings
// without values.
func composed() string {
	rnd := rand.New(rand.NewPCG(2, 2))
	hex := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789abcdef"[rnd.IntN(16)]
		}
		return string(b)
	}
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "commit %s\nblob sha256:%s\n", hex(40), hex(64))
		fmt.Fprintf(&b, `{"session_id":"%s-%s-7%s-8%s-%s","tool_use_id":"toolu_%s","input_tokens":%d,"next_token":""}`+"\n", hex(8), hex(4), hex(3), hex(3), hex(12), hex(24), rnd.IntN(1e6))
		fmt.Fprintf(&b, "func (t *Token) Value%d() string { return t.secret.Reveal() }\n\ttoken := lexer.Next(src, pos)\n\tpassword = input('Password: ')\n", i)
		fmt.Fprintf(&b, "API_KEY=${API_KEY}\nDB_PASSWORD=<your password>\nSECRET_NAME=web-tls-%d\n", i)
		fmt.Fprintf(&b, "GET https://example.com/a/b?page_token=&key=value HTTP/1.1\nAuthorization: Bearer <token>\nETag: \"%s\"\n", hex(32))
		fmt.Fprintf(&b, "integrity sha512-%s==\n/usr/lib/secret-tool/keys/%d.pem: No such file or directory\n", strings.Repeat(hex(8), 10), i)
		fmt.Fprintf(&b, "<input type=\"password\" name=\"password\" autocomplete=\"current-password\">\n")
	}
	return b.String()
}

// goSource returns some MB of the standard library.
func goSource(t testing.TB) (files []string) {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output() // a binary that was built with -trimpath does not know it
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	size := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || size > 8<<20 {
			return err
		}
		b, err := os.ReadFile(path)
		size += len(b)
		files = append(files, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Text that is not a secret is rarely taken for one.
func TestPrecision(t *testing.T) {
	r, d := redact.New(), detector(t)
	text := composed()
	ours, theirs := r.Find(text), d.DetectString(text)
	t.Logf("composed text without secrets, %d KB: redact finds %d, gitleaks %d", len(text)>>10, len(ours), len(theirs))
	for _, f := range ours[:min(len(ours), 5)] {
		t.Logf("  %s %q", f.Kind, text[f.Start:f.End])
	}
	if len(ours) > 10 {
		t.Errorf("redact finds %d secrets where there are none", len(ours))
	}
	bytes, mine, others := 0, 0, 0
	for _, s := range goSource(t) {
		found := r.Find(s)
		bytes += len(s)
		mine += len(found)
		others += len(d.DetectString(s))
		if testing.Verbose() {
			for _, f := range found {
				t.Logf("  %s %.80q", f.Kind, s[max(0, f.Start-20):f.End])
			}
		}
	}
	t.Logf("the standard library, %.1f MB: redact finds %d, gitleaks %d", float64(bytes)/1e6, mine, others)
}

// transcript returns a text of lines as agents write them, 1 MB in all.
func transcript() string {
	var b strings.Builder
	src := composed()
	for i := 0; b.Len() < 1<<20; i++ {
		at := (i * 997) % (len(src) - 2000)
		line, _ := json.Marshal(map[string]any{"type": "assistant", "uuid": i, "message": map[string]any{"role": "assistant", "content": src[at : at+2000]}})
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

func BenchmarkRedact(b *testing.B) {
	r, s := redact.New(), transcript()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.Text(s)
	}
}

func BenchmarkGitleaks(b *testing.B) {
	d, s := detector(b), transcript()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		d.DetectString(s)
	}
}

// BenchmarkParse measures parsing the same text as JSON.
func BenchmarkParse(b *testing.B) {
	lines := strings.Split(strings.TrimSpace(transcript()), "\n")
	b.SetBytes(1 << 20)
	for b.Loop() {
		for _, l := range lines {
			var v any
			if err := json.Unmarshal([]byte(l), &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
