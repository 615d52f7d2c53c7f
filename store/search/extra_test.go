package search_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

func TestExtra(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"Plain prose of some Words, a/b.go and snake_case, 3 times: HTTP, URLs and IDs.", ""},
		{"call parseConfigFile(x) and parseConfigFile again", "parse Config File"},
		{"HTTPServer2Config getURLForID x2Y", "HTTP Server2 Config get URL For ID"},
		{"src/main/FooBar.java", "Foo Bar"},
		{"東京都", "東京 京都 都"},
		{"東、京都", "東 京都 都"},
		{"会", "会"},
		{"use React組件now", "React 組件 件 now"},
		{"안녕하세요 세계", "안녕 녕하 하세 세요 요 세계 계"},
		{"カタカナ・テスト", "カタ タカ カナ ナ テス スト ト"},
		{"naïve café, здравствуй, don’t", ""},
		{"naïveBayes", "naïve Bayes"},
		{strings.Repeat("aB", 40), ""},
	} {
		if got := search.Extra(c.in); got != c.want {
			t.Errorf("Extra(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestExtraLeavesDataOut(t *testing.T) {
	var raw []byte
	for i := range 1000 {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		raw = append(raw, sum[:]...)
	}
	for name, data := range map[string]string{
		"base64": base64.StdEncoding.EncodeToString(raw), "hexadecimal": hex.EncodeToString(raw),
		"lines of base64": wrap(base64.RawURLEncoding.EncodeToString(raw), 76),
	} {
		if got := search.Extra(data); len(got) > len(data)/20 {
			t.Errorf("Extra(%d bytes of %s) has %d bytes, want at most a twentieth: %.100q", len(data), name, len(got), got)
		}
	}
}

// wrap breaks s into lines of n bytes.
func wrap(s string, n int) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String() + s
}

func TestTermPhrases(t *testing.T) {
	p := func(words ...string) search.Phrase { return search.Phrase{Words: words} }
	prefix := func(words ...string) search.Phrase { return search.Phrase{Words: words, Prefix: true} }
	type ways = [][]search.Phrase
	for _, c := range []struct {
		term skein.Term
		want ways
	}{
		{skein.Term{}, nil},
		{word("Café"), ways{{p("cafe")}}},
		{skein.Term{Words: []string{"a", "B"}, Prefix: true}, ways{{prefix("a", "b")}}},
		{word("parseConfig"), ways{{p("parseconfig")}, {p("parse", "config")}}},
		{skein.Term{Words: []string{"parseConf"}, Prefix: true}, ways{{prefix("parseconf")}, {prefix("parse", "conf")}}},
		{word("東京都"), ways{{p("東京都")}, {p("東京", "京都")}}},
		{word("京"), ways{{p("京")}, {prefix("京")}}},
		{word("東京", "大阪"), ways{{p("東京", "大阪")}, {p("東京", "京", "大阪")}}},
		{word("React組件"), ways{{p("react組件")}, {p("react", "組件")}}},
		{word("組件now"), ways{{p("組件now")}, {p("組件", "件", "now")}}},
		{skein.Term{Words: []string{"組件", "foo"}, Prefix: true}, ways{{prefix("組件", "foo")}, {p("組件"), prefix("foo")}}},
		{skein.Term{Words: []string{"foo", "組件"}, Prefix: true}, ways{{prefix("foo", "組件")}, {p("foo"), p("組件")}}},
		{word("use", "組件", "fooBar"), ways{{p("use", "組件", "foobar")}, {p("use"), p("組件"), p("foobar")}}},
	} {
		if diff := cmp.Diff(c.want, search.Phrases(c.term)); diff != "" {
			t.Errorf("%+v.Phrases() (-want +got):\n%s", c.term, diff)
		}
	}
}

func TestQueryMatchesText(t *testing.T) {
	const text = "The parser (parseConfigFile in src/main_test.go) reads it.\nNaïve CAFÉ; 東京都に行く。React組件 works: 50%."
	for query, want := range map[string]bool{
		"parser reads": true, "PARSER": true, "parse": true, "config": true, "confi": false, "confi*": true,
		"parseConfig": true, "parse_config": true, "parseFile": false, "configfile": false, "parseconfigfile": true,
		`"reads it"`: true, `"it reads"`: false, `"reads it naive"`: true, "main_test.go": true, "src/main": true,
		"cafe": true, "naïve": true, "東京": true, "京都に": true, "京": true, "都": true, "東都": false,
		"react": true, "組件": true, "React組件": true, `"react組件 works"`: true, "件": true,
		"parser -reads": false, "parser -missing": true, "missing": false, "50": true, "5": false,
		"-config parser": false,
	} {
		q, err := search.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		m, err := search.NewMatcher(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.MatchesText(text); got != want {
			t.Errorf("%s in the text: %v, want %v", query, got, want)
		}
	}
}

const prose = "The queue drains in the order in which it was filled, so the reader sees what the writer meant. " +
	"When two of them meet, the later one waits; it takes about 30 ms on a slow disk, says the note in docs/queue.md.\n"

func BenchmarkExtra(b *testing.B) {
	for name, text := range map[string]string{
		"prose":      strings.Repeat(prose, 100),
		"code":       strings.Repeat("func (s *fileStore) readConfig(ctx context.Context, pathName string) (*ServerConfig, error) {\n", 200),
		"chinese":    strings.Repeat("数据库的每一行都有一个编号,它永远不会改变。", 300),
		"russian":    strings.Repeat("Очередь освобождается в том же порядке, в котором она заполнялась. ", 200),
		"typography": strings.Repeat("“It’s the reader’s turn — isn’t it?” ", 400),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				search.Extra(text)
			}
		})
	}
}
