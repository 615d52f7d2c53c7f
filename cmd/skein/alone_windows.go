package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// alone shields a process from the console's signals.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
