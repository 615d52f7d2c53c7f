package render

import (
	"html"
	"regexp"
	"testing"
)

func TestColour(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"go", `if x := f("a\"b"); x > 1.5 { // why`, `<span class="k">if</span> x := <span class="f">f</span>(<span class="s">&#34;a\&#34;b&#34;</span>); x &gt; <span class="m">1.5</span> { <span class="c">// why</span>`},
		{"TS", "`a\nb` /* c\nd */ x2", "<span class=\"s\">`a\nb`</span> <span class=\"c\">/* c\nd */</span> x2"},
		{"py", "'''a\n'b'''\n# c\nx = 'open\ny", "<span class=\"s\">&#39;&#39;&#39;a\n&#39;b&#39;&#39;&#39;</span>\n<span class=\"c\"># c</span>\nx = <span class=\"s\">&#39;open</span>\ny"},
		{"sh", "echo $# # n", `echo $# <span class="c"># n</span>`},
		{"sql", "SELECT a -- b", `<span class="k">SELECT</span> a <span class="c">-- b</span>`},
		{"diff", "@@ 1\n-a\n+b\n c", "<span class=\"c\">@@ 1\n</span><span class=\"d\">-a\n</span><span class=\"i\">+b\n</span> c"},
		{"unknown", "if <b>", "if &lt;b&gt;"},
		{"", "if", "if"},
		{"json", `{"a": true, "b\`, `{<span class="s">&#34;a&#34;</span>: <span class="k">true</span>, <span class="s">&#34;b\</span>`},
		{"c", "/* open", `<span class="c">/* open</span>`},
	} {
		if got := colour(c.language, c.code); got != c.want {
			t.Errorf("colour(%q, %q) =\n%s, want\n%s", c.language, c.code, got, c.want)
		}
	}
}

var tag = regexp.MustCompile(`</?span[^>]*>`)

// Coloring changes no character.
func FuzzColour(f *testing.F) {
	for _, s := range []string{"if a", "'", "\"\\", "/*", "//x", "1.2.3", "東京(", "\xff\x00", "```", "+a\n-b"} {
		for _, language := range []string{"go", "py", "sh", "sql", "json", "diff", ""} {
			f.Add(language, s)
		}
	}
	f.Fuzz(func(t *testing.T, language, code string) {
		if got := html.UnescapeString(tag.ReplaceAllString(colour(language, code), "")); got != html.UnescapeString(html.EscapeString(code)) {
			t.Errorf("colour(%q, %q) shows %q", language, code, got)
		}
	})
}
