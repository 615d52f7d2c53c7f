package render

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// passes has the elements that goldmark and colour output, each with its
// allowed attributes and their allowed values. An element with nil attributes
// may occur without any; another is let through only with one of its
// attributes, except those in plain.
var passes = map[string]map[string]func(string) bool{
	"p": nil, "br": nil, "hr": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil,
	"ul": nil, "li": nil, "blockquote": nil, "code": nil, "strong": nil, "del": nil,
	"table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"ol":    {"start": isStart},
	"pre":   {"tabindex": func(s string) bool { return s == "0" }}, // it scrolls, also with the keyboard
	"th":    {"align": isAlign},
	"td":    {"align": isAlign},
	"em":    {"class": func(s string) bool { return s == "image" }},
	"span":  {"class": func(s string) bool { return len(s) == 1 && strings.Contains("csmkfid", s) }},
	"input": {"type": func(s string) bool { return s == "checkbox" }, "checked": isEmpty, "disabled": isEmpty},
	"a":     {"href": isAddress},
}

// plain has the elements that are also allowed without an attribute.
var plain = []string{"ol", "pre", "th", "td", "em"}

func isEmpty(s string) bool { return s == "" }

func isAlign(s string) bool { return s == "left" || s == "right" || s == "center" }

func isStart(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == ""
}

// isAddress reports whether s is an address that a reader may follow: not one
// that runs something, nor a relative one.
func isAddress(s string) bool {
	if strings.ContainsAny(s, " \t\n") {
		return false
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	return u.Scheme == "mailto" || u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// sieve returns the markup allowed by [passes], and everything else as text. It
// does not trust the source of the markup: what is let through is rewritten.
func sieve(markup string) string {
	var b strings.Builder
	open := map[string]int{} // open elements that were let through
	for z := html.NewTokenizer(strings.NewReader(markup)); z.Next() != html.ErrorToken; {
		switch t := z.Token(); t.Type {
		case html.TextToken:
			b.WriteString(t.String())
		case html.StartTagToken, html.SelfClosingTagToken:
			if sift(&t) {
				b.WriteString(t.String())
				open[t.Data]++
			}
		case html.EndTagToken:
			if open[t.Data] > 0 {
				b.WriteString(t.String())
				open[t.Data]--
			}
		}
	}
	return b.String()
}

// sift removes forbidden attributes from a tag, and reports whether it is
// allowed.
func sift(t *html.Token) bool {
	may, ok := passes[t.Data]
	if !ok {
		return false
	}
	t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool {
		fits := may[a.Key]
		return a.Namespace != "" || fits == nil || !fits(a.Val)
	})
	if t.Data == "a" && len(t.Attr) > 0 {
		to, _ := url.Parse(t.Attr[0].Val) // isAddress has accepted it
		t.Attr = []html.Attribute{{Key: "href", Val: to.String()}, {Key: "rel", Val: "nofollow noreferrer"}}
	}
	return may == nil || len(t.Attr) > 0 || slices.Contains(plain, t.Data)
}
