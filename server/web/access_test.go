package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/skein-dev/skein"
)

// TestPagesCanBeHeardAndUsedByKeyboard walks all pages as the browser describes
// them to a screen reader, in light and dark: controls and landmarks have
// names, headings are in order, text is legible, and the focus is visible.
func TestPagesCanBeHeardAndUsedByKeyboard(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	store := p.store
	id := string(everything(t, store))
	long(t, store, "s-long", 300)
	if err := skein.LifecycleOf(store).Bin(t.Context(), "s-fork"); err != nil {
		t.Fatal(err)
	}
	b := v.quietly()
	for _, path := range []string{
		"/", "/?agent=reviewer&children=1", "/search", "/search?q=brown", "/search?q=xylophone", "/search?q=role:nobody",
		"/sessions/" + id, "/sessions/" + id + "?raw=1", "/sessions/" + id + "?find=brown", "/sessions/s-long?at=150", "/sessions/" + id + "/messages/2",
		"/sessions/" + id + "/tree", "/sessions/" + id + "/replay", "/sessions/" + id + "/chat", "/chat",
		"/usage?since=", "/bin", "/health", "/health?look=1", "/login", "/sessions/none", "/none",
	} {
		b.open(path)
		b.eval(`document.querySelectorAll("main details").forEach((d) => { d.open = true })`)
		for _, wrong := range heard(b.tree()) {
			t.Errorf("%s: %s", path, wrong)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.size(1024, scheme)
			b.press(kb.Tab) // the focus is shown to people who use the keyboard
			for _, check := range []string{pale, unfocused, twice} {
				for _, wrong := range b.eval(check).([]any) {
					t.Errorf("%s, %s: %v", path, scheme, wrong)
				}
			}
		}
	}
}

// A heardNode is a node that a screen reader announces.
type heardNode struct {
	role, name string
	level      int
}

// tree returns the nodes that a screen reader announces, in order.
func (b *tab) tree() (all []heardNode) {
	b.t.Helper()
	found, err := chromedp.Call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	byID := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range found.Nodes {
		byID[n.NodeID] = n
	}
	var walk func(n *accessibility.Node)
	walk = func(n *accessibility.Node) {
		if !n.Ignored {
			h := heardNode{role: spoken(n.Role), name: strings.TrimSpace(spoken(n.Name))}
			for _, p := range n.Properties {
				if p.Name == accessibility.PropertyNameLevel {
					fmt.Sscan(string(p.Value.Value), &h.level) //nolint:errcheck // 0 is reported
				}
			}
			all = append(all, h)
		}
		for _, c := range n.ChildIDs {
			if byID[c] != nil {
				walk(byID[c])
			}
		}
	}
	walk(found.Nodes[0])
	return all
}

func spoken(v *accessibility.Value) (s string) {
	if v != nil {
		json.Unmarshal(v.Value, &s) //nolint:errcheck // "" is reported
	}
	return s
}

// heard returns what is wrong with the nodes.
func heard(all []heardNode) (wrong []string) {
	controls := []string{"button", "link", "textbox", "searchbox", "checkbox", "combobox", "slider", "DisclosureTriangle", "listbox", "image", "dialog", "figure", "group", "region", "navigation", "search", "toolbar", "article"}
	landmarks := map[string]int{}
	level := 0
	for _, n := range all {
		if slices.Contains(controls, n.role) && n.name == "" && n.role != "figure" && n.role != "group" {
			wrong = append(wrong, fmt.Sprintf("a %s has no name", n.role))
		}
		switch n.role {
		case "main", "banner", "navigation", "search", "region", "toolbar":
			landmarks[n.role+" "+n.name]++
		case "heading":
			if level == 0 && n.level != 1 || n.level > level+1 {
				wrong = append(wrong, fmt.Sprintf("the heading %q has level %d behind one of %d", n.name, n.level, level))
			}
			level = n.level
		}
	}
	for what, n := range landmarks {
		if n > 1 {
			wrong = append(wrong, fmt.Sprintf("%d landmarks are all %q", n, what))
		}
	}
	for _, one := range []string{"main ", "banner "} {
		if landmarks[one] != 1 {
			wrong = append(wrong, fmt.Sprintf("%d landmarks are %s, want 1: %v", landmarks[one], one, landmarks))
		}
	}
	if title := all[0].name; title == "" {
		wrong = append(wrong, "the page has no title")
	}
	return wrong
}

// pale lists texts whose contrast with the background is less than 4.5 to 1 or,
// if they are large, 3 to 1 (WCAG 2.2, 1.4.3).
const pale = `(() => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgba = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { if (!e) return rgba(getComputedStyle(document.documentElement).backgroundColor)[3] ? rgba(getComputedStyle(document.documentElement).backgroundColor) : [255, 255, 255, 1]; const c = rgba(getComputedStyle(e).backgroundColor); return c[3] === 1 ? c : over(c, behind(e.parentElement)); };
	const opacity = (e) => e ? getComputedStyle(e).opacity * opacity(e.parentElement) : 1;
	const seen = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !e.checkVisibility({ visibilityProperty: true }) || e.closest("script, .hidden, [disabled], noscript")) continue;
		const s = getComputedStyle(e), back = behind(e);
		let ink = rgba(e.closest("svg text") ? s.fill : s.color);
		ink = over([...ink.slice(0, 3), ink[3] * opacity(e)], back);
		const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05), px = parseFloat(s.fontSize);
		if (ratio < (px >= 24 || px >= 18.66 && s.fontWeight >= 700 ? 3 : 4.5)) seen.add(ratio.toFixed(2) + " to 1: " + e.tagName + "." + e.className + " in " + e.parentElement.className + ": " + walker.currentNode.data.trim().slice(0, 40));
	}
	return [...seen];
})()`

// unfocused lists elements that do not show that they have the focus.
const unfocused = `(() => {
	const wrong = new Set();
	for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")) {
		if (!e.checkVisibility({ visibilityProperty: true }) || e.id === "main" || e.disabled || e.tabIndex < 0 && !e.hasAttribute("data-item")) continue;
		e.focus({ preventScroll: true });
		if (document.activeElement !== e) continue;
		const s = getComputedStyle(e);
		if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1) wrong.add("no sign of the focus: " + e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30));
	}
	document.activeElement.blur();
	return [...wrong];
})()`

// twice lists IDs that several elements have.
const twice = `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i).map((id) => "two elements are called " + id)`

// New messages are announced to screen readers.
func TestNewMessagesAreTold(t *testing.T) {
	store := composed(t)
	b := visiting(t, store, nil).browse()
	b.open("/sessions/s-retry?before=0#end")
	b.until(`document.documentElement.classList.contains("live")`)
	c := &composer{t: t, store: store, id: "s-retry", at: skein.At(composedNow), calls: 9000}
	c.asks("And what about downloads?")
	told := `[...document.querySelectorAll("[role=status]")].map((e) => e.textContent)`
	b.until(told + `.includes("1 new message: User. And what about downloads?")`)
	c.answers(sonnet, "They are retried too.", used(1, 1, 0, 0))
	b.until(told + `.includes("1 new message: Assistant. They are retried too.")`)
	b.open("/")
	b.press(kb.Tab)
	if at := b.eval(`document.activeElement.className`); at != "skip" {
		t.Errorf("the first Tab leads to %v, want the way past the bar", at)
	}
}
