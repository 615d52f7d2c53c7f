package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// Headers of a signed request.
const (
	SourceHeader    = "Skein-Source"
	TimeHeader      = "Skein-Timestamp"
	SignatureHeader = "Skein-Signature"
)

// window is how far off the time of a request may be.
const window = 5 * time.Minute

// MinSecret is the shortest secret that a source may have, in bytes.
const MinSecret = 16

// Sign signs a request with this body for the source, at the time now.
func Sign(h http.Header, source string, secret, body []byte, now time.Time) {
	at := strconv.FormatInt(now.Unix(), 10)
	h.Set(SourceHeader, source)
	h.Set(TimeHeader, at)
	h.Set(SignatureHeader, signature(secret, at, body))
}

func signature(secret []byte, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// signed reports whether a request with this body was signed with the secret,
// recently.
func signed(h http.Header, secret, body []byte, now time.Time) bool {
	at := h.Get(TimeHeader)
	seconds, err := strconv.ParseInt(at, 10, 64)
	right := hmac.Equal([]byte(h.Get(SignatureHeader)), []byte(signature(secret, at, body)))
	return err == nil && right && now.Sub(time.Unix(seconds, 0)).Abs() <= window
}
