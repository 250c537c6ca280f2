//go:build !linux

package session

import "errors"

// exchange cannot be done here in one step.
func exchange(string, string) error { return errors.ErrUnsupported }
