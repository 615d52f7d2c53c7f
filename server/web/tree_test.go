package web_test

import (
	"regexp"
	"strings"
	"testing"
)

func TestTreeShowsTheWholeFamilyAsListAndPicture(t *testing.T) {
	v := visiting(t, composed(t), nil)
	for _, id := range []string{"s-retry", "s-fork2", "s-child"} {
		page := v.get("/sessions/" + id + "/tree")
		list, picture, ok := strings.Cut(page, "<svg class=\"family\" width")
		if !ok {
			t.Fatalf("the tree of %s has no picture:\n%s", id, page)
		}
		_, list, _ = strings.Cut(list, `<ul class="kin">`)
		for _, one := range []string{"s-retry", "s-fork", "s-fork2", "s-child"} {
			link := `href="/sessions/` + one + `"`
			if strings.Count(list, link) != 1 || strings.Count(picture, link) != 1 {
				t.Errorf("the tree of %s shows %s %d times in the list and %d in the picture, want once each", id, one, strings.Count(list, link), strings.Count(picture, link))
			}
		}
		wants(t, "the tree of "+id, page, "sub-agent · 1 turn", "fork at ")
		if n := strings.Count(list, "aria-current"); n != 1 {
			t.Errorf("the tree of %s marks %d sessions, want 1", id, n)
		}
	}
}

func TestTreeDrawsNoBoxOverAnother(t *testing.T) {
	page := visiting(t, composed(t), nil).get("/sessions/s-retry/tree")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`<rect class="box[^>]* x="(\d+)" y="(\d+)"`).FindAllStringSubmatch(page, -1) {
		if at := m[1] + " " + m[2]; seen[at] {
			t.Errorf("two boxes stand at %s", at)
		} else {
			seen[at] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("the picture has %d boxes, want 4", len(seen))
	}
}

func TestTreeOfAnotherUserIsNotThere(t *testing.T) {
	v := visiting(t, composed(t), nil)
	token, err := v.tokens.Add(tokenOf("eve", "write"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	for _, path := range []string{"/sessions/s-retry/tree", "/bin?after=s-other-38"} {
		if status, body := v.ask("GET", path, nil); status != 404 {
			t.Errorf("GET %s as eve: %d %s, want 404", path, status, body)
		}
	}
}
