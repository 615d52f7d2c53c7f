package door

import "testing"

func TestNextLeadsToAPageOfThisSiteOnly(t *testing.T) {
	for given, want := range map[string]string{
		"":                       "/",
		"/sessions/a%2Fb?at=1":   "/sessions/a%2Fb?at=1",
		"//evil.example/":        "/",
		"/\\evil.example/":       "/",
		"https://evil.example/":  "/",
		"javascript:alert(1)":    "/",
		"/%2F%2Fevil.example/":   "/",
		"sessions":               "/",
		"/x; url=https://e.test": "/x;%20url=https://e.test",
	} {
		if got := local(given); got != want {
			t.Errorf("local(%q) = %q, want %q", given, got, want)
		}
	}
}
