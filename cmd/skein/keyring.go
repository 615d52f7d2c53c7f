package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/zalando/go-keyring"

	"github.com/skein-dev/skein/cli/config"
)

// keyRing is the system's key ring. Keys are stored under the service skein and the
// provider's name as the account.
type keyRing struct{}

const service = "skein"

// Key implements [cli.KeyRing].
func (keyRing) Key(provider string) (string, error) {
	if !hasBus() {
		return "", nil
	}
	key, err := keyring.Get(service, provider)
	switch {
	case errors.Is(err, keyring.ErrNotFound), errors.Is(err, keyring.ErrUnsupportedPlatform):
		return "", nil
	case err != nil && runtime.GOOS == "linux": // there is a bus, but no secret service on it
		return "", nil
	}
	return key, err
}

// SetKey implements [cli.KeyRing].
func (keyRing) SetKey(provider, key string) error {
	if !hasBus() {
		return config.ErrNoKeyRing
	}
	return keyRingError(keyring.Set(service, provider, key))
}

// DropKey implements [cli.KeyRing].
func (keyRing) DropKey(provider string) error {
	if !hasBus() {
		return nil
	}
	err := keyring.Delete(service, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return keyRingError(err)
}

func keyRingError(err error) error {
	if errors.Is(err, keyring.ErrUnsupportedPlatform) {
		return config.ErrNoKeyRing
	}
	return err
}

// hasBus reports whether a key ring can be reached. On Linux that needs a session
// bus; if none is running, the client library would start one.
func hasBus() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid()))
	return err == nil
}
