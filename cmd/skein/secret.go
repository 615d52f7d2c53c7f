package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/zalando/go-keyring"
)

// secret returns the key of a provider from the system's key ring: service
// skein, account the provider's name. It returns "" if there is none, or no
// key ring.
func secret(provider string) (string, error) {
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" && !hasBus() {
		return "", nil
	}
	key, err := keyring.Get("skein", provider)
	switch {
	case errors.Is(err, keyring.ErrNotFound), errors.Is(err, keyring.ErrUnsupportedPlatform):
		return "", nil
	case err != nil && runtime.GOOS == "linux": // a bus, and no secret service on it
		return "", nil
	}
	return key, err
}

// hasBus reports whether a session bus runs, over which a key ring can be
// asked: without one the client library would start one.
func hasBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid()))
	return err == nil
}
